/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sched/thread_states.h"

#include <errno.h>
#include <stdlib.h>

#include "format/base/hash_index.h"
#include "format/base/vec.h"

#define NO_THREAD UINT32_MAX
#define NEAR_TIDS (1u << 22) /* Linux gives no larger ids */

struct cpu {
	bool seen;       /* a switch */
	uint32_t tid;    /* that came last */
	uint32_t thread; /* the same; NO_THREAD: idle */
};

struct timeline {
	struct timeline_opts opts;
	struct timeline_thread *threads;
	size_t count, capacity;
	uint32_t *near; /* the latest thread of each id, but of those no Linux gives: */
	size_t near_count, near_capacity;
	uint32_t *by_tid; /* the latest thread of each slot's tid */
	size_t slot_count, slot_capacity;
	uint32_t *slot_tid;
	size_t slot_tid_capacity;
	struct hashidx index; /* tid -> slot */
	struct cpu *cpus;
	size_t cpu_count, cpu_capacity;
	uint64_t gaps;
};

int timeline_new(const struct timeline_opts *opts, struct timeline **out)
{
	struct timeline *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->opts = *opts;
	*out = t;
	return 0;
}

void timeline_free(struct timeline *t)
{
	if (!t)
		return;
	hashidx_done(&t->index);
	free(t->threads);
	free(t->near);
	free(t->by_tid);
	free(t->slot_tid);
	free(t->cpus);
	free(t);
}

const struct timeline_thread *timeline_threads(const struct timeline *t, size_t *count)
{
	*count = t->count;
	return t->threads;
}

uint64_t timeline_gaps(const struct timeline *t)
{
	return t->gaps;
}

/* ---- threads by tid ---- */

static int far_slot_of(struct timeline *t, uint32_t tid, uint32_t **out)
{
	uint32_t pos, slot;
	uint64_t hash;
	int err = hashidx_reserve(&t->index);

	if (err)
		return err;
	hash = hashidx_pair(&t->index, tid, 0);
	pos = hashidx_start(&t->index, hash);
	while ((slot = hashidx_match(&t->index, hash, &pos)) != HASHIDX_NONE) {
		if (t->slot_tid[slot] == tid) {
			*out = &t->by_tid[slot];
			return 0;
		}
	}
	if (vec_reserve(&t->by_tid, &t->slot_capacity, t->slot_count + 1) ||
	    vec_reserve(&t->slot_tid, &t->slot_tid_capacity, t->slot_count + 1))
		return -ENOMEM;
	hashidx_put(&t->index, hash, pos, (uint32_t)t->slot_count);
	t->slot_tid[t->slot_count] = tid;
	t->by_tid[t->slot_count] = NO_THREAD;
	*out = &t->by_tid[t->slot_count++];
	return 0;
}

/* Where the latest thread of that id stands; the slot is made when there is none. */
static int slot_of(struct timeline *t, uint32_t tid, uint32_t **out)
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

uint32_t timeline_current(const struct timeline *t, uint32_t tid)
{
	uint64_t hash = hashidx_pair(&t->index, tid, 0);
	uint32_t pos = hashidx_start(&t->index, hash), slot;

	if (tid < NEAR_TIDS)
		return tid < t->near_count ? t->near[tid] : NO_THREAD;
	while ((slot = hashidx_match(&t->index, hash, &pos)) != HASHIDX_NONE)
		if (t->slot_tid[slot] == tid)
			return t->by_tid[slot];
	return NO_THREAD;
}

static int new_thread(struct timeline *t, uint32_t tid, enum timeline_state state,
		      uint64_t start_ns, uint32_t *out)
{
	if (t->count >= NO_THREAD)
		return -EOVERFLOW;
	if (vec_reserve(&t->threads, &t->capacity, t->count + 1))
		return -ENOMEM;
	t->threads[t->count] = (struct timeline_thread){
		.tid = tid,
		.pid = UINT32_MAX,
		.ppid = UINT32_MAX,
		.comm = SCHEDEV_NONE,
		.start_ns = start_ns,
		.end_ns = t->opts.end_ns,
		.since_ns = start_ns,
		.prio = INT16_MIN,
		.state = (uint8_t)state,
		.heir = NO_THREAD,
		.out = { .number = SCHEDEV_NONE },
	};
	*out = (uint32_t)t->count++;
	return 0;
}

/*
 * The thread an event at time_ns is about.  An id that nobody heard of was there before; one whose
 * thread has ended is another thread, whose beginning was missed.
 */
