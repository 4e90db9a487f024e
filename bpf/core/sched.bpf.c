// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
/*
 * sched - when each thread runs, waits for a CPU, or waits for something else
 *
 * Every switch, wakeup, migration, fork and exit, with the fields of the tracepoints sched:*; user
 * space builds their bytes, so that no tracepoint buffer is needed here.  A switch also has the
 * system call in which the thread leaves the CPU.
 *
 * Some switches carry the stack of the thread that leaves.  Taking one costs more than all the
 * rest, so the programs measure what stacks cost and take as many as stack_ns_a_second allows on
 * each CPU: every switch has the same chance, which is adjusted ADJUST_NS apart, and the stack has
 * the number of switches it stands for.  But a thread whose last stack in about that system call is
 * RARE_NS ago gets one anyway (standing for itself alone), so that threads that wait seldom and
 * long are seen; half of the time for stacks is reserved for these.  The choice never depends on
 * what happens after it, so sums of weights are right on average.  Where a wait has a stack, its
 * waker gets one, too.
 *
 * The waker is known at sched_waking, in its own context; the thread is runnable at sched_wakeup,
 * maybe on another CPU and in an interrupt.  In between the waker is stored under the thread's id.
 *
 * Cost, measured on a 2-core VM (6.18): see docs/OVERHEAD.md.
 */
#define LEFT_OUT_EVENT EBPREC_EV_TASK
#include "bpf/lib/common.bpf.h" /* first: <linux/bpf.h> and the helpers */

#define COPY_BUFFER_BYTES SWITCH_COPY_BYTES
#define WALK_STEPS_JVM
#include "bpf/lib/stack_copy.bpf.h"
#include "bpf/lib/stacks.bpf.h"
#include "bpf/runtime/runtimes.bpf.h"

/* The time that stacks may take; 0: none is taken.  User space changes it as it runs. */
volatile __u32 stack_ns_a_second = 0;
/* A thread that waited as long for a CPU is reported when it runs; 0: none is. */
const volatile __u64 late_ns = 0;

#define ADJUST_NS     5000000ULL
#define RARE_NS       100000000ULL
#define RARE_BURST_NS 50000000ULL /* the unused time for rare waits accumulates up to this */
#define CHANCE_ONE    (1u << 20)
#define CHANCE_LEAST  (1u << 6) /* one of 16384 */

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stack_budget);
} stack_budgets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct switch_copy_event);
} scratch SEC(".maps"); /* too large for the stack; a switch never interrupts a switch */

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct waker_event);
} waker_scratch SEC(".maps"); /* interrupts are off at sched_waking */

/*
 * The state of a thread, by its id.  When the ids of two threads share a slot, the thread that was
 * seen last owns it: then a stack too many is taken, or a waker is mistaken for an interrupt.  The
 * lookup costs a third of that of task storage.
 */
#define THREAD_SLOTS 65536

struct thread_facts {
	__u32 tid;            /* the owner */
	__u32 by_pid, by_tid; /* its waker */
	__u8 irq;             /* enum task_irq */
	__u8 woken;           /* by_* are of the wakeup that is under way */
	__u8 has_stack;       /* its wait has one, so its waker gets one */
	__u8 pad;
	__u64 ready_ns; /* it waits for a CPU since then, where late_ns asks; 0: it does not */
	__u32 stack_ticks[8]; /* when its last stack was taken, by system call modulo 8; 1.05 ms */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, THREAD_SLOTS);
	__type(key, __u32);
	__type(value, struct thread_facts);
} threads SEC(".maps");

#define TICK_SHIFT 20
#define RARE_TICKS (RARE_NS >> TICK_SHIFT)

/* The slot of a thread; make: it is to be its own.  NULL: it is another's. */
static __always_inline struct thread_facts *facts_of(__u32 tid, bool make)
{
	__u32 slot = tid & (THREAD_SLOTS - 1);
	struct thread_facts *f = bpf_map_lookup_elem(&threads, &slot);

	if (!f || f->tid == tid)
		return f;
	if (!make)
		return NULL;
	__builtin_memset(f, 0, sizeof(*f));
	f->tid = tid;
	return f;
}

