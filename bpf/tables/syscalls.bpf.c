// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
/*
 * syscalls - system calls: how many, how long, with which errors
 *
 * From raw_syscalls sys_enter and sys_exit.  A call counts when it returns; unfinished ones are
 * reported at the end of each interval.  Only the thread itself writes to its entries, so nothing
 * needs to be atomic.  Cost: see docs/OVERHEAD.md.
 */
#include "bpf/lib/table.bpf.h"

struct syscalls_key {
	__u32 interval, pid, tid;
	__u32 nr;
	__u32 abi; /* enum call_abi */
	__u32 pad;
};

struct syscalls_value {
	char comm[16];
	__u64 cgroup;
	__u64 count, errors;
	__u64 total_ns, max_ns;
	__u64 now_blocked, now_blocked_ns;
	__u32 hist_ns[METRIC_SLOTS];
};

METRIC_TABLE(syscalls, struct syscalls_key, struct syscalls_value);

struct syscall_errors_key {
	__u32 interval, pid, tid;
	__u32 nr;
	__u32 abi;
	__u32 error;
};

struct syscall_errors_value {
	char comm[16];
	__u64 cgroup;
	__u64 count;
};

METRIC_TABLE(syscall_errors, struct syscall_errors_key, struct syscall_errors_value);

struct syscalls_slow {
	char comm[16];
	__u32 nr, abi;
	__u64 took_ns;
	__s64 ret;
	__u64 arg0, arg1, arg2, arg3, arg4, arg5;
};

METRIC_EVENT(0, syscalls_slow);

struct syscall_now {
	__u64 enter_ns; /* 0: in none */
	__u32 nr, abi;
	__u64 args[6]; /* only with slower_ns */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct syscall_now);
} syscalls_now SEC(".maps");

#define TAKE_ARGS(to, arg, regs)                                                 \
	((to)[0] = arg(regs, 0), (to)[1] = arg(regs, 1), (to)[2] = arg(regs, 2), \
	 (to)[3] = arg(regs, 3), (to)[4] = arg(regs, 4), (to)[5] = arg(regs, 5))

SEC("tp_btf/sys_enter")
int BPF_PROG(syscalls_enter, saved_regs *regs, long nr)
{
	struct task_struct *t = (void *)bpf_get_current_task_btf();
	struct syscall_now *s;

	if (!is_target_task(t))
		return 0;
	s = bpf_task_storage_get(&syscalls_now, t, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!s) {
		count_lost(EBPREC_EV_METRIC);
		return 0;
	}
	s->nr = nr;
	s->abi = is_compat(t) ? CALL_ABI_COMPAT : CALL_ABI_HERE;
	if (slower_ns && s->abi == CALL_ABI_HERE)
		TAKE_ARGS(s->args, call_arg, regs);
	else if (slower_ns)
		TAKE_ARGS(s->args, call_arg32, regs);
	s->enter_ns = bpf_ktime_get_ns();
	return 0;
}

static __always_inline void count_error(struct task_struct *t, const struct syscall_now *s,
					long ret)
{
	__u64 ids = task_ids(t);
	struct syscall_errors_key key = {
		.interval = metric_interval,
		.pid = ids >> 32,
		.tid = ids,
		.nr = s->nr,
		.abi = s->abi,
		.error = -ret,
	};
	struct syscall_errors_value *v;

	v = METRIC_ENTRY(&table_syscall_errors, &key, struct syscall_errors_value);
	if (!v)
		return;
	if (!v->count) {
		bpf_get_current_comm(v->comm, sizeof(v->comm));
		v->cgroup = bpf_get_current_cgroup_id();
	}
	v->count++;
}

static __always_inline void send_slow(void *ctx, const struct syscall_now *s, __u64 took_ns,
				      long ret)
{
	struct metric_event *ev = event_begin(0, sizeof(struct syscalls_slow));
	struct syscalls_slow *row;

	if (!ev)
		return;
	row = (void *)ev->row;
	bpf_get_current_comm(row->comm, sizeof(row->comm));
	row->nr = s->nr;
	row->abi = s->abi;
	row->took_ns = took_ns;
	row->ret = ret;
	__builtin_memcpy(&row->arg0, s->args, sizeof(s->args));
	ev->weight = took_ns;
	event_send(ev, event_stacks(ctx, ev));
}

SEC("tp_btf/sys_exit")
int BPF_PROG(syscalls_exit, saved_regs *regs, long ret)
{
	__u64 now_ns = bpf_ktime_get_ns(), took_ns, ids;
	struct task_struct *t = (void *)bpf_get_current_task_btf();
	struct syscalls_key key = { .interval = metric_interval };
	struct syscalls_value *v;
	struct syscall_now *s;
	__u32 slot;

	s = bpf_task_storage_get(&syscalls_now, t, 0, 0);
	if (!s || !s->enter_ns)
		return 0; /* began before the recording, or is the child's return from a fork */
	took_ns = now_ns - s->enter_ns;
	s->enter_ns = 0;
	ids = task_ids(t);
	key.pid = ids >> 32;
	key.tid = ids;
	key.nr = s->nr;
	key.abi = s->abi;
	v = METRIC_ENTRY(&table_syscalls, &key, struct syscalls_value);
	if (v) {
		if (!v->count) {
			bpf_get_current_comm(v->comm, sizeof(v->comm));
			v->cgroup = bpf_get_current_cgroup_id();
		}
		v->count++;
		v->total_ns += took_ns;
		if (took_ns > v->max_ns)
			v->max_ns = took_ns;
		slot = log2_slot(took_ns);
		if (slot < METRIC_SLOTS)
			v->hist_ns[slot]++;
		if (ret < 0 && ret >= -4095)
			v->errors++;
	}
	if (ret < 0 && ret >= -4095)
		count_error(t, s, ret);
	if (slower_ns && took_ns >= slower_ns)
		send_slow(ctx, s, took_ns, ret);
	return 0;
}

/*
 * Calls that have not returned.  For threads that have slept in one since before the recording, the
 * number comes from the registers; the time is the recorded part.
 */
SEC("iter/task")
int syscalls_blocked(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	struct syscalls_key key = { .interval = metric_interval };
	__u64 since_ns = metric_start_ns, now_ns = bpf_ktime_get_ns(), number, arg0, arg1, ids;
	struct syscalls_value *v;
	struct syscall_now *s;

	if (!t || t->flags & (TASK_KERNEL | TASK_EXITING) || !is_target_task(t))
		return 0;
	s = bpf_task_storage_get(&syscalls_now, t, 0, 0);
	if (s && s->enter_ns) {
		since_ns = s->enter_ns;
		key.nr = s->nr;
		key.abi = s->abi;
	} else if (!s && t->__state) {
		if (!read_call((void *)bpf_task_pt_regs(t), &number, &arg0, &arg1) ||
		    number > 0xffff)
			return 0;
		key.nr = number;
		key.abi = is_compat(t) ? CALL_ABI_COMPAT : CALL_ABI_HERE;
	} else {
		return 0;
	}
	ids = task_ids(t);
	key.pid = ids >> 32;
	key.tid = ids;
	v = METRIC_ENTRY(&table_syscalls, &key, struct syscalls_value);
	if (!v)
		return 0;
	if (!v->comm[0])
		bpf_probe_read_kernel(v->comm, sizeof(v->comm), t->comm);
	v->now_blocked = 1;
	v->now_blocked_ns = now_ns > since_ns ? now_ns - since_ns : 0;
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
