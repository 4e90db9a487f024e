/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * metric - what instruments with tables share
 *
 * A table is a hash map whose name begins with table_.  Its BTF is the contract: the key's first
 * member is __u32 interval, the members of key and value become the columns of the capture, and
 * their names say how they add up (format/metricfmt.h).  Key and value are multiples of 8 bytes.
 *
 * Every interval the recorder counts metric_interval up, waits until no program runs that read the
 * old number, then takes the entries of the old interval out of the map: nobody writes to them any
 * more, so nothing is lost or counted twice.
 *
 * A single event is a struct of the instrument's own, in the ring, with stacks if it likes.
 */
#ifndef EBPREC_BPF_METRIC_H
#define EBPREC_BPF_METRIC_H

#include "bpf/common.bpf.h" /* first: <linux/bpf.h> and the helpers */
#include "bpf/walkself.bpf.h"

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

/* Says that struct `type` is the row of the n-th kind of event. */
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

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct metric_event);
} metric_scratch SEC(".maps");

/*
 * An event to be filled in, of the current thread; the row is zero.  NULL is counted as lost.
 * n: as in METRIC_EVENT.
 */
static __always_inline struct metric_event *event_begin(__u32 n, __u32 row_bytes)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	struct metric_event *ev;
	__u32 zero = 0;

	ev = bpf_map_lookup_elem(&metric_scratch, &zero);
	if (!ev) {
		count_lost(EBPREC_EV_METRIC);
		return 0;
	}
	__builtin_memset(ev->row, 0, sizeof(ev->row));
	ev->pid = pid_tgid >> 32;
	ev->tid = pid_tgid;
	ev->table = metric_first_event + n;
	ev->row_bytes = row_bytes;
	ev->kernel_count = ev->user_count = 0;
	ev->how = STACKINFO_NONE;
	ev->why = 0;
	ev->flags = 0;
	ev->pad = 0;
	ev->weight = 1;
	return ev;
}

#define OWN_FRAMES 3 /* of the tracepoint and the program */

/* Stacks of the current thread: kernel frames from where the program is, and user frames. */
static __always_inline __u64 event_stacks(void *ctx, struct metric_event *ev)
{
	__u64 kernel_count = 0, user_count = 0;
	struct walk_state *w;
	long bytes;

	bytes = bpf_get_stack(ctx, ev->frames, CPU_KERNEL_MAX * sizeof(__u64), OWN_FRAMES);
	if (bytes > 0)
		kernel_count = bytes / sizeof(__u64);
	if (kernel_count > CPU_KERNEL_MAX)
		kernel_count = CPU_KERNEL_MAX;
	w = walk_current();
	if (w)
		user_count = PUT_USER(ev, kernel_count, w);
	if (user_count > CPU_USER_MAX)
		user_count = CPU_USER_MAX;
	ev->kernel_count = kernel_count;
	ev->user_count = user_count;
	return kernel_count + user_count;
}

static __always_inline void event_send(struct metric_event *ev, __u64 frames)
{
	__u64 size_bytes = METRIC_EVENT_HEAD_BYTES + frames * sizeof(__u64);
	void *ring = ring_here();

	fill_header(&ev->h, EBPREC_EV_METRIC, size_bytes);
	barrier_var(size_bytes);
	if (size_bytes > sizeof(*ev) || !ring ||
	    bpf_ringbuf_output(ring, ev, size_bytes, wake_flags(ring)))
		count_lost(EBPREC_EV_METRIC);
}

#endif