static int thread_of(struct timeline *t, uint32_t tid, uint64_t time_ns, uint32_t *out)
{
	uint32_t *slot;
	int err = slot_of(t, tid, &slot);

	if (err)
		return err;
	if (*slot == NO_THREAD) {
		err = new_thread(t, tid, TIMELINE_FIRST, t->opts.start_ns, slot);
	} else if (t->threads[*slot].state == TIMELINE_GONE) {
		t->gaps += !t->opts.has_strangers || t->threads[*slot].known;
		err = new_thread(t, tid, TIMELINE_UNKNOWN, time_ns, slot);
	}
	*out = *slot;
	return err;
}

int timeline_know(struct timeline *t, uint32_t pid, uint32_t tid, uint32_t ppid, uint64_t time_ns)
{
	struct timeline_thread *th;
	uint32_t *slot;
	int err;

	if (!tid || time_ns > t->opts.start_ns)
		return 0; /* its own events tell */
	err = slot_of(t, tid, &slot);
	if (!err && *slot == NO_THREAD)
		err = new_thread(t, tid, TIMELINE_FIRST, t->opts.start_ns, slot);
	if (err)
		return err;
	th = &t->threads[*slot];
	th->pid = pid;
	th->ppid = ppid;
	th->known = true;
	return 0;
}

/* ---- intervals ---- */

/* Ends the state a thread is in; whole: its beginning and its end were seen. */
static int close_as(struct timeline *t, uint32_t thread, enum timeline_state state,
		    uint64_t time_ns, uint32_t wake, bool is_whole)
{
	struct timeline_thread *th = &t->threads[thread];
	struct timeline_interval i = {
		.thread = thread,
		.state = state,
		.from_ns = th->since_ns,
		.to_ns = time_ns,
		.cpu = th->cpu,
		.out = state == TIMELINE_RUN || th->out.number == SCHEDEV_NONE ? NULL : &th->out,
		.wake = wake,
		.is_whole = is_whole,
	};
	bool instant = state == TIMELINE_RUN || state == TIMELINE_WAIT;

	if (time_ns < th->since_ns)
		i.to_ns = th->since_ns;
	th->since_ns = i.to_ns;
	if (i.to_ns == i.from_ns && !(instant && is_whole))
		return 0;
	return t->opts.interval ? t->opts.interval(t->opts.ctx, &i) : 0;
}

/* Nobody knows what it did since its last event. */
static int close_unknown(struct timeline *t, uint32_t thread, uint64_t time_ns)
{
	t->gaps += !t->opts.has_strangers || t->threads[thread].known;
	return close_as(t, thread, TIMELINE_UNKNOWN, time_ns, SCHEDEV_NONE, false);
}

static bool is_blocked(uint8_t state)
{
	return state == TIMELINE_SLEEP || state == TIMELINE_BLOCK || state == TIMELINE_STOP;
}

static void start_life(struct timeline_thread *th, uint64_t time_ns)
{
	th->start_ns = th->since_ns = time_ns;
}

/* ---- events ---- */

static void tell(struct timeline_thread *th, uint32_t comm, int16_t prio)
{
	if (comm != SCHEDEV_NONE)
		th->comm = comm;
	th->prio = prio;
	th->seen = true;
}

