// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
/*
 * pidns - the recorder's pid namespace, and the host's id of each thread in it
 *
 * Loaded only inside a namespace, before all others: pidns_find, run by the recorder, finds the
 * namespace.  Cost: two map updates a thread.
 */
#include "bpf/lib/common.bpf.h" /* first: <linux/bpf.h> and the helpers */
#include "bpf/lib/ids.bpf.h"

#include <bpf/bpf_tracing.h>

/* Stores the namespace of the thread that runs pidns_find. */
__u32 found_level = 0;
__u64 found_namespace = 0;

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, __u32);
} pidns_hosts SEC(".maps"); /* thread -> the same as the initial namespace has it */

SEC("raw_tp")
int pidns_find(void *ctx)
{
	struct task_struct *t = (void *)bpf_get_current_task_btf();
	struct pid *pid = BPF_CORE_READ(t, thread_pid);
	struct pidns_number n = {};

	found_level = BPF_CORE_READ(pid, level);
	bpf_probe_read_kernel(&n, sizeof(n),
			      (void *)pid + bpf_core_field_offset(struct pid, numbers) +
				      found_level * sizeof(n));
	found_namespace = n.namespace;
	return 0;
}

static __always_inline void keep_host(struct task_struct *t)
{
	__u64 ids = pidns_ids(t);
	__u32 host = BPF_CORE_READ(t, pid), tid = ids;

	if (ids && !is_foreign(ids))
		bpf_map_update_elem(&pidns_hosts, &tid, &host, BPF_ANY);
}

SEC("iter/task")
int pidns_walk(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;

	if (t)
		keep_host(t);
	return 0;
}

SEC("raw_tp/sched_process_fork")
int BPF_PROG(pidns_fork, struct task_struct *parent, struct task_struct *child)
{
	keep_host(child);
	return 0;
}

SEC("raw_tp/sched_process_exit")
int BPF_PROG(pidns_exit, struct task_struct *t)
{
	__u64 key = (__u64)t, ids = pidns_ids(t);

	/* Where a foreign task is now there may have been one of ours. */
	if (is_foreign(ids))
		bpf_map_delete_elem(&pidns_ending, &key);
	else
		bpf_map_update_elem(&pidns_ending, &key, &ids, BPF_ANY);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
