// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
/*
 * runq - how long threads run, wait for a CPU and sleep; how busy each CPU is
 *
 * The same events as sched, added up in the kernel: for numbers over days without a trace.  At the
 * end of an interval a program runs on each CPU and counts the unfinished time there, so that
 * running time and busy time are of their interval exactly; waits and sleeps count when they end.
 */
#include "bpf/lib/table.bpf.h"

struct runq_key {
	__u32 interval, pid, tid, pad;
};

struct runq_value {
	char comm[16];
	__u64 cgroup;
	__u64 run_ns, wait_ns, sleep_ns;
	__u64 runs, waits, voluntary, involuntary;
	__u64 max_wait_ns;
	__s32 is_prio;
	__u32 pad;
	__u32 hist_run_ns[METRIC_SLOTS];
	__u32 hist_wait_ns[METRIC_SLOTS];
};

METRIC_TABLE_FIXED(runq, struct runq_key, struct runq_value, 16384);

struct runq_cpus_key {
	__u32 interval, cpu;
};

struct runq_cpus_value {
	__u64 busy_ns, idle_ns, switches;
	__u64 wait_ns; /* that threads waited which then ran here */
};

METRIC_TABLE_FIXED(runq_cpus, struct runq_cpus_key, struct runq_cpus_value, 4096);

struct thread_now {
	__u64 on_ns;    /* runs since then, what was before is counted; 0: does not run */
	__u64 slice_ns; /* since when, all in all */
	__u64 ready_ns; /* wants to run since then; 0: does not, or runs */
	__u64 sleep_ns; /* slept since then, up to ready_ns; 0: was preempted */
	__u64 voluntary, involuntary; /* the kernel's counts when it came, or left */
	__u64 left_ns,
		exec_ns; /* when it last left, and the kernel's account of its run time then */
	__u64 start_ns;  /* of the thread: ids are reused */
};

/*
 * Not the kernel's storage of a task: none can be made while another thread of the CPU, which was
 * preempted there, is freeing its own.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, struct thread_now);
} runq_now SEC(".maps"); /* thread id -> what it does now */

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} runq_since SEC(".maps"); /* the CPU's time is counted up to then; 0: not begun */

/* NULL: no room, which is counted. */
static __always_inline struct thread_now *now_of(struct task_struct *t)
{
	struct thread_now *s, zero = { .start_ns = t->start_time };
	__u32 tid = t->pid;

	s = bpf_map_lookup_elem(&runq_now, &tid);
	if (s && s->start_ns == zero.start_ns)
		return s;
	if (!bpf_map_update_elem(&runq_now, &tid, &zero, BPF_ANY)) {
		s = bpf_map_lookup_elem(&runq_now, &tid);
		if (s)
			return s;
	}
	count_lost(EBPREC_EV_METRIC);
	return 0;
}

static __always_inline struct runq_value *entry_of(struct task_struct *t)
{
	__u64 ids = task_ids(t);
	struct runq_key key = { .interval = metric_interval, .pid = ids >> 32, .tid = ids };
	struct runq_value *v = METRIC_ENTRY(&table_runq, &key, struct runq_value);

	if (v && !v->comm[0]) {
		bpf_probe_read_kernel(v->comm, sizeof(v->comm), t->comm);
		v->cgroup = cgroup_of(t);
	}
	if (v)
		v->is_prio = t->prio;
	return v;
}

static __always_inline struct runq_cpus_value *count_cpu(bool idle, __u64 now_ns)
{
	struct runq_cpus_key key = { .interval = metric_interval,
				     .cpu = bpf_get_smp_processor_id() };
	struct runq_cpus_value *v;
	__u32 zero = 0;
	__u64 *since_ns = bpf_map_lookup_elem(&runq_since, &zero);

	v = METRIC_ENTRY(&table_runq_cpus, &key, struct runq_cpus_value);
	if (!v || !since_ns)
		return v;
	if (*since_ns && idle)
		v->idle_ns += now_ns - *since_ns;
	else if (*since_ns)
		v->busy_ns += now_ns - *since_ns;
	*since_ns = now_ns;
	return v;
}

/*
 * It runs, but its switch was not seen: there are kernels that report no switches away from some
 * threads.  Its time is then the kernel's own account, so that a thread's times still add up to its
 * life.
 */
static __always_inline void came_unseen(struct task_struct *t, struct thread_now *s,
					struct runq_value *v, __u64 now_ns)
{
	__u64 off_ns = now_ns - s->left_ns, ran_ns = t->se.sum_exec_runtime - s->exec_ns;
	__u64 slept_ns = s->sleep_ns && s->ready_ns ? s->ready_ns - s->sleep_ns : 0;