static void leave_by(struct timeline_thread *th, const struct sched_event *e, uint32_t number)
{
	th->out = (struct timeline_out){
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

static enum timeline_state state_after(uint16_t prev_state)
{
	if (prev_state & SCHEDEV_PREEMPTED || !prev_state)
		return TIMELINE_WAIT;
	if (prev_state & (SCHEDEV_DEAD | SCHEDEV_ZOMBIE))
		return TIMELINE_GONE;
	if (prev_state & SCHEDEV_DISK)
		return TIMELINE_BLOCK;
	return prev_state & (SCHEDEV_STOPPED | SCHEDEV_TRACED) ? TIMELINE_STOP : TIMELINE_SLEEP;
}

static int leave(struct timeline *t, const struct sched_event *e, uint32_t number)
{
	bool cpu_was_seen = t->cpus[e->cpu].seen;
	struct timeline_thread *th;
	uint32_t thread;
	int err = thread_of(t, e->tid, e->time_ns, &thread);

	if (err)
		return err;
	th = &t->threads[thread];
	if (th->state == TIMELINE_RUN && th->cpu == e->cpu)
		err = close_as(t, thread, TIMELINE_RUN, e->time_ns, SCHEDEV_NONE,
			       th->since_ns > t->opts.start_ns);
	else if (th->state == TIMELINE_FIRST && !cpu_was_seen && !t->opts.lossy)
		th->cpu = e->cpu,
		err = close_as(t, thread, TIMELINE_RUN, e->time_ns, SCHEDEV_NONE, false);
	else if (th->state == TIMELINE_NEW)
		start_life(th, e->time_ns);
	else
		err = close_unknown(t, thread, e->time_ns);
	th = &t->threads[thread];
	tell(th, e->comm, e->prio);
	if (e->policy)
		th->policy = e->policy;
	if (e->pid != UINT32_MAX)
		th->pid = e->pid;
	th->cpu = e->cpu;
	leave_by(th, e, number);
	th->state = (uint8_t)state_after(e->state);
	if (th->state == TIMELINE_GONE) {
		th->end_ns = e->time_ns;
		th->ended = true;
	}
	return err;
}

/* Clocks of two CPUs differ: who execs may come under its old id after its leader left under that. */
static int who_comes(struct timeline *t, const struct sched_event *e, uint32_t *out)
{
	const struct timeline_thread *gone;
	uint32_t *slot;
	int err = slot_of(t, e->next_tid, &slot);

	if (err)
		return err;
	gone = *slot == NO_THREAD ? NULL : &t->threads[*slot];
	if (!gone || gone->state != TIMELINE_GONE || gone->heir == NO_THREAD ||
	    t->threads[gone->heir].state != TIMELINE_WAIT)
		return thread_of(t, e->next_tid, e->time_ns, out);
	*out = gone->heir;
	return 0;
}

static int come(struct timeline *t, const struct sched_event *e)
{
	struct timeline_thread *th;
	uint32_t thread;
	int err = who_comes(t, e, &thread);

	if (err)
		return err;
	th = &t->threads[thread];
	if (th->state == TIMELINE_WAIT)
		err = close_as(t, thread, TIMELINE_WAIT, e->time_ns, SCHEDEV_NONE,
			       th->since_ns > t->opts.start_ns);
	else if (th->state == TIMELINE_FIRST && !t->opts.lossy && !t->opts.no_wakeups)
		err = close_as(t, thread, TIMELINE_WAIT, e->time_ns, SCHEDEV_NONE, false);
	else if (is_blocked(th->state) && (!t->opts.lossy || t->opts.no_wakeups))
		/* A signal came as it went to sleep: it never left the queue, so nobody woke it. */
		err = close_as(t, thread, (enum timeline_state)th->state, e->time_ns, SCHEDEV_NONE,
			       false);
	else if (th->state == TIMELINE_NEW)
		start_life(th, e->time_ns);
	else
		err = close_unknown(t, thread, e->time_ns);
	th = &t->threads[thread];
	tell(th, e->next_comm, e->next_prio);
	th->state = TIMELINE_RUN;
	th->cpu = e->cpu;
	t->cpus[e->cpu].thread = thread;
	return err;
}

/* A thread that execs is now called as its leader was, who is gone. */
static int take_over(struct timeline *t, uint32_t thread, uint32_t tid)
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
static int exchange(struct timeline *t, uint32_t leader, const struct sched_event *e)
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

/* Who leaves the CPU is not who came onto it.  An exec explains it; else events are missing. */
static int mismatch(struct timeline *t, const struct sched_event *e)
{
	uint32_t *slot, thread = t->cpus[e->cpu].thread;
	const struct timeline_thread *th, *named;
	int err;

	if (thread == NO_THREAD)
		return 0;
	th = &t->threads[thread];
	if (th->state != TIMELINE_RUN || th->cpu != e->cpu)
		return 0;
	err = e->tid ? slot_of(t, e->tid, &slot) : 0;
	if (err)
		return err;
	if (e->tid && th->pid == e->pid) {
		named = *slot == NO_THREAD ? NULL : &t->threads[*slot];
		if (named == th)
			return 0; /* exchange() named it when it was here */
		if (e->tid == e->pid && (!named || named->state == TIMELINE_GONE))
			return take_over(t, thread, e->tid);
		if (th->tid == e->pid && named && named->state != TIMELINE_GONE &&
		    (named->pid == e->pid || named->pid == UINT32_MAX) &&
		    state_after(e->state) == TIMELINE_GONE)
			return exchange(t, thread, e);
	}
	err = close_unknown(t, thread, e->time_ns);
	t->threads[thread].state = TIMELINE_UNKNOWN;
	return err;
}

static int on_switch(struct timeline *t, const struct sched_event *e, uint32_t number)
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

static int on_wakeup(struct timeline *t, const struct sched_event *e, uint32_t number)
{
	struct timeline_thread *th;
	uint32_t thread;
	int err = thread_of(t, e->tid, e->time_ns, &thread);

	if (err)
		return err;
	th = &t->threads[thread];
	tell(th, e->comm, e->prio);
	if (is_blocked(th->state)) {
		err = close_as(t, thread, (enum timeline_state)th->state, e->time_ns, number,
			       th->out.number != SCHEDEV_NONE);
	} else if (th->state == TIMELINE_FIRST && !t->opts.lossy) {
		err = close_as(t, thread, TIMELINE_SLEEP, e->time_ns, number, false);
	} else if (th->state == TIMELINE_NEW) {
		start_life(th, e->time_ns);
		leave_by(th, e, number);
	} else if (th->state == TIMELINE_FIRST || th->state == TIMELINE_UNKNOWN) {
		err = close_as(t, thread, TIMELINE_UNKNOWN, e->time_ns, number, false);
	} else {
		return 0; /* it runs, or waits for a CPU already */
	}
	t->threads[thread].state = TIMELINE_WAIT;
	return err;
}

static int close_open(struct timeline *t, uint32_t thread, uint64_t time_ns)
{
	struct timeline_thread *th = &t->threads[thread];
	enum timeline_state state = (enum timeline_state)th->state;

	if (th->state == TIMELINE_GONE)
		return 0;
	if (th->state == TIMELINE_NEW) {
		start_life(th, time_ns);
		return 0;
	}
	if (th->state == TIMELINE_FIRST)
		state = t->opts.lossy ? TIMELINE_UNKNOWN : TIMELINE_SLEEP;
	return close_as(t, thread, state, time_ns, SCHEDEV_NONE, false);
}

static int on_fork(struct timeline *t, const struct sched_event *e)
{
	struct timeline_thread *th;
	uint32_t *slot;
	int err = slot_of(t, e->tid, &slot);

	if (err)
		return err;
	if (*slot != NO_THREAD && t->threads[*slot].state != TIMELINE_GONE) {
		/* Its id is used again, so it has ended without our knowing when. */
		t->threads[*slot].state = TIMELINE_UNKNOWN;
		t->threads[*slot].end_ns = e->time_ns;
		err = close_unknown(t, *slot, e->time_ns);
		t->threads[*slot].state = TIMELINE_GONE;
		if (err)
			return err;
	}
	err = new_thread(t, e->tid, TIMELINE_NEW, e->time_ns, slot);
	if (err)
		return err;
	th = &t->threads[*slot];
	th->ppid = e->by_pid;
	th->known = true;
	th->seen = true;
	if (e->pid != UINT32_MAX)
		th->pid = e->pid;
	if (e->comm != SCHEDEV_NONE)
		th->comm = e->comm;
	return 0;
}

int timeline_add(struct timeline *t, const struct sched_event *e, uint32_t number)
{
	switch ((enum schedev_kind)e->kind) {
	case SCHEDEV_SWITCH:
		return on_switch(t, e, number);
	case SCHEDEV_WAKEUP:
	case SCHEDEV_WAKEUP_NEW:
		return e->tid ? on_wakeup(t, e, number) : 0;
	case SCHEDEV_FORK:
		return e->tid ? on_fork(t, e) : 0;
	default:
		return 0;
	}
}

int timeline_gap(struct timeline *t, uint64_t from_ns, uint64_t to_ns)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < t->count; i++) {
		struct timeline_thread *th = &t->threads[i];

		if (th->state == TIMELINE_GONE || th->state == TIMELINE_NEW)
			continue;
		err = close_open(t, i, from_ns);
		th->state = TIMELINE_UNKNOWN;
		th->out.number = SCHEDEV_NONE;
		if (!err)
			err = close_as(t, i, TIMELINE_UNKNOWN, to_ns, SCHEDEV_NONE, false);
	}
	for (size_t i = 0; i < t->cpu_count; i++)
		t->cpus[i] = (struct cpu){ .thread = NO_THREAD };
	t->opts.start_ns = to_ns; /* of those who are seen for the first time behind it */
	return err;
}

int timeline_finish(struct timeline *t)
{
	int err = 0;

	for (size_t i = 0; !err && i < t->count; i++)
		err = close_open(t, (uint32_t)i, t->opts.end_ns);
	return err;
}
