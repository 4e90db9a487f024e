/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * waittime - how long each thread waited for what, to the nanosecond
 *
 * The timeline's intervals become waits, each of which an event began, and waits of a thread in the
 * same state and system call become a kind.  The time of a kind is exact.  Those of its waits that
 * have a stack (their weight is not 0) share it: waittime_share().
 */
#ifndef EBPREC_ANALYZE_SCHED_WAITTIME_H
#define EBPREC_ANALYZE_SCHED_WAITTIME_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/filter.h"
#include "analyze/hashidx.h"
#include "analyze/sched/schedrun.h"
#include "analyze/strings.h"
#include "format/capture.h"

/* What followed a switch: up to two waits, one behind the other. */
struct waittime_wait {
	uint64_t ns, queue_ns; /* in the state it left in; then runnable */
	uint64_t end_ns;       /* when the first of them ended */
	uint32_t thread;
	uint32_t kind, queue_kind; /* WAITTIME_NO_KIND: it is not asked for */
};

#define WAITTIME_NO_KIND UINT32_MAX

/* Waits of a thread in the same state and system call. */
struct waittime_kind {
	uint32_t thread;
	uint16_t syscall;
	uint8_t kind;   /* enum wait_kind */
	uint32_t first; /* event that began one of them; SCHEDEV_NONE: none */
	uint64_t exact_ns;
	double sampled;    /* sum of weight times ns, of those with a stack */
	double variance;   /* of that sum */
	double seen;       /* of it, given out so far, */
	uint64_t given_ns; /* which made so much of exact_ns */
};

/* Of the threads that are asked for. */
struct waittime_sums {
	uint64_t total_ns;         /* off the CPU */
	uint64_t with_stack_ns;    /* of it: of kinds of waits that have a stack */
	uint64_t before_ns;        /* beside it: of waits that began before the recording */
	uint64_t unknown_ns;       /* beside it: events are missing */
	uint64_t on_ns;            /* beside it: on a CPU */
	uint64_t switches, stacks; /* that began a wait; of these with a stack */
	double error_share;        /* standard error of the scaled times, of with_stack_ns */
};

/* Embedded by the owner; all zero is an empty one. */
struct waittime {
	const struct filter *filter;
	struct schedrun run;
	struct waittime_sums sums;
	struct waittime_wait *waits; /* by event */
	struct waittime_kind *kinds;
	size_t kind_count, kind_capacity;
	struct hashidx index;
	bool whole;
	uint64_t *before_ns, *unknown_ns, *on_ns; /* by thread */
	size_t before_capacity, unknown_capacity, on_capacity, thread_count;
};

/*
 * Reads the scheduler events of c.  whole: time on a CPU, of waits before the recording and where
 * events are missing become kinds, too.  The filter is borrowed.  -ENODATA: the capture has no
 * switches; -ENOMEM, -EOVERFLOW.  waittime_done() in any case.
 */
int waittime_load(struct waittime *w, const struct capture *c, struct strings *names,
		  const struct filter *filter, bool whole);
void waittime_done(struct waittime *w);

/* The kind of a thread's time on a CPU; NULL: it had none, or is not asked for. */
struct waittime_kind *waittime_on_cpu(struct waittime *w, uint32_t thread);

/* The share of ns in the exact time of k; all shares add up to it, whatever is rounded. */
uint64_t waittime_share(struct waittime_kind *k, uint64_t ns, uint32_t weight);

/* Is this event that of a thread which had to leave its CPU? */
bool waittime_was_preempted(const struct sched_event *e);

#endif
