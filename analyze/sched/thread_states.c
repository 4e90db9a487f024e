/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sched/thread_states.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/process/tasks.h"
#include "format/base/hash_index.h"
#include "format/base/vec.h"

#define NO_THREAD UINT32_MAX
#define NEAR_TIDS (1u << 22) /* Linux gives no larger ids */

struct cpu {
	bool seen;       /* a switch */
	uint32_t tid;    /* that came last */
	uint32_t thread; /* the same; NO_THREAD: idle */
};

struct thread_states {
	struct thread_states_opts opts;
	struct thread_states_thread *threads;
	size_t count, capacity;
	uint32_t *near; /* the latest thread of each id, but of those no Linux gives: */
	size_t near_count, near_capacity;
	uint32_t *by_tid; /* the latest thread of each slot's tid */
	size_t slot_count, slot_capacity;
	uint32_t *slot_tid;
	size_t slot_tid_capacity;
	struct hash_index index; /* tid -> slot */
	struct cpu *cpus;
	size_t cpu_count, cpu_capacity;
	uint64_t gaps;
};

int thread_states_new(const struct thread_states_opts *opts, struct thread_states **out)
{
	struct thread_states *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->opts = *opts;
	if (!t->opts.complete.to_ns)
		t->opts.complete = TIME_SPAN_ALL;
	*out = t;
	return 0;
}

void thread_states_free(struct thread_states *t)
{
	if (!t)
		return;
	hash_index_done(&t->index);
	free(t->threads);
	free(t->near);
	free(t->by_tid);
	free(t->slot_tid);
	free(t->cpus);
	free(t);
}

const struct thread_states_thread *thread_states_threads(const struct thread_states *t,
							 size_t *count)
{
	*count = t->count;
	return t->threads;
}

uint64_t thread_states_gaps(const struct thread_states *t)
{
	return t->gaps;
}

/* ---- threads by tid ---- */

static int far_slot_of(struct thread_states *t, uint32_t tid, uint32_t **out)
{
	uint32_t pos, slot;
	uint64_t hash;
	int err = hash_index_reserve(&t->index);

	if (err)
		return err;
	hash = hash_index_pair(&t->index, tid, 0);
	pos = hash_index_start(&t->index, hash);
	while ((slot = hash_index_match(&t->index, hash, &pos)) != HASH_INDEX_NONE) {
		if (t->slot_tid[slot] == tid) {
			*out = &t->by_tid[slot];
			return 0;
		}
	}
	if (vec_reserve(&t->by_tid, &t->slot_capacity, t->slot_count + 1) ||
	    vec_reserve(&t->slot_tid, &t->slot_tid_capacity, t->slot_count + 1))
		return -ENOMEM;
	hash_index_put(&t->index, hash, pos, (uint32_t)t->slot_count);
	t->slot_tid[t->slot_count] = tid;
	t->by_tid[t->slot_count] = NO_THREAD;
	*out = &t->by_tid[t->slot_count++];
	return 0;
}

/* Where the latest thread of that id stands; the slot is made when there is none. */
static int slot_of(struct thread_states *t, uint32_t tid, uint32_t **out)
{
	if (tid >= NEAR_TIDS)
		return far_slot_of(t, tid, out);
	if (tid >= t->near_count) {
		if (vec_reserve(&t->near, &t->near_capacity, (size_t)tid + 1))
			return -ENOMEM;
		while (t->near_count <= tid)
			t->near[t->near_count++] = NO_THREAD;
	}
	*out = &t->near[tid];
	return 0;
}

uint32_t thread_states_current(const struct thread_states *t, uint32_t tid)
{
	uint64_t hash = hash_index_pair(&t->index, tid, 0);
	uint32_t pos = hash_index_start(&t->index, hash), slot;

	if (tid < NEAR_TIDS)
		return tid < t->near_count ? t->near[tid] : NO_THREAD;
	while ((slot = hash_index_match(&t->index, hash, &pos)) != HASH_INDEX_NONE)
		if (t->slot_tid[slot] == tid)
			return t->by_tid[slot];
	return NO_THREAD;
}

static int new_thread(struct thread_states *t, uint32_t tid, enum thread_states_state state,
		      uint64_t start_ns, uint32_t *out)
{
	if (t->count >= NO_THREAD)
		return -EOVERFLOW;
	if (vec_reserve(&t->threads, &t->capacity, t->count + 1))
		return -ENOMEM;
	t->threads[t->count] = (struct thread_states_thread){
		.tid = tid,
		.pid = UINT32_MAX,
		.ppid = UINT32_MAX,
		.comm = SCHED_EVENT_NONE,
		.start_ns = start_ns,
		.end_ns = t->opts.end_ns,
		.since_ns = start_ns,
		.prio = INT16_MIN,
		.state = (uint8_t)state,
		.heir = NO_THREAD,
		.out = { .number = SCHED_EVENT_NONE },
	};
	*out = (uint32_t)t->count++;
	return 0;
}

