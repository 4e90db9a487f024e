// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
/*
 * irq - hard and soft interrupts: how many, how long
 *
 * Handlers of devices (irq_handler_entry and _exit) and the kernel's soft interrupts.  Neither kind
 * interrupts itself on a CPU, and entries are a CPU's own, so nothing needs to be atomic.  A hard
 * interrupt that comes during a soft one counts in both.
 */
#include "bpf/lib/table.bpf.h"

enum irq_kind { IRQ_HARD, IRQ_SOFT };

struct irq_key {
	__u32 interval, cpu;
	__u32 irq_kind, irq; /* the number; of soft ones the vector */
	char name[16];
};

struct irq_value {
	__u64 count, total_ns, max_ns;
	__u32 hist_ns[METRIC_SLOTS];
};

METRIC_TABLE_FIXED(irq, struct irq_key, struct irq_value, 4096);

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, __u64);
} irq_since SEC(".maps"); /* by enum irq_kind: when the one under way began; 0: none */

static __always_inline void begin(__u32 kind)
{
	__u64 *since_ns = bpf_map_lookup_elem(&irq_since, &kind);

	if (since_ns)
		*since_ns = bpf_ktime_get_ns();
}

static __always_inline void end(__u32 kind, __u32 number, const char *name)
{
	struct irq_key key = { .interval = metric_interval,
			       .cpu = bpf_get_smp_processor_id(),
			       .irq_kind = kind,
			       .irq = number };
	__u64 *since_ns = bpf_map_lookup_elem(&irq_since, &kind), took_ns;
	struct irq_value *v;
	__u32 slot;

	if (!since_ns || !*since_ns)
		return;
	took_ns = bpf_ktime_get_ns() - *since_ns;
	*since_ns = 0;
	if (name)
		bpf_probe_read_kernel_str(key.name, sizeof(key.name), name);
	v = METRIC_ENTRY(&table_irq, &key, struct irq_value);
	if (!v)
		return;
	v->count++;
	v->total_ns += took_ns;
	if (took_ns > v->max_ns)
		v->max_ns = took_ns;
	slot = log2_slot(took_ns);
	if (slot < METRIC_SLOTS)
		v->hist_ns[slot]++;
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(irq_enter, int irq, struct irqaction *action)
{
	begin(IRQ_HARD);
	return 0;
}

SEC("tp_btf/irq_handler_exit")
int BPF_PROG(irq_leave, int irq, struct irqaction *action)
{
	end(IRQ_HARD, irq, action->name);
	return 0;
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(softirq_enter, unsigned int vector)
{
	begin(IRQ_SOFT);
	return 0;
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(softirq_leave, unsigned int vector)
{
	end(IRQ_SOFT, vector, 0);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
