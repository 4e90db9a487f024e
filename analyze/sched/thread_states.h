/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * thread_states - what state was each thread in, at each moment?
 *
 * Takes scheduler events in order of time and gives back intervals: a thread ran, was runnable,
 * or waited, from here to there.  The intervals of a thread touch each other and cover its life
 * within the recording: running + runnable + blocked + unknown = elapsed, always.
 *
 * At the beginning each thread's state is what its first event implies.  All wakeups are recorded,
 * so a thread that comes onto a CPU without one was runnable all the time, and one without any
 * event was blocked.  Where events are missing, they contradict each other: the thread that leaves
 * a CPU is not the one that came onto it, a thread comes onto one while it runs on another.  From
 * the last event that is certain to the next, the state is then unknown, never guessed.
 *
 * A thread that execs takes over the id of its process's leader; it stays the same thread here.
 */
#ifndef EBPREC_ANALYZE_SCHED_THREAD_STATES_H
#define EBPREC_ANALYZE_SCHED_THREAD_STATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/input/event/time_span.h"
#include "analyze/sched/event.h"

enum thread_states_state {
	THREAD_STATES_RUN,
	THREAD_STATES_WAIT,    /* runnable, waiting for a CPU */
	THREAD_STATES_SLEEP,   /* blocked: interruptible, idle, parked */
	THREAD_STATES_BLOCK,   /* blocked: uninterruptible */
	THREAD_STATES_STOP,    /* blocked: stopped, traced */
	THREAD_STATES_UNKNOWN, /* events are missing */
	THREAD_STATES_COUNT,
	/* Results of a thread, not of an interval: */
	THREAD_STATES_FIRST = THREAD_STATES_COUNT, /* was there before; nothing seen yet */
	THREAD_STATES_NEW,                         /* made, not yet started */
	THREAD_STATES_GONE,
};

/* How a thread left the CPU, or began. */
struct thread_states_out {
	uint64_t time_ns;
	uint32_t number; /* of the event; SCHED_EVENT_NONE: it was before the recording */
	uint32_t weight, stack;
	uint16_t cpu, state, syscall; /* as the event has them */
	uint8_t kind;
};

struct thread_states_thread {
	uint32_t tid, pid;         /* pid UINT32_MAX: not known */
	uint32_t ppid;             /* of its fork; UINT32_MAX: not known */
	uint32_t comm;             /* the last one recorded; SCHED_EVENT_NONE: none */
	uint64_t start_ns, end_ns; /* of its life within the recording */
	uint64_t since_ns;         /* of the state */
	uint32_t cpu;              /* that it runs or ran on */
	int16_t prio;              /* the last one recorded; INT16_MIN: none */
	uint32_t heir;             /* the thread that took its id by an exec; UINT32_MAX: none */
	uint8_t state;             /* enum thread_states_state */
	uint8_t policy;            /* SCHED_*, and 1; 0: not recorded */
	bool known;                /* added by thread_states_know(), or seen to be forked */
	bool absent;               /* since a gap: thread_states_know() did not have it */
	bool ended;                /* within the recording */
	bool seen;                 /* in any event */
	struct thread_states_out out;
};

struct thread_states_interval {
	uint32_t thread; /* index in the threads */
	enum thread_states_state state;
	uint64_t from_ns, to_ns; /* to_ns > from_ns but for RUN and WAIT, which may be empty */
	uint32_t cpu;            /* RUN: where */
	const struct thread_states_out
		*out;     /* borrowed for the call; NULL: RUN, or before the recording */
	uint32_t wake;    /* SLEEP, BLOCK, STOP: event that ended it; SCHED_EVENT_NONE: none did */
	bool is_complete; /* both ends were seen: not cut by the recording's ends */
};

struct thread_states; /* opaque */

struct thread_states_opts {
	uint64_t start_ns, end_ns; /* first and last switch of the recording */
	/* Outside of it, only events that decide about states within it are there; all zero: all are. */
	struct time_span complete;
	bool no_wakeups;    /* the capture has none: a sleeping thread sleeps until it runs */
	bool lossy;         /* events are missing: do not conclude from what is not there */
	bool has_strangers; /* only some of the events of threads that are not known are there */
	/* Called for each interval, in order for each thread; non-zero ends all and is returned. */
	int (*interval)(void *ctx, const struct thread_states_interval *i);
	void *ctx;
};

/* -ENOMEM. */
int thread_states_new(const struct thread_states_opts *opts, struct thread_states **out);
void thread_states_free(struct thread_states *t); /* NULL is fine */

/*
 * A thread that is known otherwise, as of time_ns (0: before the recording).  Before any event, or
 * behind a gap, which it lived through: if it began after the thread that had the id, that one has ended.
 */
int thread_states_know(struct thread_states *t, uint32_t pid, uint32_t tid, uint32_t ppid,
		       uint64_t time_ns);
/* In order of time; number: what intervals name the event by. */
int thread_states_add(struct thread_states *t, const struct sched_event *e, uint32_t number);
/*
 * Another part begins at to_ns, and those before ended at from_ns.  Nothing was recorded between: what everybody
 * does then is not known, nor from then on, but of threads that thread_states_know() has.
 */
int thread_states_gap(struct thread_states *t, uint64_t from_ns, uint64_t to_ns);
/* Closes what is open. */
int thread_states_finish(struct thread_states *t);

/* The thread that last had this id; UINT32_MAX: none. */
uint32_t thread_states_current(const struct thread_states *t, uint32_t tid);
/* Borrowed; grows until thread_states_finish(). */
const struct thread_states_thread *thread_states_threads(const struct thread_states *t,
							 size_t *count);
/* How often events contradicted each other; not those of strangers. */
uint64_t thread_states_gaps(const struct thread_states *t);

#endif
