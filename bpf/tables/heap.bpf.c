// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
/*
 * heap - memory that programs get from malloc() and similar functions, and the part that is still
 * held
 *
 * Probes at the entry of each function and at its return, put there by record/heapprobes into the
 * chosen programs; sampled by bytes (bpf/lib/alloc_sampling.bpf.h).  An allocation that a function
 * of the allocator makes itself is below it on the stack and is not counted twice.  Memory counts
 * as freed at the entry of free() and realloc(): afterwards another thread may have got the same
 * address.
 *
 * Costs 2 us an allocation and 1 us a free, most of which are the probes themselves.
 */
#define HELD_SAMPLE_BYTES (64 << 10)

#include "bpf/lib/alloc_sampling.bpf.h"

struct heap_key {
	__u32 interval, pid;
};

struct heap_value {
	char comm[16];
	__u64 cgroup;
	__u64 allocs, alloc_bytes, frees, freed_bytes;
};

METRIC_TABLE_FIXED(heap, struct heap_key, struct heap_value, 4096);

struct heap_held {
	HELD_ROW;
};
struct heap_allocs {
	ALLOC_ROW;
};

METRIC_EVENT(0, heap_held);
METRIC_EVENT(1, heap_allocs);

struct heap_call {
	__u64 sp, bytes;
	__u64 to;   /* where the address is put; 0: it is returned */
	__u32 kind; /* enum heap_entry */
	__u32 pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, struct heap_call);
} heap_calls SEC(".maps"); /* under way, by thread */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, __u32);
} heap_processes SEC(".maps"); /* that have something here, by pid */

#define NEAR_BYTES (1 << 20) /* between an allocator's functions on one stack */

static __always_inline struct heap_value *process_of(__u32 pid)
{
	struct heap_key key = { .interval = metric_interval, .pid = pid };
	struct heap_value *v = METRIC_ENTRY(&table_heap, &key, struct heap_value);

	if (v && !v->comm[0]) {
		bpf_get_current_comm(v->comm, sizeof(v->comm));
		v->cgroup = bpf_get_current_cgroup_id();
	}
	return v;
}

/* The process may be another thread's: the row belongs to the owner of the memory. */
static __always_inline void gone(__u64 address, __u32 pid)
{
	struct held_live was;
	struct heap_value *v;

	if (!address || !held_free(address, pid, &was))
		return;
	v = process_of(pid);
	if (v) {
		ADD(v->frees, was.count);
		ADD(v->freed_bytes, was.bytes);
	}
}

static __always_inline void begin(struct pt_regs *ctx, enum heap_entry kind, __u64 bytes, __u64 to)
{
	__u64 ids = current_ids(), sp = PT_REGS_SP(ctx);
	struct heap_call call = { .sp = sp, .bytes = bytes, .to = to, .kind = kind }, *now;
	__u32 tid = bpf_get_current_pid_tgid();

	if (!is_target(ids >> 32) || is_foreign(ids)) /* addresses are of a process */
		return;
	now = bpf_map_lookup_elem(&heap_calls, &tid);
	if (now && now->sp > sp && now->sp - sp < NEAR_BYTES)
		return; /* called by the one that is under way */
	if (bpf_map_update_elem(&heap_calls, &tid, &call, BPF_ANY))
		count_lost(EBPREC_EV_METRIC);
}

static const char kinds[4][HELD_KIND] = { "malloc", "calloc", "realloc", "aligned" };

static __always_inline void end(struct pt_regs *ctx)
{
	__u64 address = PT_REGS_RC(ctx);
	__u32 pid, tid = bpf_get_current_pid_tgid();
	struct heap_call *now = bpf_map_lookup_elem(&heap_calls, &tid), call;
	struct held_live live = {};
	struct heap_value *v;

	/* On x86 the return address is gone from the stack. */
	if (!now || now->sp + RETURN_BYTES != PT_REGS_SP(ctx))
		return;
	call = *now;
	bpf_map_delete_elem(&heap_calls, &tid);
	if (call.to && (address || bpf_probe_read_user(&address, sizeof(address), (void *)call.to)))
		return; /* an error number */
	if (!address)
		return;
	live.pid = pid = current_ids() >> 32;
	gone(address, pid); /* by a function that has no probe */
	live.bytes = held_draw(call.bytes, &live.count);
	if (!live.bytes || !held_add(ctx, address, pid, kinds[call.kind & 3], &live))
		return;
	bpf_map_update_elem(&heap_processes, &pid, &pid, BPF_ANY);
	v = process_of(pid);
	if (v) {
		ADD(v->allocs, live.count);
		ADD(v->alloc_bytes, live.bytes);
	}
}

/* One program for all functions, so that one link has them all; the cookie identifies the function. */
SEC("uprobe")
int heap_enter(struct pt_regs *ctx)
{
	__u64 first = PT_REGS_PARM1(ctx), second = PT_REGS_PARM2(ctx);
	enum heap_entry entry = bpf_get_attach_cookie(ctx);
	__u64 bytes = first, to = 0;

	switch (entry) {
	case HEAP_FREE:
		gone(first, current_ids() >> 32);
		return 0;
	case HEAP_REALLOC:
		gone(first, current_ids() >> 32);
		bytes = second;
		break;
	case HEAP_CALLOC:
		bytes = first * second;
		break;
	case HEAP_ALIGNED:
		bytes = second;
		break;
	case HEAP_POSIX:
		to = first;
		bytes = PT_REGS_PARM3(ctx);
		entry = HEAP_ALIGNED;
		break;
	default:
		break;
	}
	begin(ctx, entry, bytes, to);
	return 0;
}

SEC("uretprobe")
int heap_return(struct pt_regs *ctx)
{
	end(ctx);
	return 0;
}

static long forget(struct bpf_map *map, const struct held_at *at, struct held_live *live,
		   __u32 *pid)
{
	if (at->space == *pid)
		gone(at->address, *pid);
	return 0;
}

/* The old program's memory is gone. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(heap_exec, struct task_struct *t)
{
	__u32 pid = task_ids(t) >> 32;

	if (bpf_map_lookup_elem(&heap_processes, &pid)) {
		bpf_map_delete_elem(&heap_processes, &pid);
		bpf_for_each_map_elem(&held_live, forget, &pid, 0);
	}
	return 0;
}

SEC("iter/task")
int heap_walk(struct bpf_iter__task *ctx)
{
	if (!ctx->task)
		held_walked();
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