/* Not of strangers, nor of events beside which others are left out. */
static void count_gap(struct thread_states *t, uint32_t thread, uint64_t time_ns)
{
	t->gaps += time_span_has(&t->opts.complete, time_ns) &&
		   (!t->opts.has_strangers || t->threads[thread].known);
}

/*
 * The thread an event at time_ns is about.  An unknown id was there before; one whose thread has
 * ended is another thread, whose beginning was missed.
 */
static int thread_of(struct thread_states *t, uint32_t tid, uint64_t time_ns, uint32_t *out)
{
	uint32_t *slot;
	int err = slot_of(t, tid, &slot);

	if (err)
		return err;
	if (*slot == NO_THREAD) {
		err = new_thread(t, tid, THREAD_STATES_FIRST, t->opts.start_ns, slot);
	} else if (t->threads[*slot].state == THREAD_STATES_GONE) {
		count_gap(t, *slot, time_ns);
		err = new_thread(t, tid, THREAD_STATES_UNKNOWN, time_ns, slot);
	}
	*out = *slot;
	return err;
}

/* Behind a gap: a thread that began in it, or later than the one that had the id, is another one. */
static bool is_replaced(const struct thread_states_thread *th, uint64_t time_ns)
{
	return th->state == THREAD_STATES_GONE ||
	       (th->state == THREAD_STATES_UNKNOWN && time_ns > th->start_ns &&
		time_ns - th->start_ns > TASKS_START_SLACK_NS);
}

int thread_states_know(struct thread_states *t, uint32_t pid, uint32_t tid, uint32_t ppid,
		       uint64_t time_ns)
{
	struct thread_states_thread *th;
	uint32_t *slot;
	int err;

	if (!tid || time_ns > t->opts.start_ns)
		return 0; /* its own events have it */
	err = slot_of(t, tid, &slot);
	if (!err && *slot != NO_THREAD && is_replaced(&t->threads[*slot], time_ns)) {
		th = &t->threads[*slot];
		if (th->state != THREAD_STATES_GONE)
			th->end_ns = th->since_ns;
		th->state = THREAD_STATES_GONE;
		*slot = NO_THREAD;
	}
	if (!err && *slot == NO_THREAD)
		err = new_thread(t, tid, THREAD_STATES_FIRST, t->opts.start_ns, slot);
	if (err)
		return err;
	th = &t->threads[*slot];
	if (th->state == THREAD_STATES_UNKNOWN && th->since_ns == t->opts.start_ns)
		th->state = THREAD_STATES_FIRST; /* it was there when that part began */
	th->pid = pid;
	th->ppid = ppid;
	th->known = true;
	th->absent = false;
	return 0;
}

/* ---- intervals ---- */

/* Ends the state a thread is in; is_complete: its beginning and its end were seen. */
static int close_as(struct thread_states *t, uint32_t thread, enum thread_states_state state,
		    uint64_t time_ns, uint32_t wake, bool is_complete)
{
	struct thread_states_thread *th = &t->threads[thread];
	struct thread_states_interval i = {
		.thread = thread,
		.state = state,
		.from_ns = th->since_ns,
		.to_ns = time_ns,
		.cpu = th->cpu,
		.out = state == THREAD_STATES_RUN || th->out.number == SCHED_EVENT_NONE ? NULL
											: &th->out,
		.wake = wake,
		.is_complete = is_complete,
	};
	bool instant = state == THREAD_STATES_RUN || state == THREAD_STATES_WAIT;

	if (time_ns < th->since_ns)
		i.to_ns = th->since_ns;
	th->since_ns = i.to_ns;
	if (i.to_ns == i.from_ns && !(instant && is_complete))
		return 0;
	return t->opts.interval ? t->opts.interval(t->opts.ctx, &i) : 0;
}

/* Its state since its last event is not known. */
static int close_unknown(struct thread_states *t, uint32_t thread, uint64_t time_ns)
{
	count_gap(t, thread, time_ns);
	return close_as(t, thread, THREAD_STATES_UNKNOWN, time_ns, SCHED_EVENT_NONE, false);
}

static bool is_blocked(uint8_t state)
{
	return state == THREAD_STATES_SLEEP || state == THREAD_STATES_BLOCK ||
	       state == THREAD_STATES_STOP;
}

