// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
/*
 * locks - waiting for each other: futexes of programs, locks of the kernel
 *
 * Futex waits are the system call: from entry to return, by the address that is waited at.  Kernel
 * locks are lock:contention_begin and contention_end: only waits are told, not who holds what.
 */
#include "bpf/metric.bpf.h"

enum futex_call { /* x86-64 */
		  FUTEX_CALL = 202,
};

enum futex_op { /* include/uapi/linux/futex.h */
		FUTEX_OP_WAIT = 0,
		FUTEX_OP_WAKE = 1,
		FUTEX_OP_LOCK_PI = 6,
		FUTEX_OP_WAIT_BITSET = 9,
		FUTEX_OP_WAKE_BITSET = 10,
		FUTEX_OP_MASK = 127,
};

struct futexes_key {
	__u32 interval, pid;
	__u64 address;
};

struct futexes_value {
	char comm[16];
	__u64 cgroup;
	__u64 waits, timeouts, not_waited; /* not_waited: the value had changed */
	__u64 wakes, woken;
	__u64 total_ns, max_ns;
	__u32 hist_ns[METRIC_SLOTS];
};

METRIC_TABLE(futexes, struct futexes_key, struct futexes_value);

struct locks_key {
	__u32 interval, pid;
	__u32 kind, pad; /* of contention_begin: LCB_F_* */
};

struct locks_value {
	char comm[16];
	__u64 cgroup;
	__u64 count, total_ns, max_ns;
	__u32 hist_ns[METRIC_SLOTS];
};

METRIC_TABLE_FIXED(locks, struct locks_key, struct locks_value, 16384);

struct locks_slow {
	char comm[16];
	__u64 address; /* of the futex, or of the kernel's lock */
	__u32 kind, is_futex;
	__u64 took_ns;
};

METRIC_EVENT(0, locks_slow);

struct wait_now {
	__u64 since_ns, address;
	__u32 op, pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct wait_now);
} futex_now SEC(".maps");

struct lock_now_key {
	__u64 pid_tgid, lock;
};

struct lock_now {
	__u64 since_ns;
	__u32 kind, pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, struct lock_now_key);
	__type(value, struct lock_now);
} lock_now SEC(".maps"); /* an interrupt may wait while the thread under it does */

static __always_inline void send_slow(void *ctx, __u64 address, __u32 kind, bool futex,
				      __u64 took_ns)
{
	struct metric_event *ev = event_begin(0, sizeof(struct locks_slow));
	struct locks_slow *row;

	if (!ev)
		return;
	row = (void *)ev->row;
	bpf_get_current_comm(row->comm, sizeof(row->comm));
	row->address = address;
	row->kind = kind;
	row->is_futex = futex;
	row->took_ns = ev->weight = took_ns;
	event_send(ev, event_stacks(ctx, ev));
}

/* ---- futexes ---- */

SEC("tp_btf/sys_enter")
int BPF_PROG(futex_enter, struct pt_regs *regs, long nr)
{
	struct task_struct *t;
	struct wait_now *now;

	if (nr != FUTEX_CALL)
		return 0;
	t = (void *)bpf_get_current_task_btf();
	if (t->thread_info.status & THREAD_COMPAT || !is_target(t->tgid))
		return 0;
	now = bpf_task_storage_get(&futex_now, t, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!now) {
		count_lost(EBPREC_EV_METRIC);
		return 0;
	}
	now->address = regs->rdi;
	now->op = regs->rsi & FUTEX_OP_MASK;
	now->since_ns = bpf_ktime_get_ns();
	return 0;
}

static __always_inline bool is_wait(__u32 op)
{
	return op == FUTEX_OP_WAIT || op == FUTEX_OP_WAIT_BITSET || op == FUTEX_OP_LOCK_PI;
}