static __always_inline __u32 syscall_of(struct task_struct *t)
{
	__u64 number;

	if (t->flags & TASK_KERNEL)
		return 0;
	number = call_number((void *)bpf_task_pt_regs((void *)t));
	return number < 0xffff ? number + 1 : 0;
}

/*
 * Whether an interrupt runs on top of the current thread.  The kernel's own count is a variable
 * whose address not every kernel exports, so it is derived: the idle thread wakes no thread itself,
 * interrupts of kernel code run on another stack, and those of user code leave no system call
 * number (nor does a page fault, which is mistaken for one).
 */
static __always_inline __u32 irq_here(void *ctx)
{
	struct task_struct *t = (void *)bpf_get_current_task_btf();
	/* The verifier lets only the difference of two pointers become a number. */
	__u64 here = (__u64)ctx - (__u64)t;

	barrier_var(here);
	here += bpf_get_current_task();
	if (!t->pid || here - (__u64)t->stack > THREAD_STACK_MOST)
		return TASK_HARDIRQ;
	if (t->flags & (TASK_KERNEL | TASK_EXITING) || syscall_of(t))
		return 0;
	return TASK_HARDIRQ;
}

/* ---- stacks ---- */

static __always_inline void adjust(struct stack_budget *b, __u64 now_ns)
{
	__u64 passed_ns = now_ns - b->since_ns, allowed_ns, chance = b->chance;

	if (!chance) {
		b->chance = CHANCE_ONE;
		b->since_ns = now_ns;
		return;
	}
	if (passed_ns < ADJUST_NS)
		return;
	if (passed_ns > 1000000000)
		passed_ns = 1000000000;
	allowed_ns = passed_ns * stack_ns_a_second / 2000000000 +
		     1; /* the other half is for the rare */
	if (b->cost_ns <= allowed_ns / 2)
		chance *= 2;
	else
		chance = chance * allowed_ns / b->cost_ns;
	if (chance > CHANCE_ONE)
		chance = CHANCE_ONE;
	if (chance < CHANCE_LEAST)
		chance = CHANCE_LEAST;
	b->chance = chance;
	b->since_ns = now_ns;
	b->cost_ns = 0;
	b->rare_ns -= b->rare_ns < allowed_ns ? b->rare_ns : allowed_ns; /* leaks */
}

/* How many switches the stack of this one would stand for; 0: it is not taken. */
static __always_inline __u32 choose(struct stack_budget *b, __u32 tid, __u32 syscall, __u64 now_ns,
				    bool *rare)
{
	struct thread_facts *f = facts_of(tid, true);
	__u32 slot = syscall & 7, now_ticks = now_ns >> TICK_SHIFT;

	adjust(b, now_ns);
	if (!f)
		return 0;
	f->has_stack = 1;
	if (now_ticks - f->stack_ticks[slot] > RARE_TICKS &&
	    b->rare_ns < RARE_BURST_NS * stack_ns_a_second / 2000000000) {
		f->stack_ticks[slot] = now_ticks;
		*rare = true;
		return 1;
	}
	if (b->chance < CHANCE_ONE && (bpf_get_prandom_u32() & (CHANCE_ONE - 1)) >= b->chance) {
		f->has_stack = 0;
		return 0;
	}
	f->stack_ticks[slot] = now_ticks;
	return CHANCE_ONE / b->chance;
}

static __always_inline __u8 *copy_buffer(void)
{
	__u32 zero = 0;
	struct switch_copy_event *ev = bpf_map_lookup_elem(&scratch, &zero);

	return ev ? ev->stack : NULL;
}