static void start_life(struct thread_states_thread *th, uint64_t time_ns)
{
	th->start_ns = th->since_ns = time_ns;
}

/* Whether a part of some processes alone has only those events of it that are of others, too: its state is not known. */
static bool is_left_out(const struct thread_states *t, const struct thread_states_thread *th)
{
	return t->opts.has_strangers && th->absent;
}

/* ---- events ---- */

static void set_comm(struct thread_states_thread *th, uint32_t comm, int16_t prio)
{
	if (comm != SCHED_EVENT_NONE)
		th->comm = comm;
	th->prio = prio;
	th->seen = true;
}

static void leave_by(struct thread_states_thread *th, const struct sched_event *e, uint32_t number)
{
	th->out = (struct thread_states_out){
		.time_ns = e->time_ns,
		.number = number,
		.weight = e->weight,
		.stack = e->stack,
		.cpu = e->cpu,
		.state = e->state,
		.syscall = e->syscall,
		.kind = e->kind,
	};
}

static enum thread_states_state state_after(uint16_t prev_state)
{
	if (prev_state & SCHED_EVENT_PREEMPTED || !prev_state)
		return THREAD_STATES_WAIT;
	if (prev_state & (SCHED_EVENT_DEAD | SCHED_EVENT_ZOMBIE))
		return THREAD_STATES_GONE;
	if (prev_state & SCHED_EVENT_DISK)
		return THREAD_STATES_BLOCK;
	return prev_state & (SCHED_EVENT_STOPPED | SCHED_EVENT_TRACED) ? THREAD_STATES_STOP
								       : THREAD_STATES_SLEEP;
}

static int leave(struct thread_states *t, const struct sched_event *e, uint32_t number)
{
	bool cpu_was_seen = t->cpus[e->cpu].seen;
	struct thread_states_thread *th;
	uint32_t thread;
	int err = thread_of(t, e->tid, e->time_ns, &thread);

	if (err)
		return err;
	th = &t->threads[thread];
	if (is_left_out(t, th))
		return 0;
	if (th->state == THREAD_STATES_RUN && th->cpu == e->cpu)
		err = close_as(t, thread, THREAD_STATES_RUN, e->time_ns, SCHED_EVENT_NONE,
			       th->since_ns > t->opts.start_ns);
	else if (th->state == THREAD_STATES_FIRST && !cpu_was_seen && !t->opts.lossy)
		th->cpu = e->cpu,
		err = close_as(t, thread, THREAD_STATES_RUN, e->time_ns, SCHED_EVENT_NONE, false);
	else if (th->state == THREAD_STATES_NEW)
		start_life(th, e->time_ns);
	else
		err = close_unknown(t, thread, e->time_ns);
	th = &t->threads[thread];
	set_comm(th, e->comm, e->prio);
	if (e->policy)
		th->policy = e->policy;
	if (e->pid != UINT32_MAX)
		th->pid = e->pid;
	th->cpu = e->cpu;
	leave_by(th, e, number);
	th->state = (uint8_t)state_after(e->state);
	if (th->state == THREAD_STATES_GONE) {
		th->end_ns = e->time_ns;
		th->ended = true;
	}
	return err;
}

/*
 * Clocks of two CPUs differ: a thread that execs may come under its old id after its leader left
 * under that.
 */
static int find_next(struct thread_states *t, const struct sched_event *e, uint32_t *out)
{
	const struct thread_states_thread *gone;
	uint32_t *slot;
	int err = slot_of(t, e->next_tid, &slot);

	if (err)
		return err;
	gone = *slot == NO_THREAD ? NULL : &t->threads[*slot];
	if (!gone || gone->state != THREAD_STATES_GONE || gone->heir == NO_THREAD ||
	    t->threads[gone->heir].state != THREAD_STATES_WAIT)
		return thread_of(t, e->next_tid, e->time_ns, out);
	*out = gone->heir;
	return 0;
}

