/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * table - shared by instruments with tables
 *
 * A table is a hash map whose name begins with table_.  Its BTF is the contract: the key's first
 * member is __u32 interval, the members of key and value become the columns of the capture, and
 * their names determine how they add up (format/payload/metric_format.h).  Key and value are
 * multiples of 8 bytes.
 *
 * Every interval the recorder counts metric_interval up, waits until no program runs that read the
 * old number, then takes the entries of the old interval out of the map: no program writes to them
 * any more, so no event is lost or counted twice.
 *
 * A single event is a struct of the instrument's own, in the ring, optionally with stacks.
 */
#ifndef EBPREC_BPF_METRIC_H
#define EBPREC_BPF_METRIC_H

#include "bpf/lib/common.bpf.h" /* first: <linux/bpf.h> and the helpers */
#include "bpf/lib/stacks.bpf.h"

__u32 metric_interval = 0;
/* Events that take as long get a row of their own; 0: none does. */
const volatile __u64 slower_ns = 0;
/* When recording began. */
__u64 metric_start_ns = 0;
/* The number of the instrument's first table of events. */
const volatile __u32 metric_first_event = 0;

#define METRIC_ENTRIES 65536 /* of a table, in two intervals */
#define METRIC_SLOTS   40    /* of a histogram: slot n counts [2^n, 2^(n+1)), slot 0 also 0 */

/* Declares the table `table_name`. */
#define METRIC_TABLE(name, key_type, value_type)      \
	struct {                                      \
		__uint(type, BPF_MAP_TYPE_HASH);      \
		__uint(max_entries, METRIC_ENTRIES);  \
		__uint(map_flags, BPF_F_NO_PREALLOC); \
		__type(key, key_type);                \
		__type(value, value_type);            \
	} table_##name SEC(".maps")

/*
 * The same for programs that run with interrupts off, where memory for many new entries at once is
 * not to be had: all of it is taken at the beginning.
 */
#define METRIC_TABLE_FIXED(name, key_type, value_type, entries) \
	struct {                                                \
		__uint(type, BPF_MAP_TYPE_HASH);                \
		__uint(max_entries, entries);                   \
		__type(key, key_type);                          \
		__type(value, value_type);                      \
	} table_##name SEC(".maps")

/* The entry of that key, made of zeroes if there was none; NULL: no room, which is counted. */
#define METRIC_ENTRY(map, key, value_type)                                       \
	({                                                                       \
		static const value_type zero__;                                  \
		value_type *v__ = bpf_map_lookup_elem((map), (key));             \
		if (!v__) {                                                      \
			bpf_map_update_elem((map), (key), &zero__, BPF_NOEXIST); \
			v__ = bpf_map_lookup_elem((map), (key));                 \
			if (!v__)                                                \
				count_lost(EBPREC_EV_METRIC);                    \
		}                                                                \
		v__;                                                             \
	})

/* In a struct of a table: the member is a column where the kernel has that tracepoint, and else not. */
#define NEEDS(tracepoint) __attribute__((btf_decl_tag("needs:" #tracepoint)))

/* The condition under which a program that may be left out is loaded. */
#define INSTEAD(text) __attribute__((btf_decl_tag("instead:" text)))

/* Declares struct `type` as the row of the n-th kind of event. */
#define METRIC_EVENT(n, type) struct type *metric_event_##n = 0

#define ADD(to, number) __sync_fetch_and_add(&(to), (number))

/* A function of its own: the verifier follows its branches once, not once for each use. */
__attribute__((noinline)) __u32 log2_slot(__u64 v)
{
	__u32 slot = 0, step;

	step = (v > 0xffffffff) << 5;
	v >>= step;
	slot |= step;
	step = (v > 0xffff) << 4;
	v >>= step;
	slot |= step;
	step = (v > 0xff) << 3;
	v >>= step;
	slot |= step;
	step = (v > 0xf) << 2;
	v >>= step;
	slot |= step;
	step = (v > 0x3) << 1;
	v >>= step;
	slot |= step;
	slot |= v >> 1;
	return slot < METRIC_SLOTS ? slot : METRIC_SLOTS - 1;
}

/* The id of a thread's cgroup, as bpf_get_current_cgroup_id() has it of the current one. */
static __always_inline __u64 cgroup_of(struct task_struct *t)
{
	return BPF_CORE_READ(t, cgroups, dfl_cgrp, kn, id);
}

/* ---- single events ---- */

struct metric_scratch {
	__u64 busy; /* how many are in it, on this CPU */
	struct metric_event ev;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct metric_scratch);
} metric_scratch SEC(".maps");