/* Sends the switch with a copy of its user stack.  False: it has to be sent without. */
static __always_inline bool send_copy(void *ring, struct switch_copy_event *ev,
				      const struct walk_state *w, struct runtime_state *words)
{
	__u64 size_bytes; /* 64 bits: the bound must survive clang's shifting */
	__u32 want = copy_room(ring);

	if (!want || !copy_take_token())
		return false;
	__builtin_memcpy(ev->regs, w->gprs, sizeof(ev->regs));
	if (!copy_stack(w->gprs[SP_REGNO], want, &ev->stack_addr, &ev->stack_bytes))
		return false;
	ev->pad = 0;
	size_bytes = SWITCH_COPY_HEAD_BYTES +
		     runtimes_add_copy(ev->stack, ev->stack_bytes, sizeof(ev->stack), words);
	ev->sw.h.type = EBPREC_EV_SWITCH_COPY;
	ev->sw.h.size_bytes = size_bytes;
	barrier_var(size_bytes);
	if (size_bytes <= sizeof(*ev) &&
	    !bpf_ringbuf_output(ring, ev, size_bytes, wake_flags(ring)))
		return true;
	ev->sw.h.type = EBPREC_EV_SWITCH;
	return false;
}

/*
 * Adds the stacks and sends the event.  False: there was no room.  The words of an interpreter may go on in what
 * is a copy's room.
 */
static __always_inline bool send_with_stack(void *ctx, void *ring, struct switch_copy_event *copy,
					    __u64 *cost_ns)
{
	struct switch_event *ev = &copy->sw;
	struct walk_state *w = walk_current();
	__u64 size_bytes, frames = stack_take(ctx, &ev->stack, w);
	struct runtime_state *words = w && w->n ? runtimes_take(w) : NULL;

	if (!(w && copy_helps(w) && send_copy(ring, copy, w, words))) {
		frames += runtimes_add(&ev->stack, frames, words);
		size_bytes = EVENT_HEAD_BYTES(switch_event) + frames * sizeof(__u64);
		ev->h.size_bytes = size_bytes;
		barrier_var(size_bytes);
		if (size_bytes > sizeof(*copy) ||
		    bpf_ringbuf_output(ring, ev, size_bytes, wake_flags(ring)))
			return false;
	}
	*cost_ns = bpf_ktime_get_ns() - ev->h.time_ns;
	return true;
}

/* ---- switches ---- */

static __always_inline void copy_comm(char to[16], struct task_struct *t)
{
	bpf_probe_read_kernel(to, 16, &t->comm);
}

static __always_inline void name_foreign(char to[16], __u64 ids)
{
	if (is_foreign(ids))
		__builtin_memcpy(to, FOREIGN_COMM, sizeof(FOREIGN_COMM));
}

static __always_inline void fill_switch(struct switch_event *ev, bool preempt,
					struct task_struct *prev, struct task_struct *next,
					__u32 prev_state, __u32 wanted, __u32 syscall, __u64 now_ns)
{
	fill_header_at(&ev->h, EBPREC_EV_SWITCH, SWITCH_EVENT_SHORT_BYTES, now_ns);
	ev->prev_pid = prev->tgid;
	ev->prev_tid = prev->pid;
	ev->next_pid = next->tgid;
	ev->next_tid = next->pid;
	ev->prev_prio = prev->prio;
	ev->next_prio = next->prio;
	ev->prev_state = prev_state;
	ev->prev_exit_state = prev->exit_state;
	ev->preempt = preempt;
	ev->prev_ran_ns = prev->se.sum_exec_runtime;
	ev->next_ran_ns = next->se.sum_exec_runtime;
	copy_comm(ev->prev_comm, prev);
	copy_comm(ev->next_comm, next);
	ev->syscall = syscall;
	ev->wanted = wanted;
	ev->policy = prev->policy;
	ev->weight = 0;
}

/* Replaces the ids of a complete switch inside a pid namespace. */
static __always_inline void rename_switch(struct switch_event *ev, __u64 prev_ids, __u64 next_ids)
{
	ev->prev_pid = prev_ids >> 32;
	ev->prev_tid = prev_ids;
	ev->next_pid = next_ids >> 32;
	ev->next_tid = next_ids;
	/* The CPU's foreign thread sleeps while no foreign task is here. */
	if (is_foreign(prev_ids)) {
		ev->prev_state = TASK_INTERRUPTIBLE;
		ev->prev_exit_state = ev->preempt = 0;
		ev->syscall = 0;
		ev->prev_ran_ns = ev->h.time_ns;
	}
	if (is_foreign(next_ids))
		ev->next_ran_ns = ev->h.time_ns;
	name_foreign(ev->prev_comm, prev_ids);
	name_foreign(ev->next_comm, next_ids);
}

