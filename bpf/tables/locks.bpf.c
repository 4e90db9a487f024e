// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
/*
 * locks - waiting for each other: futexes of programs, locks of the kernel
 *
 * Futex waits are the system call: from entry to return, by the address that is waited at.  The
 * holder is the thread that woke the waiter by a futex call of its own or by its end; for futexes
 * with priority inheritance also the thread whose id is in the futex.  Kernel locks are
 * lock:contention_begin and contention_end: they report waits, not holders.
 */
#include "bpf/lib/task.bpf.h"
#include "bpf/lib/table.bpf.h"

enum futex_call { /* x86-64 */
		  FUTEX_CALL = 202,
};

enum futex_op { /* include/uapi/linux/futex.h */
		FUTEX_OP_WAIT = 0,
		FUTEX_OP_WAKE = 1,
		FUTEX_OP_LOCK_PI = 6,
		FUTEX_OP_WAIT_BITSET = 9,
		FUTEX_OP_WAKE_BITSET = 10,
		FUTEX_OP_LOCK_PI2 = 13,
		FUTEX_OP_MASK = 127,
};

enum { FUTEX_OWNER = 0x3fffffff /* in a futex with priority inheritance */ };

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

/* The process that a process waited for. */
struct futex_holders_key {
	__u32 interval, pid;
	__u64 address;
	__u32 holder, pad; /* a thread, which need not be of the same process */
};

struct futex_holders_value {
	char comm[16], holder_comm[16];
	__u64 cgroup;
	__u64 waits, total_ns, max_ns;
};

METRIC_TABLE(futex_holders, struct futex_holders_key, struct futex_holders_value);

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
	char holder_comm[16];
	__u32 holder, pad; /* 0: not known */
};

METRIC_EVENT(0, locks_slow);

/* A thread that released one that had waited long: the sample and its stack are the holder's. */
struct locks_holders {
	char comm[16], waiter_comm[16];
	__u64 address, took_ns;
	__u32 waiter, pad;
};

METRIC_EVENT(1, locks_holders);