/*
 * NULL: in use, which is counted as a loss.  scratch_give() has to follow.
 *
 * It may be in use when an interrupt comes, but also when its thread is preempted: programs of uprobes and of
 * functions do not keep others from the CPU, they only stay on it.  So a counter holds its users,
 * changed by an addition that is one instruction, and only a program that reads 1 goes on.  There
 * is at most one: it had added its own before, and a later one reads at least 2 until it subtracts
 * it.  Two that add before either reads may both leave; both are counted.
 */
static __always_inline struct metric_scratch *scratch_take(void)
{
	__u32 zero = 0;
	struct metric_scratch *s = bpf_map_lookup_elem(&metric_scratch, &zero);

	if (s) {
		ADD(s->busy, 1);
		if (*(volatile __u64 *)&s->busy == 1) {
			barrier();
			return s;
		}
		ADD(s->busy, -1);
	}
	count_lost(EBPREC_EV_METRIC);
	return 0;
}

static __always_inline void scratch_give(void)
{
	__u32 zero = 0;
	struct metric_scratch *s = bpf_map_lookup_elem(&metric_scratch, &zero);

	barrier();
	if (s)
		ADD(s->busy, -1);
}

static __always_inline void event_clear(struct metric_event *ev, __u32 n, __u32 row_bytes)
{
	__u64 pid_tgid = current_ids();

	__builtin_memset(ev->row, 0, sizeof(ev->row));
	ev->pid = pid_tgid >> 32;
	ev->tid = pid_tgid;
	ev->table = metric_first_event + n;
	ev->row_bytes = row_bytes;
	ev->stack.kernel_count = ev->stack.user_count = 0;
	ev->stack.how = STACK_RESULT_NONE;
	ev->stack.why = 0;
	ev->stack.flags = 0;
	ev->weight = 1;
}

/*
 * An event to be filled in, of the current thread, with its stacks; the row is zero.  NULL is counted
 * as lost.  n: as in METRIC_EVENT.  event_send() or scratch_give() has to follow.
 */
static __always_inline struct metric_event *event_begin(__u32 n, __u32 row_bytes)
{
	struct metric_scratch *s = scratch_take();

	if (!s)
		return 0;
	event_clear(&s->ev, n, row_bytes);
	return &s->ev;
}

/* Stacks of the current thread.  Returns how many frames. */
static __always_inline __u64 event_stacks(void *ctx, struct metric_event *ev)
{
	return stack_take(ctx, &ev->stack, walk_current());
}

static __always_inline void event_send(struct metric_event *ev, __u64 frames)
{
	void *ring = ring_here();

	fill_header(&ev->h, EBPREC_EV_METRIC, 0);
	if (!ring || !STACK_SEND(ring, ev, frames))
		count_lost(EBPREC_EV_METRIC);
	scratch_give();
}

/*
 * The same for any context, interrupts too, in space of the ring: without stacks, or with a saved
 * one.  event_submit() has to follow.
 */
static __always_inline struct metric_event *event_reserve(__u32 n, __u32 row_bytes, bool with_stack)
{
	void *ring = ring_here();
	struct metric_event *ev = 0;

	if (ring && with_stack)
		ev = bpf_ringbuf_reserve(ring, sizeof(*ev), 0);
	else if (ring)
		ev = bpf_ringbuf_reserve(ring, EVENT_HEAD_BYTES(metric_event), 0);
	if (!ev) {
		count_lost(EBPREC_EV_METRIC);
		return 0;
	}
	fill_header(&ev->h, EBPREC_EV_METRIC,
		    with_stack ? sizeof(*ev) : EVENT_HEAD_BYTES(metric_event));
	event_clear(ev, n, row_bytes);
	return ev;
}

#define event_submit(ev) bpf_ringbuf_submit(ev, BPF_RB_NO_WAKEUP)

/* ---- stacks that are saved until it is known whether they are wanted ---- */

/* Declares a map of them, by a number of the instrument's own. */
#define METRIC_SAVED_STACKS(name, entries)            \
	struct {                                      \
		__uint(type, BPF_MAP_TYPE_HASH);      \
		__uint(max_entries, entries);         \
		__uint(map_flags, BPF_F_NO_PREALLOC); \
		__type(key, __u64);                   \
		__type(value, struct event_stack);    \
	} name SEC(".maps")

/* Keeps the stacks of the current thread. */
static __always_inline void stack_keep(void *ctx, void *map, __u64 key)
{
	struct metric_scratch *s = scratch_take();

	if (!s)
		return;
	stack_take(ctx, &s->ev.stack, walk_current());
	if (bpf_map_update_elem(map, &key, &s->ev.stack, BPF_ANY))
		count_lost(EBPREC_EV_METRIC);
	scratch_give();
}

/* Copies a saved stack into a reserved event. */
static __always_inline void stack_put(struct metric_event *ev, void *map, __u64 key)
{
	struct event_stack *saved = bpf_map_lookup_elem(map, &key);

	if (saved)
		bpf_probe_read_kernel(&ev->stack, sizeof(ev->stack), saved);
}

#endif