/*
 * The first thread of a process dies when another one execs, and the process lives on.  In a moment
 * the kernel gives it the other's id; here it has that already, so that its own is seen to end once.
 */
static __always_inline __u32 id_at_exit(struct task_struct *t)
{
	struct task_struct *other = BPF_CORE_READ(t, signal, group_exec_task);
	__u64 ids = raw_task_ids(t);

	return other && (__u32)ids == ids >> 32 ? raw_task_ids(other) : ids;
}

/* Here its times and switches are complete, which they are not yet at sched_process_exit. */
static __always_inline void send_exit(void *ring, struct task_struct *t, __u64 now_ns)
{
	struct exit_event *ev = bpf_ringbuf_reserve(ring, sizeof(*ev), 0);

	if (!ev) {
		count_lost(EBPREC_EV_EXIT);
		return;
	}
	fill_header_at(&ev->h, EBPREC_EV_EXIT, sizeof(*ev), now_ns);
	ev->pid = raw_task_ids(t) >> 32;
	ev->tid = id_at_exit(t);
	ev->ppid = raw_task_ids(BPF_CORE_READ(t, real_parent)) >> 32;
	ev->prio = BPF_CORE_READ(t, prio);
	ev->nice = BPF_CORE_READ(t, static_prio) - 120;
	ev->policy = BPF_CORE_READ(t, policy);
	ev->runtime_ns = BPF_CORE_READ(t, se.sum_exec_runtime);
	ev->voluntary = BPF_CORE_READ(t, nvcsw);
	ev->involuntary = BPF_CORE_READ(t, nivcsw);
	ev->code = BPF_CORE_READ(t, exit_code);
	ev->pad = 0;
	copy_comm(ev->comm, t);
	bpf_ringbuf_submit(ev, BPF_RB_NO_WAKEUP);
}

/* Whether next had to wait for late_ns; stores the state of prev from now on. */
static __always_inline bool is_late(bool preempt, struct task_struct *prev,
				    struct task_struct *next, __u32 prev_state, __u64 now_ns)
{
	__u32 prev_tid = prev->pid, next_tid = next->pid;
	struct thread_facts *f;
	bool late = false;

	f = prev_tid ? facts_of(prev_tid, true) : NULL;
	if (f)
		f->ready_ns = preempt || !prev_state ? now_ns : 0;
	f = next_tid ? facts_of(next_tid, false) : NULL;
	if (f) {
		late = f->ready_ns && now_ns - f->ready_ns >= late_ns;
		f->ready_ns = 0;
	}
	return late;
}

static __always_inline void handle_switch(void *ctx, bool preempt, struct task_struct *prev,
					  struct task_struct *next, __u32 prev_state)
{
	struct switch_copy_event *copy;
	struct switch_event *ev;
	struct stack_budget *b;
	__u32 zero = 0, weight = 0, wanted, syscall;
	bool rare = false,
	     inside = pidns_level;        /* read once: each read stays, where nothing is inside */
	__u64 prev_ids = 0, next_ids = 0; /* set inside a pid namespace alone */
	__u64 now_ns, cost_ns;
	void *ring;

