/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * timeline - what state was each thread in, at each moment?
 *
 * Takes scheduler events in order of time and gives back intervals: a thread ran, was runnable,
 * or waited, from here to there.  The intervals of a thread touch each other and cover its life
 * within the recording: running + runnable + blocked + unknown = elapsed, always.
 *
 * At the beginning each thread's state is what its first event implies.  All wakeups are recorded,
 * so a thread that comes onto a CPU without one was runnable all the time, and one without any
 * event was blocked.  Where events are missing, they contradict each other: who leaves a CPU is not
 * who came onto it, a thread comes onto one while it runs on another.  From the last event that is
 * certain to the next, the state is then unknown, never guessed.
 *
 * A thread that execs takes over the id of its process's leader; it stays the same thread here.
 */
#ifndef EBPREC_ANALYZE_SCHED_THREAD_STATES_H
#define EBPREC_ANALYZE_SCHED_THREAD_STATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/sched/event.h"

enum timeline_state {
	TIMELINE_RUN,
	TIMELINE_WAIT,    /* runnable, waiting for a CPU */
	TIMELINE_SLEEP,   /* blocked: interruptible, idle, parked */
	TIMELINE_BLOCK,   /* blocked: uninterruptible */
	TIMELINE_STOP,    /* blocked: stopped, traced */
	TIMELINE_UNKNOWN, /* events are missing */
	TIMELINE_STATES,
	/* Of a thread, not of an interval: */
	TIMELINE_FIRST = TIMELINE_STATES, /* was there before; nothing seen yet */
	TIMELINE_NEW,                     /* made, not yet started */
	TIMELINE_GONE,
};

/* How a thread left the CPU, or began. */
struct timeline_out {
	uint64_t time_ns;
	uint32_t number; /* of the event; SCHEDEV_NONE: it was before the recording */
	uint32_t weight, stack;
	uint16_t cpu, state, syscall; /* as the event has them */
	uint8_t kind;
};

struct timeline_thread {
	uint32_t tid, pid;         /* pid UINT32_MAX: not known */
	uint32_t ppid;             /* of its fork; UINT32_MAX: not known */
	uint32_t comm;             /* the last one told; SCHEDEV_NONE: none */
	uint64_t start_ns, end_ns; /* of its life within the recording */
	uint64_t since_ns;         /* of the state */
	uint32_t cpu;              /* that it runs or ran on */
	int16_t prio;              /* the last one told; INT16_MIN: none */
	uint32_t heir;             /* who took its id by an exec; UINT32_MAX: nobody */
	uint8_t state;             /* enum timeline_state */
	uint8_t policy;            /* SCHED_*, and 1; 0: not told */
	bool known;                /* told by timeline_know(), or seen to be forked */
	bool ended;                /* within the recording */
	bool seen;                 /* in any event */
	struct timeline_out out;
};

struct timeline_interval {
	uint32_t thread; /* index in the threads */
	enum timeline_state state;
	uint64_t from_ns, to_ns; /* to_ns > from_ns but for RUN and WAIT, which may be empty */
	uint32_t cpu;            /* RUN: where */
	const struct timeline_out
		*out;  /* borrowed for the call; NULL: RUN, or before the recording */
	uint32_t wake; /* SLEEP, BLOCK, STOP: event that ended it; SCHEDEV_NONE: none did */
	bool is_whole; /* both ends were seen: not cut by the recording's ends */
};

struct timeline; /* opaque */

struct timeline_opts {
	uint64_t start_ns, end_ns; /* first and last switch of the recording */
	bool no_wakeups;           /* the capture has none: who sleeps does so until it runs */
	bool lossy;                /* events are missing: do not conclude from what is not there */
	bool has_strangers; /* only some of the events of threads that are not known are there */
	/* Called for each interval, in order for each thread; non-zero ends all and is returned. */
	int (*interval)(void *ctx, const struct timeline_interval *i);
	void *ctx;
};

/* -ENOMEM. */
int timeline_new(const struct timeline_opts *opts, struct timeline **out);
void timeline_free(struct timeline *t); /* NULL is fine */

/* A thread that is known otherwise, as of time_ns (0: before the recording).  Before any event. */
int timeline_know(struct timeline *t, uint32_t pid, uint32_t tid, uint32_t ppid, uint64_t time_ns);
/* In order of time; number: what intervals name the event by. */
int timeline_add(struct timeline *t, const struct sched_event *e, uint32_t number);
/* Nothing was recorded between these times: what everybody does then is not known. */
int timeline_gap(struct timeline *t, uint64_t from_ns, uint64_t to_ns);
/* Closes what is open. */
int timeline_finish(struct timeline *t);

/* The thread that last had this id; UINT32_MAX: none. */
uint32_t timeline_current(const struct timeline *t, uint32_t tid);
/* Borrowed; grows until timeline_finish(). */
const struct timeline_thread *timeline_threads(const struct timeline *t, size_t *count);
/* How often events contradicted each other; not those of strangers. */
uint64_t timeline_gaps(const struct timeline *t);

#endif
