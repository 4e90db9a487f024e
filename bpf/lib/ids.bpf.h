/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * ids - process and thread ids as the recorder's own pid namespace has them
 *
 * The kernel's t->tgid and t->pid are those of the initial namespace.  A recorder in a container reads
 * /proc and perf's side-band by the ids of its own, so what programs look up or send has to be of that
 * namespace, too: a task has a number in its own namespace and in each above it.  Tasks without a number
 * in the recorder's are foreign: one process, with a thread for each CPU.  Programs index their own
 * state by the kernel's ids, which distinguish foreign threads.
 *
 * Cost: none in the initial namespace, where the verifier removes it (pidns_level is a constant); else
 * some five reads of kernel memory.
 */
#ifndef EBPREC_BPF_LIB_IDS_H
#define EBPREC_BPF_LIB_IDS_H

#include "bpf/lib/common.bpf.h"
#include "bpf/kernel.h"
#include "format/base/foreign.h"

#include <bpf/bpf_core_read.h>

/* How deep the recorder's namespace is; 0: it is the initial one. */
const volatile __u32 pidns_level = 0;
/* Its struct pid_namespace. */
const volatile __u64 pidns_here = 0;

/*
 * A thread has no number any more between the release of its task and its last switch: its ids are
 * stored when it begins to exit (pidns.bpf.c).
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, __u64);
} pidns_ending SEC(".maps"); /* its task_struct -> process << 32 | thread */

/* One of include/linux/pid.h: struct upid. */
struct pidns_number {
	int number;
	__u64 namespace;
};

static __always_inline __u32 pidns_number_of(struct pid *pid)
{
	struct pidns_number n = {};

	if (!pid || BPF_CORE_READ(pid, level) < pidns_level)
		return 0;
	bpf_probe_read_kernel(&n, sizeof(n),
			      (void *)pid + bpf_core_field_offset(struct pid, numbers) +
				      pidns_level * sizeof(n));
	return n.namespace == pidns_here ? n.number : 0;
}

static __always_inline __u64 foreign_ids(void)
{
	return (__u64)FOREIGN_PID << 32 | (FOREIGN_PID + bpf_get_smp_processor_id());
}

/* Only for pidns_level > 0.  Not inlined: most programs need it at several places. */
static inline __attribute__((noinline)) __u64 pidns_ids(struct task_struct *t)
{
	__u32 kernels_tid = BPF_CORE_READ(t, pid), pid, tid;
	struct pid *number = BPF_CORE_READ(t, thread_pid);
	__u64 key = (__u64)t, *saved;

	if (!kernels_tid)
		return 0; /* the idle task */
	if (!number) {
		saved = bpf_map_lookup_elem(&pidns_ending, &key);
		return saved ? *saved : foreign_ids();
	}
	pid = tid = pidns_number_of(number);
	if (kernels_tid != (__u32)BPF_CORE_READ(t, tgid))
		pid = pidns_number_of(BPF_CORE_READ(t, group_leader, thread_pid));
	return pid && tid ? (__u64)pid << 32 | tid : foreign_ids();
}

/* process << 32 | thread, as bpf_get_current_pid_tgid() has it */
static __always_inline __u64 current_ids(void)
{
	return pidns_level ? pidns_ids((void *)bpf_get_current_task_btf())
			   : bpf_get_current_pid_tgid();
}

/* The same of a task that the verifier knows (tp_btf). */
static __always_inline __u64 task_ids(struct task_struct *t)
{
	return pidns_level ? pidns_ids(t) : (__u64)t->tgid << 32 | (__u32)t->pid;
}

/* The same of one that it does not (raw_tp). */
static __always_inline __u64 raw_task_ids(struct task_struct *t)
{
	return pidns_level ? pidns_ids(t)
			   : (__u64)BPF_CORE_READ(t, tgid) << 32 | (__u32)BPF_CORE_READ(t, pid);
}

static __always_inline bool is_foreign(__u64 ids)
{
	return ids >> 32 == FOREIGN_PID;
}

static __always_inline bool is_target_task(struct task_struct *t)
{
	return !filter || is_target(task_ids(t) >> 32);
}

static __always_inline bool is_target_current(void)
{
	return !filter || is_target(current_ids() >> 32);
}

#endif