static int come(struct thread_states *t, const struct sched_event *e)
{
	struct thread_states_thread *th;
	uint32_t thread;
	int err = find_next(t, e, &thread);

	if (err)
		return err;
	th = &t->threads[thread];
	if (is_left_out(t, th))
		return 0;
	if (th->state == THREAD_STATES_WAIT)
		err = close_as(t, thread, THREAD_STATES_WAIT, e->time_ns, SCHED_EVENT_NONE,
			       th->since_ns > t->opts.start_ns);
	else if (th->state == THREAD_STATES_FIRST && !t->opts.lossy && !t->opts.no_wakeups)
		err = close_as(t, thread, THREAD_STATES_WAIT, e->time_ns, SCHED_EVENT_NONE, false);
	else if (is_blocked(th->state) && (!t->opts.lossy || t->opts.no_wakeups))
		/*
		 * A signal came as it went to sleep: it never left the queue, so no thread woke it.
		 */
		err = close_as(t, thread, (enum thread_states_state)th->state, e->time_ns,
			       SCHED_EVENT_NONE, false);
	else if (th->state == THREAD_STATES_NEW)
		start_life(th, e->time_ns);
	else
		err = close_unknown(t, thread, e->time_ns);
	th = &t->threads[thread];
	set_comm(th, e->next_comm, e->next_prio);
	th->state = THREAD_STATES_RUN;
	th->cpu = e->cpu;
	t->cpus[e->cpu].thread = thread;
	return err;
}

/* A thread that execs now has the id of its leader, which is gone. */
static int take_over(struct thread_states *t, uint32_t thread, uint32_t tid)
{
	uint32_t *slot, *before;
	int err = slot_of(t, tid, &slot);

	if (!err) {
		*slot = thread;
		err = slot_of(t, t->threads[thread].tid, &before);
	}
	if (!err) {
		*before = NO_THREAD;
		t->threads[thread].tid = tid;
	}
	return err;
}

/* The leader itself may leave its CPU only after that, then called as the thread was (exchange_tids()). */
static int exchange(struct thread_states *t, uint32_t leader, const struct sched_event *e)
{
	uint32_t *slot, thread;
	int err = slot_of(t, e->tid, &slot);

	if (err)
		return err;
	thread = *slot;
	*slot = leader;
	t->threads[leader].heir = thread;
	t->threads[thread].tid = e->pid;
	err = slot_of(t, e->pid, &slot);
	if (!err)
		*slot = thread;
	return err;
}

/*
 * The thread that leaves the CPU is not the one that came onto it.  An exec explains it; else
 * events are missing.
 */
static int mismatch(struct thread_states *t, const struct sched_event *e)
{
	uint32_t *slot, thread = t->cpus[e->cpu].thread;
	const struct thread_states_thread *th, *named;
	int err;

	if (thread == NO_THREAD)
		return 0;
	th = &t->threads[thread];
	if (th->state != THREAD_STATES_RUN || th->cpu != e->cpu)
		return 0;
	err = e->tid ? slot_of(t, e->tid, &slot) : 0;
	if (err)
		return err;
	/* Where events are left out, an exec is one of them. */
	if (e->tid && th->pid == e->pid && time_span_has(&t->opts.complete, e->time_ns)) {
		named = *slot == NO_THREAD ? NULL : &t->threads[*slot];
		if (named == th)
			return 0; /* exchange() named it when it was here */
		if (e->tid == e->pid && (!named || named->state == THREAD_STATES_GONE))
			return take_over(t, thread, e->tid);
		if (th->tid == e->pid && named && named->state != THREAD_STATES_GONE &&
		    (named->pid == e->pid || named->pid == UINT32_MAX) &&
		    state_after(e->state) == THREAD_STATES_GONE)
			return exchange(t, thread, e);
	}
	err = close_unknown(t, thread, e->time_ns);
	t->threads[thread].state = THREAD_STATES_UNKNOWN;
	return err;
}

static int on_switch(struct thread_states *t, const struct sched_event *e, uint32_t number)
{
	size_t old = t->cpu_count;
	int err = 0;

	if (e->cpu >= t->cpu_count) {
		if (vec_reserve(&t->cpus, &t->cpu_capacity, (size_t)e->cpu + 1))
			return -ENOMEM;
		t->cpu_count = (size_t)e->cpu + 1;
		for (; old < t->cpu_count; old++)
			t->cpus[old] = (struct cpu){ .thread = NO_THREAD };
	}
	/* NOLINTNEXTLINE: all below cpu_count were filled when they came */
	if (t->cpus[e->cpu].seen && t->cpus[e->cpu].tid != e->tid)
		err = mismatch(t, e);
	if (!err && e->tid)
		err = leave(t, e, number);
	t->cpus[e->cpu].seen = true;
	t->cpus[e->cpu].tid = e->next_tid;
	t->cpus[e->cpu].thread = NO_THREAD;
	if (!err && e->next_tid)
		err = come(t, e);
	return err;
}

