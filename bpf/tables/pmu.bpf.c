// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
/*
 * pmu - what the processor counts: cycles, instructions, cache misses, by process and by function
 *
 * record/pmuevents opens each event twice on each CPU.  One counts: it is read when a thread leaves the
 * CPU, and at the end of an interval, and what was added belongs to the thread that was there.  The
 * other overflows some times a second: each time the stack is an event that stands for as many.
 *
 * Costs 0.6 us an event and switch, and 16 us a stack (two software events, on a busy machine).
 */
#include "bpf/lib/table.bpf.h"
#include <linux/bpf_perf_event.h>

enum { PMU_EVENTS = 5 };

/* How many of them are counted. */
const volatile __u32 pmu_count = 0;

struct pmu_key {
	__u32 interval, pid;
};

/* The recorder gives the columns, and the kinds of events, the names of what is counted. */
struct pmu_value {
	char comm[16];
	__u64 cgroup;
	__u64 event0, event1, event2, event3, event4;
};

METRIC_TABLE_FIXED(pmu, struct pmu_key, struct pmu_value, 16384);

#define STACK_ROW       \
	char comm[16];  \
	__u32 pid, tid; \
	__u64 count

struct pmu_event0 {
	STACK_ROW;
};
struct pmu_event1 {
	STACK_ROW;
};
struct pmu_event2 {
	STACK_ROW;
};
struct pmu_event3 {
	STACK_ROW;
};
struct pmu_event4 {
	STACK_ROW;
};

METRIC_EVENT(0, pmu_event0);
METRIC_EVENT(1, pmu_event1);
METRIC_EVENT(2, pmu_event2);
METRIC_EVENT(3, pmu_event3);
METRIC_EVENT(4, pmu_event4);

#define COUNTERS(n)                                          \
	struct {                                             \
		__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY); \
		__uint(max_entries, 1);                      \
		__type(key, __u32);                          \
		__type(value, __u32);                        \
	} pmu_counters##n SEC(".maps")

COUNTERS(0); /* by CPU; the recorder sets the size */
COUNTERS(1);
COUNTERS(2);
COUNTERS(3);
COUNTERS(4);

struct pmu_seen {
	struct bpf_perf_event_value at[PMU_EVENTS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct pmu_seen);
} pmu_seen SEC(".maps");

/* The increase since then, scaled as if the event had had a counter all the time. */
static __always_inline __u64 added(void *map, struct bpf_perf_event_value *seen)
{
	struct bpf_perf_event_value now = {};
	__u64 count, enabled, running;
	bool fresh = false;

	if (bpf_perf_event_read_value(map, BPF_F_CURRENT_CPU, &now, sizeof(now)))
		return 0;
	/* Another event than before: the CPU was offline meanwhile, and this one began with its return. */
	if (now.enabled < seen->enabled || now.counter < seen->counter)
		seen->counter = seen->enabled = seen->running = 0, fresh = true;
	count = now.counter - seen->counter;
	enabled = now.enabled - seen->enabled;
	running = now.running - seen->running;
	if (!seen->enabled && !fresh)
		count = 0; /* of before the recording */
	*seen = now;
	if (running && running < enabled)
		count = count / running * enabled + count % running * enabled / running;
	return count;
}

static __always_inline void count_thread(struct task_struct *t)
{
	struct pmu_key key = { .interval = metric_interval, .pid = task_ids(t) >> 32 };
	__u64 events[PMU_EVENTS] = {};
	struct pmu_value *v;
	struct pmu_seen *seen;
	__u32 zero = 0;

	seen = bpf_map_lookup_elem(&pmu_seen, &zero);
	if (!seen)
		return;
	events[0] = added(&pmu_counters0, &seen->at[0]);
	if (pmu_count > 1)
		events[1] = added(&pmu_counters1, &seen->at[1]);
	if (pmu_count > 2)
		events[2] = added(&pmu_counters2, &seen->at[2]);
	if (pmu_count > 3)
		events[3] = added(&pmu_counters3, &seen->at[3]);
	if (pmu_count > 4)
		events[4] = added(&pmu_counters4, &seen->at[4]);
	if (!is_target(key.pid) || !(events[0] | events[1] | events[2] | events[3] | events[4]))
		return;
	v = METRIC_ENTRY(&table_pmu, &key, struct pmu_value);
	if (!v)
		return;
	bpf_probe_read_kernel(v->comm, sizeof(v->comm), t->comm);
	v->cgroup = cgroup_of(t);
	ADD(v->event0, events[0]);
	ADD(v->event1, events[1]);
	ADD(v->event2, events[2]);
	ADD(v->event3, events[3]);
	ADD(v->event4, events[4]);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(pmu_switch, bool preempt, struct task_struct *prev)
{
	count_thread(prev);
	return 0;
}

/* Runs on each CPU at the end of an interval: counts for the thread that it interrupts. */
SEC("raw_tp")
int pmu_flush(void *ctx)
{
	count_thread((void *)bpf_get_current_task_btf());
	return 0;
}

SEC("perf_event")
int pmu_stack(struct bpf_perf_event_data *ctx)
{
	struct pmu_event0 *row;
	struct metric_event *ev;

	if (!is_target_current())
		return 0;
	ev = event_begin(bpf_get_attach_cookie(ctx), sizeof(*row));
	if (!ev)
		return 0;
	row = (void *)ev->row;
	bpf_get_current_comm(row->comm, sizeof(row->comm));
	row->pid = ev->pid;
	row->tid = ev->tid;
	row->count = ev->weight = ctx->sample_period;
	event_send(ev, event_stacks(ctx, ev));
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
