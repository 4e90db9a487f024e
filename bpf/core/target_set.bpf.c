// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
/*
 * target_set - keeps the set of recorded processes complete, as they fork, exec, move and end
 *
 * For `-p PID` and for a command, children of a target are targets.  With --cgroup, --unit, --container and
 * --comm a process is a target as long as it is in one of the cgroups that were asked for, and a thread of it has had one
 * of the names; each kind that was not asked for is true of all.  The set changes before a child first runs and before a
 * program that was exec'd does, so nothing of these is missed.  User space learns of each new target by an event.
 *
 * Cost: a map lookup or two a fork, exec, exit, rename and move.  Samples and switches look the process up, however it
 * came into the set.
 */
#include "bpf/lib/common.bpf.h" /* first: <linux/bpf.h> and the helpers */
#include "bpf/lib/ids.bpf.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

/* Which kinds were asked for. */
const volatile bool by_cgroup = 0, by_comm = 0;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TARGET_CGROUPS_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u64);
	__type(value, __u32);
} target_cgroups SEC(".maps"); /* ids of those that were asked for, and of all below */

struct comm_name {
	char text[16];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TARGET_COMMS_MAX);
	__type(key, struct comm_name);
	__type(value, __u32);
} target_comms SEC(".maps");

/* ---- what a process is ---- */

static __always_inline bool is_in_cgroups(struct task_struct *t)
{
	__u64 id = BPF_CORE_READ(t, cgroups, dfl_cgrp, kn, id);

	return !by_cgroup || bpf_map_lookup_elem(&target_cgroups, &id);
}

/* Up to its NUL: what stands behind it is of an earlier name. */
static __always_inline bool is_among_comms(const char *comm)
{
	struct comm_name name = {};

	if (by_comm && bpf_probe_read_kernel_str(&name, sizeof(name), comm) < 0)
		return false;
	return !by_comm || bpf_map_lookup_elem(&target_comms, &name);
}

static __always_inline void send_target(__u32 pid, bool inherits)
{
	void *ring = ring_here();
	struct target_event *ev = ring ? bpf_ringbuf_reserve(ring, sizeof(*ev), 0) : 0;

	if (!ev) {
		count_lost(EBPREC_EV_TARGET);
		return;
	}
	fill_header(&ev->h, EBPREC_EV_TARGET, sizeof(*ev));
	ev->pid = pid;
	ev->inherits = inherits;
	bpf_ringbuf_submit(ev, wake_flags(ring));
}

static __always_inline bool add_target(__u32 pid)
{
	__u32 state = TARGET_ALIVE;

	if (!bpf_map_update_elem(&targets, &pid, &state, BPF_ANY))
		return true;
	count_lost(0); /* the set is full: reported at the end */
	return false;
}

/* The process of t has become one that was asked for, or has not. */
static __always_inline void select(struct task_struct *t, bool wanted)
{
	__u32 pid = raw_task_ids(t) >> 32;

	if (!wanted)
		bpf_map_delete_elem(&targets, &pid);
	else if (!is_foreign((__u64)pid << 32) && !bpf_map_lookup_elem(&targets, &pid) &&
		 add_target(pid))
		send_target(pid, false);
}

/* ---- children ---- */

SEC("raw_tp/sched_process_fork")
int BPF_PROG(target_fork, struct task_struct *parent, struct task_struct *child)
{
	__u32 from = raw_task_ids(parent) >> 32, to = raw_task_ids(child) >> 32;

	if (from != to && bpf_map_lookup_elem(&targets, &from))
		add_target(to);
	return 0;
}

/* A child may be made in another cgroup than its parent is in. */
SEC("raw_tp/sched_process_fork")
int BPF_PROG(selected_fork, struct task_struct *parent, struct task_struct *child)
{
	__u32 from = raw_task_ids(parent) >> 32, to = raw_task_ids(child) >> 32;

	if (from == to || is_foreign((__u64)to << 32) || !is_in_cgroups(child))
		return 0;
	if (is_among_comms(child->comm) && add_target(to))
		send_target(to, bpf_map_lookup_elem(&targets, &from));
	return 0;
}

/* ---- selection ---- */

/* Has its new name. */
SEC("raw_tp/sched_process_exec")
int BPF_PROG(selected_exec, struct task_struct *t)
{
	select(t, is_in_cgroups(t) && is_among_comms(t->comm));
	return 0;
}

/* One of its threads may have the name that was asked for, and another gets a new one. */
SEC("raw_tp/task_rename")
int BPF_PROG(selected_rename, struct task_struct *t, const char *comm)
{
	if (is_in_cgroups(t) && is_among_comms(comm))
		select(t, true);
	return 0;
}

/* Which hierarchy dst is of is not known: t has moved there already. */
SEC("raw_tp/cgroup_attach_task")
int BPF_PROG(selected_attach, struct cgroup *dst, const char *path, struct task_struct *t)
{
	bool is_in = is_in_cgroups(t);

	if (!is_in || is_among_comms(t->comm))
		select(t, is_in);
	return 0;
}

SEC("raw_tp/cgroup_mkdir")
int BPF_PROG(selected_mkdir, struct cgroup *made)
{
	void *above = BPF_CORE_READ(made, self.parent); /* its member `self` */
	struct cgroup *parent = above - bpf_core_field_offset(struct cgroup, self);
	__u64 id = BPF_CORE_READ(made, kn, id), above_id;
	__u32 one = 1;

	if (!above)
		return 0;
	above_id = BPF_CORE_READ(parent, kn, id);
	if (bpf_map_lookup_elem(&target_cgroups, &above_id) &&
	    bpf_map_update_elem(&target_cgroups, &id, &one, BPF_ANY))
		count_lost(0);
	return 0;
}

SEC("raw_tp/cgroup_rmdir")
int BPF_PROG(selected_rmdir, struct cgroup *removed)
{
	__u64 id = BPF_CORE_READ(removed, kn, id);

	bpf_map_delete_elem(&target_cgroups, &id);
	return 0;
}

/* ---- ends ---- */

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