	if (inside) {
		prev_ids = pidns_ids(prev);
		next_ids = pidns_ids(next);
		if (is_foreign(prev_ids) && is_foreign(next_ids))
			return;
	}
	wanted = (is_in_targets(inside ? prev_ids >> 32 : prev->tgid) ? SWITCH_WANTS_PREV : 0) |
		 (is_in_targets(inside ? next_ids >> 32 : next->tgid) ? SWITCH_WANTS_NEXT : 0);
	if (!wanted) {
		count_left_out(EBPREC_EV_SWITCH);
		return;
	}
	ring = ring_here();
	if (!ring)
		goto lost;
	now_ns = bpf_ktime_get_ns();
	if (prev_state & TASK_DEAD && wanted & SWITCH_WANTS_PREV &&
	    !(inside && is_foreign(prev_ids)))
		send_exit(ring, prev, now_ns);
	syscall = syscall_of((void *)bpf_get_current_task_btf());
	if (late_ns && is_late(preempt, prev, next, prev_state, now_ns) &&
	    wanted & SWITCH_WANTS_NEXT)
		wanted |= SWITCH_NEXT_LATE;
	if (stack_ns_a_second && prev->pid && !(inside && is_foreign(prev_ids))) {
		b = bpf_map_lookup_elem(&stack_budgets, &zero);
		if (b)
			weight = choose(b, prev->pid, syscall, now_ns, &rare);
		copy = b && weight ? bpf_map_lookup_elem(&scratch, &zero) : NULL;
		if (copy) {
			ev = &copy->sw;
			fill_switch(ev, preempt, prev, next, prev_state, wanted, syscall, now_ns);
			if (inside)
				rename_switch(ev, prev_ids, next_ids);
			ev->weight = weight;
			if (!send_with_stack(ctx, ring, copy, &cost_ns))
				goto lost;
			*(rare ? &b->rare_ns : &b->cost_ns) += cost_ns;
			b->spent_ns += cost_ns;
			return;
		}
	}
	ev = bpf_ringbuf_reserve(ring, SWITCH_EVENT_SHORT_BYTES, 0);
	if (!ev)
		goto lost;
	fill_switch(ev, preempt, prev, next, prev_state, wanted, syscall, now_ns);
	if (inside)
		rename_switch(ev, prev_ids, next_ids);
	bpf_ringbuf_submit(ev, wake_flags_sometimes(ring, now_ns));
	return;
lost:
	count_lost(EBPREC_EV_SWITCH);
}

/* ---- all else ---- */

static __always_inline struct task_event *begin(__u32 what, struct task_struct *t, void **ring)
{
	bool inside = pidns_level;
	__u64 by, ids = inside ? pidns_ids(t) : 0;
	struct task_event *ev;

	if (inside && is_foreign(ids))
		return NULL;
	if (filter && !is_target(inside ? ids >> 32 : t->tgid))
		return NULL;
	*ring = ring_here();
	ev = !*ring              ? NULL
	     : what == TASK_FORK ? bpf_ringbuf_reserve(*ring, sizeof(*ev), 0)
				 : bpf_ringbuf_reserve(*ring, TASK_EVENT_SHORT_BYTES, 0);
	if (!ev) {
		count_lost(EBPREC_EV_TASK);
		return NULL;
	}
	fill_header(&ev->h, EBPREC_EV_TASK,
		    what == TASK_FORK ? sizeof(*ev) : TASK_EVENT_SHORT_BYTES);
	ev->what = what;
	ev->irq = 0;
	ev->pad = 0;
	by = inside ? current_ids() : bpf_get_current_pid_tgid();
	ev->by_pid = by >> 32;
	ev->by_tid = by;
	ev->pid = inside ? ids >> 32 : t->tgid;
	ev->tid = inside ? ids : t->pid;
	ev->prio = t->prio;
	ev->a = ev->b = 0;
	copy_comm(ev->comm, t);
	return ev;
}

static __always_inline void submit(void *ring, struct task_event *ev)
{
	bpf_ringbuf_submit(ev, wake_flags_sometimes(ring, ev->h.time_ns));
}

static __always_inline void handle_wakeup(void *ctx, __u32 what, struct task_struct *t)
{
	struct thread_facts *f;
	struct task_event *ev;
	void *ring;

	ev = begin(what, t, &ring);
	if (!ev)
		return;
	ev->a = t->thread_info.cpu;
	f = facts_of(t->pid, late_ns != 0);
	if (f && late_ns)
		f->ready_ns = ev->h.time_ns;
	if (f && f->woken) {
		ev->by_pid = f->by_pid;
		ev->by_tid = f->by_tid;
		ev->irq = f->irq;
		f->woken = 0;
	} else {
		ev->irq = irq_here(ctx);
	}
	submit(ring, ev);
}

