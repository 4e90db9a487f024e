// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
/*
 * faults - page faults, minor and major
 *
 * The kernel counts them for each thread (what /proc/PID/stat shows); we take the difference at the
 * end of each interval, and when a thread exits.
 *
 * Stacks are from perf's own events: of each major fault, and on each CPU of every 97th minor one,
 * which stands for as many.
 */
#include "bpf/lib/table.bpf.h"

#include <linux/bpf_perf_event.h>

struct faults_key {
	__u32 interval, pid, tid, pad;
};

struct faults_value {
	char comm[16];
	__u64 cgroup;
	__u64 minor, major;
};

METRIC_TABLE(faults, struct faults_key, struct faults_value);

struct faults_stacks {
	char comm[16];
	__u64 address, count;
	__u32 pid, tid;
	__u32 major, pad;
};

METRIC_EVENT(0, faults_stacks);

struct faults_counted {
	__u64 minor, major;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct faults_counted);
} faults_counted SEC(".maps");

/*
 * it ends: its counters are read for the last time.  The first walk stored the counts from before
 * the recording.
 */
static __always_inline void count_faults(struct task_struct *t, bool ending)
{
	__u64 ids = task_ids(t);
	struct faults_key key = { .interval = metric_interval, .pid = ids >> 32, .tid = ids };
	__u64 minor = t->min_flt, major = t->maj_flt, old_minor = 0, old_major = 0;
	struct faults_value *v;
	struct faults_counted *counted;

	if (!is_target(key.pid) || t->flags & TASK_KERNEL)
		return;
	counted = bpf_task_storage_get(&faults_counted, t, 0, 0);
	if (!counted && t->start_time < metric_start_ns && ending)
		return; /* ended before it was walked by */
	if (counted) {
		old_minor = counted->minor;
		old_major = counted->major;
	} else if (!ending) {
		counted = bpf_task_storage_get(&faults_counted, t, 0,
					       BPF_LOCAL_STORAGE_GET_F_CREATE);
		if (!counted) {
			count_lost(EBPREC_EV_METRIC);
			return;
		}
		if (t->start_time < metric_start_ns) {
			counted->minor = minor;
			counted->major = major;
			return;
		}
	}
	if (minor == old_minor && major == old_major)
		return;
	v = METRIC_ENTRY(&table_faults, &key, struct faults_value);
	if (!v)
		return;
	bpf_probe_read_kernel(v->comm, sizeof(v->comm), t->comm);
	v->cgroup = cgroup_of(t);
	v->minor += minor - old_minor;
	v->major += major - old_major;
	if (counted) {
		counted->minor = minor;
		counted->major = major;
	}
}

SEC("iter/task")
int faults_walk(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;

	/* A thread in exit counts itself; both at once would count twice. */
	if (t && !(t->flags & TASK_EXITING))
		count_faults(t, false);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(faults_exit, struct task_struct *t)
{
	count_faults(t, true);
	return 0;
}

static __always_inline int send_fault(struct bpf_perf_event_data *ctx, bool major)
{
	struct faults_stacks *row;
	struct metric_event *ev;

	if (!is_target_current())
		return 0;
	ev = event_begin(0, sizeof(*row));
	if (!ev)
		return 0;
	row = (void *)ev->row;
	bpf_get_current_comm(row->comm, sizeof(row->comm));
	row->pid = ev->pid;
	row->tid = ev->tid;
	row->address = ctx->addr;
	row->major = major;
	row->count = ev->weight = ctx->sample_period;
	event_send(ev, event_stacks(ctx, ev));
	return 0;
}

SEC("perf_event")
int perf_minor_faults_97(struct bpf_perf_event_data *ctx)
{
	return send_fault(ctx, false);
}

SEC("perf_event")
int perf_major_faults_1(struct bpf_perf_event_data *ctx)
{
	return send_fault(ctx, true);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
