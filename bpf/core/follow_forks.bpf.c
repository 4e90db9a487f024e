// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
/*
 * follow_forks - keeps the set of recorded processes complete: children of a target are targets
 *
 * Loaded only for `-p PID` and for a command.  The set changes before the child first runs, so
 * nothing of it is missed.  Cost: one map lookup a fork and an exit.
 */
#include "bpf/lib/common.bpf.h" /* first: <linux/bpf.h> and the helpers */
#include "bpf/lib/ids.bpf.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

SEC("raw_tp/sched_process_fork")
int BPF_PROG(target_fork, struct task_struct *parent, struct task_struct *child)
{
	__u32 from = raw_task_ids(parent) >> 32, to = raw_task_ids(child) >> 32;
	__u32 state = TARGET_ALIVE;

	if (from != to && bpf_map_lookup_elem(&targets, &from))
		if (bpf_map_update_elem(&targets, &to, &state, BPF_ANY))
			count_lost(0); /* the set is full: reported at the end */
	return 0;
}

SEC("raw_tp/sched_process_exit")
int BPF_PROG(target_exit, struct task_struct *task)
{
	__u32 pid = raw_task_ids(task) >> 32, *state;

	state = bpf_map_lookup_elem(&targets, &pid);
	if (state && BPF_CORE_READ(task, signal, live.counter) == 0)
		*state = TARGET_DYING; /* not removed yet: its last switch is still to come */
	return 0;
}

SEC("raw_tp/sched_process_free")
int BPF_PROG(target_free, struct task_struct *task)
{
	__u32 pid = raw_task_ids(task) >> 32, *state;

	if (BPF_CORE_READ(task, pid) != BPF_CORE_READ(task, tgid))
		return 0;
	state = bpf_map_lookup_elem(&targets, &pid);
	if (state && *state == TARGET_DYING)
		bpf_map_delete_elem(&targets, &pid);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