struct wait_now {
	__u64 since_ns, address; /* since_ns 0: in no futex call */
	__u32 op, holder;        /* holder: 0: not known */
	char holder_comm[16];
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

/* was: NULL: a lock of the kernel. */
static __always_inline void send_slow(void *ctx, __u64 address, __u32 kind,
				      const struct wait_now *was, __u64 took_ns)
{
	struct metric_event *ev = event_begin(0, sizeof(struct locks_slow));
	struct locks_slow *row;

	if (!ev)
		return;
	row = (void *)ev->row;
	bpf_get_current_comm(row->comm, sizeof(row->comm));
	row->address = address;
	row->kind = kind;
	row->is_futex = was != 0;
	if (was) {
		row->holder = was->holder;
		__builtin_memcpy(row->holder_comm, was->holder_comm, sizeof(row->holder_comm));
	}
	row->took_ns = ev->weight = took_ns;
	event_send(ev, event_stacks(ctx, ev));
}

/* ---- futexes ---- */

static __always_inline bool is_pi(__u32 op)
{
	return op == FUTEX_OP_LOCK_PI || op == FUTEX_OP_LOCK_PI2;
}

static __always_inline bool is_wait(__u32 op)
{
	return op == FUTEX_OP_WAIT || op == FUTEX_OP_WAIT_BITSET || is_pi(op);
}

SEC("tp_btf/sys_enter")
int BPF_PROG(futex_enter, struct pt_regs *regs, long nr)
{
	struct task_struct *t;
	struct wait_now *now;
	__u32 word;

	if (nr != FUTEX_CALL)
		return 0;
	t = (void *)bpf_get_current_task_btf();
	if (t->thread_info.status & THREAD_COMPAT || !is_target_task(t))
		return 0;
	now = bpf_task_storage_get(&futex_now, t, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!now) {
		count_lost(EBPREC_EV_METRIC);
		return 0;
	}
	now->address = regs->rdi;
	now->op = regs->rsi & FUTEX_OP_MASK;
	now->holder = 0;
	__builtin_memset(now->holder_comm, 0, sizeof(now->holder_comm));
	if (is_pi(now->op) && !bpf_probe_read_user(&word, sizeof(word), (void *)now->address))
		now->holder = word & FUTEX_OWNER;
	now->since_ns = bpf_ktime_get_ns();
	return 0;
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

static __always_inline void send_holder(void *ctx, const struct wait_now *wait,
					struct task_struct *waiter, __u64 took_ns)
{
	struct metric_event *ev = event_begin(1, sizeof(struct locks_holders));
	struct locks_holders *row;

	if (!ev)
		return;
	row = (void *)ev->row;
	bpf_get_current_comm(row->comm, sizeof(row->comm));
	bpf_probe_read_kernel_str(row->waiter_comm, sizeof(row->waiter_comm), waiter->comm);
	row->address = wait->address;
	row->waiter = task_ids(waiter);
	row->took_ns = ev->weight = took_ns;
	event_send(ev, event_stacks(ctx, ev));
}

/* A timer or a signal ends a wait, too, but holds no futex. */
static __always_inline bool is_release(void *ctx)
{
	struct task_struct *t = (void *)bpf_get_current_task_btf();
	struct wait_now *own;

	if (in_interrupt(ctx))
		return false;
	if (t->flags & TASK_EXITING)
		return true;
	own = bpf_task_storage_get(&futex_now, t, 0, 0);
	return own && own->since_ns && !is_wait(own->op);
}

SEC("tp_btf/sched_waking")
int BPF_PROG(futex_waking, struct task_struct *waiter)
{
	struct wait_now *wait = bpf_task_storage_get(&futex_now, waiter, 0, 0);
	__u64 took_ns;

	if (!wait || !wait->since_ns || !is_wait(wait->op) || !is_release(ctx))
		return 0;
	wait->holder = current_ids();
	bpf_get_current_comm(wait->holder_comm, sizeof(wait->holder_comm));
	took_ns = bpf_ktime_get_ns() - wait->since_ns;
	if (slower_ns && took_ns >= slower_ns)
		send_holder(ctx, wait, waiter, took_ns);
	return 0;
}

static __always_inline void count_holder(struct task_struct *t, const struct wait_now *was,
					 __u64 took_ns)
{
	struct futex_holders_key key = {
		.interval = metric_interval,
		.pid = task_ids(t) >> 32,
		.address = was->address,
		.holder = was->holder,
	};
	struct futex_holders_value *v;

	v = METRIC_ENTRY(&table_futex_holders, &key, struct futex_holders_value);
	if (!v)
		return;
	if (!v->comm[0]) {
		bpf_get_current_comm(v->comm, sizeof(v->comm));
		v->cgroup = bpf_get_current_cgroup_id();
	}
	if (was->holder_comm[0])
		__builtin_memcpy(v->holder_comm, was->holder_comm, sizeof(v->holder_comm));
	ADD(v->waits, 1);
	ADD(v->total_ns, took_ns);
	if (took_ns > v->max_ns)
		v->max_ns = took_ns;
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
	key.pid = task_ids(t) >> 32;
	key.address = now->address;
	v = METRIC_ENTRY(&table_futexes, &key, struct futexes_value);
	if (!v)
		return 0;
	if (!v->comm[0]) {
		bpf_get_current_comm(v->comm, sizeof(v->comm));
		v->cgroup = bpf_get_current_cgroup_id();
	}
	count_futex(now, v, took_ns, ret);
	if (!is_wait(now->op))
		return 0;
	/* When a wait was given up, only the id in the futex itself is certain. */
	if (now->holder && (!ret || is_pi(now->op)))
		count_holder(t, now, took_ns);
	if (slower_ns && took_ns >= slower_ns)
		send_slow(ctx, now->address, now->op, now, took_ns);
	return 0;
}

/* ---- locks of the kernel ---- */

SEC("tp_btf/contention_begin")
int BPF_PROG(lock_begin, void *lock, unsigned int kind)
{
	struct lock_now_key key = { .pid_tgid = bpf_get_current_pid_tgid(), .lock = (__u64)lock };
	struct lock_now now = { .kind = kind };

	if (!is_target_current())
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
	key.pid = current_ids() >> 32;
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
	if (slower_ns && took_ns >= slower_ns)
		send_slow(ctx, now_key.lock, was.kind, 0, took_ns);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