	if (ran_ns > off_ns - slept_ns)
		ran_ns = off_ns - slept_ns;
	v->run_ns += ran_ns;
	v->runs++;
	v->sleep_ns += s->ready_ns || !s->sleep_ns ? slept_ns : off_ns - ran_ns;
	if (s->ready_ns || !s->sleep_ns) {
		v->wait_ns += off_ns - slept_ns - ran_ns;
		v->waits++;
	}
	s->ready_ns = s->sleep_ns = 0;
}

static __always_inline void leave(struct task_struct *t, bool preempt, __u64 now_ns)
{
	struct thread_now *s = now_of(t);
	struct runq_value *v;
	bool wants = preempt || !t->__state;
	__u32 slot, tid = t->pid;

	if (!s)
		return;
	v = entry_of(t);
	if (v && s->on_ns) {
		v->run_ns += now_ns - s->on_ns;
		if (s->slice_ns) {
			v->runs++;
			slot = log2_slot(now_ns - s->slice_ns);
			if (slot < METRIC_SLOTS)
				v->hist_run_ns[slot]++;
		}
	}
	if (v && !s->on_ns && s->left_ns)
		came_unseen(t, s, v, now_ns);
	if (v && (s->on_ns || s->left_ns)) {
		v->voluntary += t->nvcsw - s->voluntary;
		v->involuntary += t->nivcsw - s->involuntary;
	}
	s->ready_ns = wants ? now_ns : 0;
	s->sleep_ns = wants ? 0 : now_ns;
	s->on_ns = s->slice_ns = 0;
	s->left_ns = now_ns;
	s->exec_ns = t->se.sum_exec_runtime;
	s->voluntary = t->nvcsw;
	s->involuntary = t->nivcsw;
	if (t->__state & TASK_DEAD) /* for the last time: in exit_state it may still be preempted */
		bpf_map_delete_elem(&runq_now, &tid);
}

static __always_inline void come(struct task_struct *t, struct runq_cpus_value *cpu, __u64 now_ns)
{
	struct thread_now *s = now_of(t);
	struct runq_value *v;
	__u64 wait_ns;
	__u32 slot;

	if (!s)
		return;
	s->on_ns = s->slice_ns = now_ns;
	s->voluntary = t->nvcsw;
	s->involuntary = t->nivcsw;
	if (!s->ready_ns)
		return;
	wait_ns = now_ns - s->ready_ns;
	v = entry_of(t);
	if (v) {
		v->wait_ns += wait_ns;
		v->waits++;
		if (wait_ns > v->max_wait_ns)
			v->max_wait_ns = wait_ns;
		slot = log2_slot(wait_ns);
		if (slot < METRIC_SLOTS)
			v->hist_wait_ns[slot]++;
		if (s->sleep_ns)
			v->sleep_ns += s->ready_ns - s->sleep_ns;
	}
	if (cpu)
		cpu->wait_ns += wait_ns;
	s->ready_ns = s->sleep_ns = 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(runq_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct runq_cpus_value *cpu;
	__u64 now_ns = bpf_ktime_get_ns();

	cpu = count_cpu(!prev->pid, now_ns);
	if (cpu)
		cpu->switches++;
	if (prev->pid && is_target_task(prev))
		leave(prev, preempt, now_ns);
	if (next->pid && is_target_task(next))
		come(next, cpu, now_ns);
	return 0;
}

static __always_inline void ready(struct task_struct *t)
{
	struct thread_now *s;

	if (!is_target_task(t))
		return;
	s = now_of(t);
	if (s && !s->ready_ns && !s->on_ns)
		s->ready_ns = bpf_ktime_get_ns();
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(runq_wakeup, struct task_struct *t)
{
	ready(t);
	return 0;
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(runq_wakeup_new, struct task_struct *t)
{
	ready(t);
	return 0;
}

/* On each CPU, at the beginning and at the end of an interval. */
SEC("raw_tp")
int runq_flush(void *ctx)
{
	struct task_struct *t = (void *)bpf_get_current_task_btf();
	__u64 now_ns = bpf_ktime_get_ns();
	struct thread_now *s;
	struct runq_value *v;

	count_cpu(!t->pid, now_ns);
	if (!t->pid || !is_target_task(t))
		return 0;
	s = now_of(t);
	if (!s)
		return 0;
	v = s->on_ns || s->left_ns ? entry_of(t) : 0;
	if (v && s->on_ns)
		v->run_ns += now_ns - s->on_ns;
	else if (v)
		came_unseen(t, s, v, now_ns);
	if (!s->on_ns && !s->left_ns) {
		s->voluntary = t->nvcsw;
		s->involuntary = t->nivcsw;
	}
	s->on_ns = now_ns;
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
