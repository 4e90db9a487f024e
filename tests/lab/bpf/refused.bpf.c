// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
/*
 * refused - objects that break the contract of docs/instruments/custom.md, one by one: -DCASE_...
 *
 * A good one, but for what the case changes.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#ifndef CASE_nointerval
__u32 metric_interval = 0;
#endif

struct refused_key {
#ifdef CASE_first
	__u32 pid, interval; /* not the first */
#else
	__u32 interval, pid;
#endif
};

struct refused_value {
#ifdef CASE_pointer
	void *p;
#elif defined(CASE_unaligned)
	__u32 count; /* not a multiple of 8 bytes */
#elif defined(CASE_field)
	__u64 Count; /* no name */
#elif defined(CASE_long)
	__u64 count[200]; /* a row of 1600 bytes */
#else
	__u64 count;
#endif
};

#ifdef CASE_name
#define TABLE table_a_name_that_is_longer_than_23
#elif defined(CASE_taken)
#define TABLE table_syscalls
#elif defined(CASE_none)
#define TABLE other
#else
#define TABLE table_refused
#endif

struct {
#ifdef CASE_array
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 8);
	__type(key, __u32);
#else
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8);
	__type(key, struct refused_key);
#endif
	__type(value, struct refused_value);
} TABLE SEC(".maps");

#ifdef CASE_tracepoint
SEC("tp_btf/no_such_tracepoint")
#else
SEC("raw_tp/sched_process_fork")
#endif
int count_fork(void *ctx)
{
#ifdef CASE_verifier
	return *(volatile int *)0;
#else
	struct refused_key key = {};

	return bpf_map_lookup_elem(&TABLE, &key) != 0;
#endif
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