static __always_inline void count_futex(const struct wait_now *was, struct futexes_value *v,
					__u64 took_ns, long ret)
{
	__u32 slot;

	if (!is_wait(was->op)) {
		v->wakes++;
		if (ret > 0)
			v->woken += ret;
		return;
	}
	if (ret == -11) { /* EAGAIN */
		v->not_waited++;
		return;
	}
	v->waits++;
	if (ret == -110) /* ETIMEDOUT */
		v->timeouts++;
	v->total_ns += took_ns;
	if (took_ns > v->max_ns)
		v->max_ns = took_ns;
	slot = log2_slot(took_ns);
	if (slot < METRIC_SLOTS)
		v->hist_ns[slot]++;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(futex_exit, struct pt_regs *regs, long ret)
{
	struct futexes_key key = { .interval = metric_interval };
	struct task_struct *t = (void *)bpf_get_current_task_btf();
	struct futexes_value *v;
	struct wait_now *now;
	__u64 took_ns;

	if (regs->orig_rax != FUTEX_CALL)
		return 0;
	now = bpf_task_storage_get(&futex_now, t, 0, 0);
	if (!now || !now->since_ns)
		return 0;
	took_ns = bpf_ktime_get_ns() - now->since_ns;
	now->since_ns = 0;
	if (!is_wait(now->op) && now->op != FUTEX_OP_WAKE && now->op != FUTEX_OP_WAKE_BITSET)
		return 0;
	key.pid = t->tgid;
	key.address = now->address;
	v = METRIC_ENTRY(&table_futexes, &key, struct futexes_value);
	if (!v)
		return 0;
	if (!v->comm[0]) {
		bpf_get_current_comm(v->comm, sizeof(v->comm));
		v->cgroup = bpf_get_current_cgroup_id();
	}
	count_futex(now, v, took_ns, ret);
	if (slower_ns && took_ns >= slower_ns && is_wait(now->op))
		send_slow(ctx, now->address, now->op, true, took_ns);
	return 0;
}

/* ---- locks of the kernel ---- */

SEC("tp_btf/contention_begin")
int BPF_PROG(lock_begin, void *lock, unsigned int kind)
{
	struct lock_now_key key = { .pid_tgid = bpf_get_current_pid_tgid(), .lock = (__u64)lock };
	struct lock_now now = { .kind = kind };

	if (!is_target(key.pid_tgid >> 32))
		return 0;
	now.since_ns = bpf_ktime_get_ns();
	if (bpf_map_update_elem(&lock_now, &key, &now, BPF_NOEXIST) == -7) /* E2BIG: full */
		count_lost(EBPREC_EV_METRIC);
	return 0;
}

SEC("tp_btf/contention_end")
int BPF_PROG(lock_end, void *lock, int error)
{
	struct lock_now_key now_key = { .pid_tgid = bpf_get_current_pid_tgid(),
					.lock = (__u64)lock };
	struct lock_now *now = bpf_map_lookup_elem(&lock_now, &now_key), was;
	struct locks_key key = { .interval = metric_interval };
	struct locks_value *v;
	__u64 took_ns;
	__u32 slot;

	if (!now)
		return 0;
	was = *now;
	bpf_map_delete_elem(&lock_now, &now_key);
	took_ns = bpf_ktime_get_ns() - was.since_ns;
	key.pid = now_key.pid_tgid >> 32;
	key.kind = was.kind;
	v = METRIC_ENTRY(&table_locks, &key, struct locks_value);
	if (!v)
		return 0;
	if (!v->comm[0]) {
		bpf_get_current_comm(v->comm, sizeof(v->comm));
		v->cgroup = bpf_get_current_cgroup_id();
	}
	ADD(v->count, 1);
	ADD(v->total_ns, took_ns);
	if (took_ns > v->max_ns)
		v->max_ns = took_ns;
	slot = log2_slot(took_ns);
	if (slot < METRIC_SLOTS)
		ADD(v->hist_ns[slot], 1);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
