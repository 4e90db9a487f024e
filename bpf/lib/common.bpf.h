/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * common - the maps that all instruments share, and how an event leaves the kernel
 *
 * User space makes the maps once and gives them to every skeleton.  One ring a CPU: the programs
 * of different CPUs never wait for each other's lock.
 */
#ifndef EBPREC_BPF_COMMON_H
#define EBPREC_BPF_COMMON_H

#include <stdbool.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "bpf/events.h"

/* Fill at which the reader is woken; below, it comes by itself every 100 ms. */
const volatile __u64 wake_bytes = 64 << 10;
/* A page of the kernel has 1 << page_bits bytes. */
const volatile __u32 page_bits = 12;
/* Only threads of processes in `targets`. */
const volatile bool filter = 0;

struct ring_prototype {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 64 << 10);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct ring_prototype);
} rings SEC(".maps"); /* CPU id -> its ring */

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, EBPREC_EV_COUNTS);
	__type(key, __u32);
	__type(value, __u64);
} lost SEC(".maps"); /* EBPREC_EV_COUNTS has the keys */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} targets SEC(".maps"); /* process id -> enum target_state */

enum target_state {
	TARGET_ALIVE = 1,
	TARGET_DYING = 2, /* its last thread is in exit: gone when the kernel frees the task */
};

static __always_inline void count_lost(__u32 type)
{
	__u64 *n = bpf_map_lookup_elem(&lost, &type);

	if (n)
		__sync_fetch_and_add(n, 1); /* a program may be preempted by another thread's */
}

/* An event of a process that is not recorded. */
static __always_inline void count_left_out(__u32 type)
{
	count_lost(EBPREC_EV_END + type);
}

/* The type under which a program counts events of other processes. */
#ifndef LEFT_OUT_EVENT
#define LEFT_OUT_EVENT EBPREC_EV_METRIC
#endif

static __always_inline bool is_in_targets(__u32 pid)
{
	return !filter || bpf_map_lookup_elem(&targets, &pid);
}

/* The same of an event: it is counted when it is left out. */
static __always_inline bool is_target(__u32 pid)
{
	if (is_in_targets(pid))
		return true;
	count_left_out(LEFT_OUT_EVENT);
	return false;
}

/* The ring of this CPU; NULL (never for a CPU that is online) counts as lost at the caller's. */
static __always_inline void *ring_here(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&rings, &cpu);
}

static __always_inline __u64 wake_flags(void *ring)
{
	return bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) >= wake_bytes ? BPF_RB_FORCE_WAKEUP
									: BPF_RB_NO_WAKEUP;
}

/* The same at the cost of a look at every 16th event or so, for events that come often and are small. */
static __always_inline __u64 wake_flags_sometimes(void *ring, __u64 time_ns)
{
	return (time_ns >> 2 & 15) ? BPF_RB_NO_WAKEUP : wake_flags(ring);
}

static __always_inline void fill_header_at(struct event_header *h, __u16 type, __u16 size_bytes,
					   __u64 time_ns)
{
	h->type = type;
	h->size_bytes = size_bytes;
	h->cpu = bpf_get_smp_processor_id();
	h->time_ns = time_ns;
}

static __always_inline void fill_header(struct event_header *h, __u16 type, __u16 size_bytes)
{
	fill_header_at(h, type, size_bytes, bpf_ktime_get_ns());
}

#endif
