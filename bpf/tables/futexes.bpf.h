/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * futexes - waiting for each other in user space, as far as the kernel is called for it
 *
 * A wait is the system call: from entry to return, by the address that is waited at.  The
 * holder is the thread that woke the waiter by a futex call of its own or by its end; for futexes
 * with priority inheritance also the thread whose id is in the futex.
 *
 * A release is a call while the word of the futex shows a waiter.  An acquisition is one only where the new holder
 * had to wait; for the others, the first wait that began since the last release shows that the lock was held by then.
 *
 * A part of locks.bpf.c, which has send_slow() before it.
 */
#ifndef EBPREC_BPF_TABLES_FUTEXES_H
#define EBPREC_BPF_TABLES_FUTEXES_H

enum futex_op { /* include/uapi/linux/futex.h */
		FUTEX_OP_WAIT = 0,
		FUTEX_OP_WAKE = 1,
		FUTEX_OP_LOCK_PI = 6,
		FUTEX_OP_UNLOCK_PI = 7,
		FUTEX_OP_WAIT_BITSET = 9,
		FUTEX_OP_WAKE_BITSET = 10,
		FUTEX_OP_LOCK_PI2 = 13,
		FUTEX_OP_MASK = 127,
};

enum {
	FUTEX_OWNER = 0x3fffffff /* in a futex with priority inheritance */,
	FUTEX_WAITED_FOR = 0x80000000 /* FUTEX_WAITERS */
};

/* The kind of the futex's word, by the value that waits expect in it. */
enum futex_word {
	WORD_OTHER,   /* a condition variable, a semaphore, the id of a thread that is joined... */
	WORD_COUNTED, /* a lock: 0 free, 1 taken, 2 taken and waited for, or by a waiter */
	WORD_OWNED,   /* a lock with its owner's id, and a bit while others wait */
};

/* The memory that the futex is in, as in analyze/names/data_names.h. */
enum map_kind {
	MAP_UNKNOWN,
	MAP_FILE,
	MAP_HEAP,
	MAP_STACK,
	MAP_THREAD_STACK,
	MAP_ANONYMOUS,
};

enum {
	CODE_FRAMES = 8 /* enough to leave the C library, and what wraps its locks */,
	CODE_CALLS = 8
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
	__u64 thread_ends; /* waits that ended with the thread that was waited for */
	__u64 total_ns, max_ns;
	__u64 now_waiting, now_waiting_ns; /* threads whose wait has not ended */
	__u64 is_map_start, is_map_offset; /* where the mapping begins, and in its file */
	__u32 is_map, is_map_tid;          /* is_map: enum map_kind; is_map_tid: whose stack */
	char map_name[32];                 /* of the file, without its folder */
	__u64 is_code
		[CODE_FRAMES]; /* where a thread waited: its stack, the caller behind the called */
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
	/*
	 * Releases of a lock by calls; how many of these had a visible acquisition, how many that or a
	 * first waiter; and the time from there to the release.
	 */
	__u64 releases, seen_taken, seen_held;
	__u64 held_ns, max_held_ns;
	__u64 is_code[CODE_FRAMES]; /* where the holder was when it released the futex, as above */
};

METRIC_TABLE(futex_holders, struct futex_holders_key, struct futex_holders_value);

/* A thread that released one that had waited long: the sample and its stack are the holder's. */
struct locks_holders {
	char comm[16], waiter_comm[16];
	__u64 address, took_ns;
	__u32 waiter, pad;
};

METRIC_EVENT(1, locks_holders);

enum {
	TAKEN_MOST = 4
}; /* locks that a thread waited for and holds: the last ones are remembered */

struct taken {
	__u64 address, since_ns; /* since_ns 0: none */
	__u32 before, pad;       /* that held it for most of the thread's own wait; 0: not known */
	char before_comm[16];
};