static int on_wakeup(struct thread_states *t, const struct sched_event *e, uint32_t number)
{
	struct thread_states_thread *th;
	uint32_t thread;
	int err = thread_of(t, e->tid, e->time_ns, &thread);

	if (err)
		return err;
	th = &t->threads[thread];
	if (is_left_out(t, th))
		return 0;
	set_comm(th, e->comm, e->prio);
	if (is_blocked(th->state)) {
		err = close_as(t, thread, (enum thread_states_state)th->state, e->time_ns, number,
			       th->out.number != SCHED_EVENT_NONE);
	} else if (th->state == THREAD_STATES_FIRST && !t->opts.lossy) {
		err = close_as(t, thread, THREAD_STATES_SLEEP, e->time_ns, number, false);
	} else if (th->state == THREAD_STATES_NEW) {
		start_life(th, e->time_ns);
		leave_by(th, e, number);
	} else if (th->state == THREAD_STATES_FIRST || th->state == THREAD_STATES_UNKNOWN) {
		err = close_as(t, thread, THREAD_STATES_UNKNOWN, e->time_ns, number, false);
	} else {
		return 0; /* it runs, or waits for a CPU already */
	}
	t->threads[thread].state = THREAD_STATES_WAIT;
	return err;
}

static int close_open(struct thread_states *t, uint32_t thread, uint64_t time_ns)
{
	struct thread_states_thread *th = &t->threads[thread];
	enum thread_states_state state = (enum thread_states_state)th->state;

	if (th->state == THREAD_STATES_GONE)
		return 0;
	if (th->state == THREAD_STATES_NEW) {
		start_life(th, time_ns);
		return 0;
	}
	if (th->state == THREAD_STATES_FIRST)
		state = t->opts.lossy ? THREAD_STATES_UNKNOWN : THREAD_STATES_SLEEP;
	return close_as(t, thread, state, time_ns, SCHED_EVENT_NONE, false);
}

static int on_fork(struct thread_states *t, const struct sched_event *e)
{
	struct thread_states_thread *th;
	uint32_t *slot;
	int err = slot_of(t, e->tid, &slot);

	if (err)
		return err;
	if (*slot != NO_THREAD && t->threads[*slot].state != THREAD_STATES_GONE) {
		/* Its id is used again, so it has ended without our knowing when. */
		t->threads[*slot].state = THREAD_STATES_UNKNOWN;
		t->threads[*slot].end_ns = e->time_ns;
		err = close_unknown(t, *slot, e->time_ns);
		t->threads[*slot].state = THREAD_STATES_GONE;
		if (err)
			return err;
	}
	err = new_thread(t, e->tid, THREAD_STATES_NEW, e->time_ns, slot);
	if (err)
		return err;
	th = &t->threads[*slot];
	th->ppid = e->by_pid;
	th->known = true;
	th->seen = true;
	if (e->pid != UINT32_MAX)
		th->pid = e->pid;
	if (e->comm != SCHED_EVENT_NONE)
		th->comm = e->comm;
	return 0;
}

int thread_states_add(struct thread_states *t, const struct sched_event *e, uint32_t number)
{
	switch ((enum sched_event_kind)e->kind) {
	case SCHED_EVENT_SWITCH:
		return on_switch(t, e, number);
	case SCHED_EVENT_WAKEUP:
	case SCHED_EVENT_WAKEUP_NEW:
		return e->tid ? on_wakeup(t, e, number) : 0;
	case SCHED_EVENT_FORK:
		return e->tid ? on_fork(t, e) : 0;
	default:
		return 0;
	}
}

int thread_states_gap(struct thread_states *t, uint64_t from_ns, uint64_t to_ns)
{
	int err = 0;

	t->opts.start_ns = to_ns; /* for threads that are seen for the first time behind it */
	if (from_ns >= to_ns)
		return 0;
	for (uint32_t i = 0; !err && i < t->count; i++) {
		struct thread_states_thread *th = &t->threads[i];

		if (th->state == THREAD_STATES_GONE || th->state == THREAD_STATES_NEW)
			continue;
		err = close_open(t, i, from_ns);
		th->state = THREAD_STATES_UNKNOWN;
		th->out.number = SCHED_EVENT_NONE;
		th->absent = true;
		if (!err)
			err = close_as(t, i, THREAD_STATES_UNKNOWN, to_ns, SCHED_EVENT_NONE, false);
	}
	for (size_t i = 0; i < t->cpu_count; i++)
		t->cpus[i] = (struct cpu){ .thread = NO_THREAD };
	return err;
}

int thread_states_finish(struct thread_states *t)
{
	int err = 0;

	for (size_t i = 0; !err && i < t->count; i++)
		err = close_open(t, (uint32_t)i, t->opts.end_ns);
	return err;
}