/* Sends the stack of the thread that wakes t.  Under an interrupt the program's stack has no
 * meaning. */
static __always_inline void send_waker(void *ctx, const struct thread_facts *f,
				       struct task_struct *t)
{
	void *ring = ring_here();
	struct stack_budget *b;
	struct waker_event *ev;
	__u32 zero = 0;
	struct walk_state *w;
	__u64 frames, cost_ns;

	ev = bpf_map_lookup_elem(&waker_scratch, &zero);
	b = bpf_map_lookup_elem(&stack_budgets, &zero);
	if (!ev || !b || !ring)
		goto lost;
	fill_header(&ev->h, EBPREC_EV_WAKER, EVENT_HEAD_BYTES(waker_event));
	ev->pid = f->by_pid;
	ev->tid = f->by_tid;
	ev->wakee_tid = (__u32)task_ids(t);
	ev->irq = f->irq;
	w = f->irq ? NULL : walk_current();
	frames = stack_take(ctx, &ev->stack, w);
	if (w && w->n)
		frames += runtimes_add(&ev->stack, frames, runtimes_take(w));
	if (!STACK_SEND(ring, ev, frames))
		goto lost;
	cost_ns = bpf_ktime_get_ns() - ev->h.time_ns;
	b->cost_ns += cost_ns;
	b->spent_ns += cost_ns;
	return;
lost:
	count_lost(EBPREC_EV_WAKER);
}

SEC("tp_btf/sched_waking")
int BPF_PROG(waking_btf, struct task_struct *t)
{
	struct thread_facts *f;
	__u64 by;

	if (!is_in_targets(task_ids(t) >> 32))
		return 0; /* its wakeup is counted, which follows */
	f = facts_of(t->pid, true);
	if (!f)
		return 0;
	by = current_ids();
	f->by_pid = by >> 32;
	f->by_tid = by;
	f->irq = irq_here(ctx);
	f->woken = 1;
	if (f->has_stack) {
		f->has_stack = 0;
		send_waker(ctx, f, t);
	}
	return 0;
}

static __always_inline void handle_migrate(struct task_struct *t, int to)
{
	struct task_event *ev;
	void *ring;

	ev = begin(TASK_MIGRATE, t, &ring);
	if (!ev)
		return;
	ev->a = t->thread_info.cpu;
	ev->b = to;
	submit(ring, ev);
}

static __always_inline void handle_fork(struct task_struct *parent, struct task_struct *child)
{
	struct task_event *ev;
	void *ring;
	__u64 ids;

	ev = begin(TASK_FORK, child, &ring);
	if (!ev)
		return;
	ids = task_ids(parent);
	ev->by_pid = ids >> 32;
	ev->by_tid = ids;
	bpf_probe_read_kernel(ev->by_comm, sizeof(ev->by_comm), &parent->comm);
	name_foreign(ev->by_comm, ids);
	submit(ring, ev);
}

static __always_inline void handle_exit(struct task_struct *t)
{
	struct task_event *ev;
	void *ring;

	ev = begin(TASK_EXIT, t, &ring);
	if (!ev)
		return;
	ev->a = BPF_CORE_READ(t, signal, live.counter) == 0;
	submit(ring, ev);
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(on_wakeup, struct task_struct *t)
{
	handle_wakeup(ctx, TASK_WAKEUP, t);
	return 0;
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_wakeup_new, struct task_struct *t)
{
	handle_wakeup(ctx, TASK_WAKEUP_NEW, t);
	return 0;
}

SEC("tp_btf/sched_migrate_task")
int BPF_PROG(on_migrate, struct task_struct *t, int to)
{
	handle_migrate(t, to);
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	handle_fork(parent, child);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *t)
{
	handle_exit(t);
	return 0;
}

/* Last: from the first switch on, no wakeup is missed. */
SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	handle_switch(ctx, preempt, prev, next, prev_state);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