struct wait_now {
	__u64 since_ns, address; /* since_ns 0: in no futex call */
	__u32 op, holder;        /* holder: 0: not known */
	char holder_comm[16];
	__u32 word, next_taken; /* word: enum futex_word */
	__u32 by_exit, pad;     /* by_exit: its holder has ended */
	struct taken taken[TAKEN_MOST];
	struct taken released; /* by the call; since_ns 0: not known */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct wait_now);
} futex_now SEC(".maps");

struct futex_key {
	__u64 pid, address;
};

struct futex_state {
	__u64 since_ns; /* the first wait since the last release; 0: none */
	__u32 word;
	__u32 is_mixed; /* waits expect now this, now that: it is no lock */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct futex_key);
	__type(value, struct futex_state);
} futex_states SEC(".maps");

/* ---- where the program waits and releases ---- */

/*
 * The user stack of the current thread, as far as it fits.  A walk costs more than all else here, so that only the
 * first calls of a row have one: a program that has just begun cannot be unwound, and its first stacks are short.
 * Where two threads write at once, each frame is one of theirs.
 */
static __always_inline void find_code(__u64 *code)
{
	struct walk_state *w;

	w = walk_current();
	if (!w || !w->n || (w->n < CODE_FRAMES && code[w->n]))
		return;
	for (__u32 i = 0; i < CODE_FRAMES; i++)
		code[i] = i < w->n ? w->frames[i] : 0;
}

