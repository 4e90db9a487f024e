// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
/*
 * exits - the result of each process that ended
 *
 * Each thread adds what it used when it exits; the last one also has the exit status of the
 * process.  The kernel has added up the usage of threads that ended before the first exit that is
 * seen: it is counted then, once.  A thread still runs for a while after sched_process_exit, and
 * the kernel has not added up the time slice that it is in: the rest is added when it leaves the
 * CPU for good.  Cost: an entry a process, and a check at each switch.
 */
#include "bpf/lib/table.bpf.h"

struct exits_key {
	__u32 interval, pid;
	__u64 start_ns; /* when the process began: its id may come again */
};

struct exits_value {
	char comm[16]; /* of the first thread */
	__u64 cgroup;
	__u64 exited; /* it ended; else only threads of it */
	__u64 is_exit_ns;
	__u64 runtime_ns, voluntary, involuntary, minor, major;
	__u64 threads; /* that exited during the recording */
	__u32 is_ppid, is_cpu;
	__s32 is_prio, is_nice;
	__u32 is_policy, is_exit_code; /* as wait() returns it */
};

METRIC_TABLE(exits, struct exits_key, struct exits_value);

struct exits_seen_key {
	__u64 pid, start_ns;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct exits_seen_key);
	__type(value, __u32);
} exits_seen SEC(".maps"); /* processes whose earlier threads are counted */

struct exits_counted {
	__u64 runtime_ns, voluntary, involuntary, start_ns;
};

#define EXITING_THREADS 16384 /* at one moment, between their exit and their last switch */

/*
 * The counters of a thread in exit, by its task_struct.  The memory is taken at the beginning: task
 * storage is allocated at the exit, which fails where many threads end at once, and the rest of the
 * thread would be missing.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, EXITING_THREADS);
	__type(key, __u64);
	__type(value, struct exits_counted);
} exits_counted SEC(".maps");

static __always_inline void add_earlier(struct exits_value *v, struct signal_struct *signal,
					__u64 pid, __u64 start_ns)
{
	struct exits_seen_key key = { .pid = pid, .start_ns = start_ns };
	__u32 one = 1;

	if (signal->nr_threads <= 1 && !signal->sum_sched_runtime && !signal->nvcsw &&
	    !signal->nivcsw)
		return;
	if (bpf_map_update_elem(&exits_seen, &key, &one, BPF_NOEXIST))
		return;
	ADD(v->runtime_ns, signal->sum_sched_runtime);
	ADD(v->voluntary, signal->nvcsw);
	ADD(v->involuntary, signal->nivcsw);
	ADD(v->minor, signal->min_flt);
	ADD(v->major, signal->maj_flt);
}

static __always_inline void add_end(struct exits_value *v, struct task_struct *leader,
				    struct signal_struct *signal)
{
	v->exited = 1;
	v->is_exit_ns = bpf_ktime_get_ns();
	v->is_ppid = task_ids(leader->real_parent) >> 32;
	v->is_cpu = bpf_get_smp_processor_id();
	v->is_prio = leader->prio;
	v->is_nice = leader->static_prio - 120;
	v->is_policy = leader->policy;
	v->is_exit_code = signal->flags & SIGNAL_EXITING ? signal->group_exit_code
							 : leader->exit_code;
	bpf_probe_read_kernel(v->comm, sizeof(v->comm), leader->comm);
	v->cgroup = bpf_get_current_cgroup_id();
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(exits_exit, struct task_struct *t)
{
	struct task_struct *leader = t->group_leader;
	struct signal_struct *signal = t->signal;
	__u64 ids = task_ids(t);
	struct exits_key key = {
		.interval = metric_interval,
		.pid = ids >> 32,
		.start_ns = leader->start_time,
	};
	struct exits_counted counted = {
		.runtime_ns = t->se.sum_exec_runtime,
		.voluntary = t->nvcsw,
		.involuntary = t->nivcsw,
		.start_ns = key.start_ns,
	};
	__u64 task = (__u64)t;
	struct exits_value *v;

	if (!is_target(key.pid) || is_foreign(ids))
		return 0;
	v = METRIC_ENTRY(&table_exits, &key, struct exits_value);
	if (!v)
		return 0;
	add_earlier(v, signal, key.pid, key.start_ns);
	ADD(v->runtime_ns, counted.runtime_ns);
	ADD(v->voluntary, counted.voluntary);
	ADD(v->involuntary, counted.involuntary);
	ADD(v->minor, t->min_flt);
	ADD(v->major, t->maj_flt);
	ADD(v->threads, 1);
	if (!signal->live.counter)
		add_end(v, leader, signal);
	if (bpf_map_update_elem(&exits_counted, &task, &counted, BPF_ANY))
		count_lost(EBPREC_EV_METRIC);
	return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(exits_leave, bool preempt, struct task_struct *prev)
{
	struct exits_key key = { .interval = metric_interval };
	struct exits_counted *counted;
	__u64 task = (__u64)prev;
	struct exits_value *v;

	if (!(prev->__state & TASK_DEAD))
		return 0;
	counted = bpf_map_lookup_elem(&exits_counted, &task);
	if (!counted)
		return 0;
	key.pid = task_ids(prev) >> 32;
	key.start_ns = counted->start_ns;
	v = METRIC_ENTRY(&table_exits, &key, struct exits_value);
	if (!v)
		return 0;
	if (!v->comm[0]) { /* in a later interval than its exit */
		bpf_probe_read_kernel(v->comm, sizeof(v->comm), prev->group_leader->comm);
		v->cgroup = cgroup_of(prev);
	}
	ADD(v->runtime_ns, prev->se.sum_exec_runtime - counted->runtime_ns);
	/* Only the first of the other threads sees this value. */
	ADD(v->voluntary, prev->nvcsw - counted->voluntary - (prev->pid != prev->tgid));
	ADD(v->involuntary, prev->nivcsw - counted->involuntary);
	bpf_map_delete_elem(&exits_counted, &task);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