static __always_inline bool wants_code(const __u64 *code, __u64 calls)
{
	return calls <= CODE_CALLS && !code[CODE_FRAMES - 1];
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

/* ---- how long they are held ---- */

static __always_inline __u32 word_of(__u32 op, __u32 expected)
{
	if (is_pi(op) || expected & FUTEX_WAITED_FOR)
		return WORD_OWNED;
	return expected == 2 ? WORD_COUNTED : WORD_OTHER;
}

/* When the thread took the lock, which it holds no more; 0: not seen. */
static __always_inline __u64 forget_taken(struct wait_now *own, __u64 address)
{
	__u64 since_ns;

	for (int i = 0; i < TAKEN_MOST; i++) {
		if (own->taken[i].address != address || !own->taken[i].since_ns)
			continue;
		since_ns = own->taken[i].since_ns;
		own->released = own->taken[i];
		own->taken[i].since_ns = 0;
		return since_ns;
	}
	return 0;
}

static __always_inline void remember_taken(struct wait_now *own, __u64 now_ns)
{
	__u32 i = own->next_taken++ % TAKEN_MOST;

	own->taken[i].address = own->address;
	own->taken[i].since_ns = now_ns;
	own->taken[i].before = own->holder;
	__builtin_memcpy(own->taken[i].before_comm, own->holder_comm, sizeof(own->holder_comm));
}

static __always_inline void begin_wait(struct wait_now *own, __u32 pid, __u64 now_ns)
{
	struct futex_key key = { pid, own->address };
	struct futex_state *s = bpf_map_lookup_elem(&futex_states, &key), fresh = { 0 };

	forget_taken(own, own->address);
	if (!s && own->word == WORD_OTHER)
		return;
	if (!s) {
		fresh.since_ns = now_ns;
		fresh.word = own->word;
		bpf_map_update_elem(&futex_states, &key, &fresh, BPF_NOEXIST);
		return;
	}
	if (s->word != own->word)
		s->is_mixed = 1;
	if (!s->since_ns)
		s->since_ns = now_ns;
}

/* The word had changed: it is not certain that the lock was held when the wait began. */
static __always_inline void undo_wait(const struct wait_now *own, __u32 pid, __u64 since_ns)
{
	struct futex_key key = { pid, own->address };
	struct futex_state *s = bpf_map_lookup_elem(&futex_states, &key);

	if (s && s->since_ns == since_ns)
		s->since_ns = 0;
}

/* The waiter for a counted lock looks at the word again, and has the lock unless it waits again. */
static __always_inline void end_wait(struct wait_now *own, __u32 pid, __u64 since_ns, __u64 took_ns,
				     long ret)
{
	if (ret == -11) /* EAGAIN */
		undo_wait(own, pid, since_ns);
	if (own->word != WORD_OTHER && (!ret || (ret == -11 && own->word == WORD_COUNTED)))
		remember_taken(own, since_ns + took_ns);
}

static __always_inline void count_held(__u64 pid_tgid, __u64 address, __u64 taken_ns,
				       __u64 since_ns, __u64 now_ns)
{
	struct futex_holders_key key = {
		.interval = metric_interval,
		.pid = pid_tgid >> 32,
		.address = address,
		.holder = pid_tgid,
	};
	struct futex_holders_value *v;

	v = METRIC_ENTRY(&table_futex_holders, &key, struct futex_holders_value);
	if (!v)
		return;
	if (!v->comm[0]) {
		bpf_get_current_comm(v->comm, sizeof(v->comm));
		v->cgroup = bpf_get_current_cgroup_id();
	}
	if (!v->holder_comm[0])
		bpf_get_current_comm(v->holder_comm, sizeof(v->holder_comm));
	ADD(v->releases, 1);
	if (taken_ns)
		ADD(v->seen_taken, 1);
	else
		taken_ns = since_ns;
	if (!taken_ns)
		return;
	ADD(v->seen_held, 1);
	ADD(v->held_ns, now_ns - taken_ns);
	if (now_ns - taken_ns > v->max_held_ns)
		v->max_held_ns = now_ns - taken_ns;
}

/*
 * A thread that had to wait for a counted lock releases it by a call even when no other waits by then,
 * so the time between is the time that it was held.  A lock with its owner's id may have been released
 * and acquired again without a call, unless others waited all the time.
 */
static __always_inline void end_hold(struct wait_now *own, __u64 pid_tgid, __u64 now_ns)
{
	struct futex_key key = { pid_tgid >> 32, own->address };
	struct futex_state *s = bpf_map_lookup_elem(&futex_states, &key);
	__u64 taken_ns = forget_taken(own, own->address), since_ns;
	__u32 word;

	if (!s || s->is_mixed)
		return;
	since_ns = s->since_ns;
	s->since_ns = 0;
	if (s->word == WORD_COUNTED) {
		if (bpf_probe_read_user(&word, sizeof(word), (void *)own->address))
			return;
		if (word > 2) {
			s->is_mixed = 1;
			return;
		}
	} else if (since_ns) {
		taken_ns = 0;
	}
	count_held(pid_tgid, own->address, taken_ns, since_ns, now_ns);
}

static __always_inline bool is_lock_release(__u32 op)
{
	return op == FUTEX_OP_WAKE || op == FUTEX_OP_WAKE_BITSET || op == FUTEX_OP_UNLOCK_PI;
}

/* There is a row where the thread is known to have held the futex, or has woken others there. */
static __always_inline void note_release(__u64 pid_tgid, __u64 address)
{
	struct futex_holders_key key = {
		.interval = metric_interval,
		.pid = pid_tgid >> 32,
		.address = address,
		.holder = pid_tgid,
	};
	struct futex_holders_value *v = bpf_map_lookup_elem(&table_futex_holders, &key);

	if (v && wants_code(v->is_code, v->releases))
		find_code(v->is_code);
}

SEC("tp_btf/sys_enter")
int BPF_PROG(futex_enter, saved_regs *regs, long nr)
{
	struct task_struct *t;
	struct wait_now *now;
	__u64 now_ns;
	__u32 word;

	if (nr != __NR_futex)
		return 0;
	t = (void *)bpf_get_current_task_btf();
	if (is_compat(t) || !is_target_task(t))
		return 0;
	now = bpf_task_storage_get(&futex_now, t, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!now) {
		count_lost(EBPREC_EV_METRIC);
		return 0;
	}
	now->address = call_arg(regs, 0);
	now->op = call_arg(regs, 1) & FUTEX_OP_MASK;
	now->holder = 0;
	now->by_exit = 0;
	now->released.since_ns = 0;
	__builtin_memset(now->holder_comm, 0, sizeof(now->holder_comm));
	if (is_pi(now->op) && !bpf_probe_read_user(&word, sizeof(word), (void *)now->address))
		now->holder = word & FUTEX_OWNER;
	now_ns = bpf_ktime_get_ns();
	if (is_wait(now->op)) {
		now->word = word_of(now->op, call_arg(regs, 2));
		begin_wait(now, task_ids(t) >> 32, now_ns);
	} else if (is_lock_release(now->op)) {
		end_hold(now, task_ids(t), now_ns);
		note_release(task_ids(t), now->address);
	}
	now->since_ns = now_ns;
	return 0;
}

/* ---- where they are ---- */

struct map_search {
	__u64 address, stack_pointer, thread;
	__u64 start, offset; /* found: is_map_start, is_map_offset */
	__u32 kind, pad;
	char name[32];
};

/*
 * The C libraries for Linux put the block of a thread to the end of its stack.  Other stacks, as Go's,
 * lie in memory that has other uses, too.
 */
static __always_inline bool is_own_stack(const struct map_search *m, __u64 start, __u64 end)
{
	return m->stack_pointer >= start && m->address >= m->stack_pointer &&
	       m->thread >= m->stack_pointer && m->thread < end && end - m->thread < 4096;
}

static long take_map(struct task_struct *t, struct vm_area_struct *vma, struct map_search *m)
{
	__u64 start = vma->vm_start, end = vma->vm_end;
	struct mm_struct *mm = vma->vm_mm;
	struct file *file = vma->vm_file;

	m->start = start;
	if (file) {
		m->offset = (__u64)vma->vm_pgoff << page_bits;
		bpf_probe_read_kernel_str(m->name, sizeof(m->name),
					  BPF_CORE_READ(file, f_path.dentry, d_name.name));
		m->kind = MAP_FILE;
	} else if (start < BPF_CORE_READ(mm, brk) && end > BPF_CORE_READ(mm, start_brk)) {
		m->kind = MAP_HEAP;
	} else if (start <= BPF_CORE_READ(mm, start_stack) &&
		   end >= BPF_CORE_READ(mm, start_stack)) {
		m->kind = MAP_STACK;
	} else {
		m->kind = is_own_stack(m, start, end) ? MAP_THREAD_STACK : MAP_ANONYMOUS;
	}
	return 0;
}

/*
 * A mapping that cannot be had because some are being changed is asked for again at the next call, and so is
 * one that may be the stack of the thread that calls.
 */
static __always_inline void find_map(struct task_struct *t, const saved_regs *regs, __u64 address,
				     struct futexes_value *v)
{
	struct map_search m = { .address = address, .stack_pointer = PT_REGS_SP(regs) };

	if (v->is_map && (v->is_map != MAP_ANONYMOUS || address < m.stack_pointer ||
			  v->is_map_start > m.stack_pointer))
		return;
	m.thread = thread_pointer(t);
	if (bpf_find_vma(t, address, take_map, &m, 0))
		return;
	v->is_map_start = m.start;
	v->is_map_offset = m.offset;
	v->is_map_tid = m.kind == MAP_THREAD_STACK ? task_ids(t) : 0;
	v->is_map = m.kind;
	__builtin_memcpy(v->map_name, m.name, sizeof(v->map_name));
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
	v->thread_ends += was->by_exit;
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

/*
 * The current thread, which releases the lock, or the one that held it for more of the wait: threads that queue
 * behind a long hold each release it to the next one, and hold it for microseconds themselves.
 */
static __always_inline void find_holder(struct wait_now *wait, __u64 now_ns)
{
	struct task_struct *t = (void *)bpf_get_current_task_btf();
	struct wait_now *own = bpf_task_storage_get(&futex_now, t, 0, 0);

	wait->holder = current_ids();
	wait->by_exit = (t->flags & TASK_EXITING) != 0;
	bpf_get_current_comm(wait->holder_comm, sizeof(wait->holder_comm));
	if (!own || wait->by_exit || !own->released.before ||
	    own->released.address != wait->address || own->released.since_ns <= wait->since_ns ||
	    own->released.since_ns - wait->since_ns <= now_ns - own->released.since_ns)
		return;
	wait->holder = own->released.before;
	__builtin_memcpy(wait->holder_comm, own->released.before_comm, sizeof(wait->holder_comm));
}

SEC("tp_btf/sched_waking")
int BPF_PROG(futex_waking, struct task_struct *waiter)
{
	struct wait_now *wait = bpf_task_storage_get(&futex_now, waiter, 0, 0);
	__u64 now_ns, took_ns;

	if (!wait || !wait->since_ns || !is_wait(wait->op) || !is_release(ctx))
		return 0;
	now_ns = bpf_ktime_get_ns();
	find_holder(wait, now_ns);
	took_ns = now_ns - wait->since_ns;
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
int BPF_PROG(futex_exit, saved_regs *regs, long ret)
{
	struct futexes_key key = { .interval = metric_interval };
	struct task_struct *t = (void *)bpf_get_current_task_btf();
	struct futexes_value *v;
	struct wait_now *now;
	__u64 took_ns, was_ns;

	if (call_number(regs) != __NR_futex)
		return 0;
	now = bpf_task_storage_get(&futex_now, t, 0, 0);
	if (!now || !now->since_ns)
		return 0;
	took_ns = bpf_ktime_get_ns() - now->since_ns;
	was_ns = now->since_ns;
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
	find_map(t, regs, now->address, v);
	count_futex(now, v, took_ns, ret);
	if (!is_wait(now->op))
		return 0;
	if (wants_code(v->is_code, v->waits))
		find_code(v->is_code);
	end_wait(now, key.pid, was_ns, took_ns, ret);
	/* When a wait was given up, only the id in the futex itself is certain. */
	if (now->holder && (!ret || is_pi(now->op)))
		count_holder(t, now, took_ns);
	if (slower_ns && took_ns >= slower_ns)
		send_slow(ctx, now->address, now->op, true, now->holder, now->holder_comm, took_ns);
	return 0;
}

/*
 * Waits that have not ended.  For threads that have waited since before the recording the call comes from the
 * registers; the time is the recorded part.
 */
static __always_inline bool is_waiting(struct task_struct *t, const saved_regs *regs,
				       __u64 *address, __u64 *since_ns)
{
	struct wait_now *now = bpf_task_storage_get(&futex_now, t, 0, 0);
	__u64 nr, op;

	if (now) {
		*address = now->address;
		*since_ns = now->since_ns;
		return now->since_ns && is_wait(now->op);
	}
	if (!t->__state || is_compat(t) || !read_call(regs, &nr, address, &op) || nr != __NR_futex)
		return false;
	*since_ns = metric_start_ns;
	return is_wait(op & FUTEX_OP_MASK);
}

SEC("iter/task")
int futex_waiting(struct bpf_iter__task *ctx)
{
	struct futexes_key key = { .interval = metric_interval };
	__u64 now_ns = bpf_ktime_get_ns(), since_ns, address;
	struct task_struct *t = ctx->task;
	struct futexes_value *v;
	saved_regs *regs;

	if (!t || t->flags & (TASK_KERNEL | TASK_EXITING) || !is_target_task(t))
		return 0;
	regs = (void *)bpf_task_pt_regs(t);
	if (!is_waiting(t, regs, &address, &since_ns))
		return 0;
	key.pid = task_ids(t) >> 32;
	key.address = address;
	v = METRIC_ENTRY(&table_futexes, &key, struct futexes_value);
	if (!v)
		return 0;
	if (!v->comm[0])
		bpf_probe_read_kernel(v->comm, sizeof(v->comm), t->comm);
	find_map(t, regs, address, v);
	v->now_waiting++;
	v->now_waiting_ns += now_ns > since_ns ? now_ns - since_ns : 0;
	return 0;
}

#endif
