/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * wait_times - how long each thread waited for what, to the nanosecond
 *
 * The timeline's intervals become waits, each of which an event began, and waits of a thread in the
 * same state and system call become a kind.  The time of a kind is exact.  Those of its waits that
 * have a stack (their weight is not 0) share it: wait_times_share().
 */
#ifndef EBPREC_ANALYZE_SCHED_WAIT_TIMES_H
#define EBPREC_ANALYZE_SCHED_WAIT_TIMES_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/input/event/filter.h"
#include "analyze/sched/replay.h"
#include "analyze/sched/wait_reason.h"
#include "analyze/base/string_table.h"
#include "format/reader/capture.h"

/* The waits after a switch that has a stack: up to two waits, one behind the other. */
struct wait_times_stack {
	uint64_t ns, queue_ns;     /* in the state it left in; then runnable */
	uint32_t kind, queue_kind; /* WAIT_TIMES_NO_KIND: none */
};

#define WAIT_TIMES_NO_KIND UINT32_MAX

/*
 * Waits of a thread in the same state and system call, and of about one length: of those that differ a stack of one is
 * no stack of another.  Those without a stack that nothing of their length stands for are taken for waits like the nearest
 * shorter ones, when these are not shorter by far, or else the nearest longer ones.
 */
struct wait_times_kind {
	uint32_t thread;
	uint16_t syscall;
	uint8_t kind;    /* enum wait_kind */
	bool wanted;     /* it is asked for: known when all was read */
	uint8_t stratum; /* wait_times_stratum() of their lengths */
	uint32_t
		next; /* of the thread's, the first of each state and call; WAIT_TIMES_NO_KIND: the last */
	uint32_t same;     /* with its state and call; WAIT_TIMES_NO_KIND: the last */
	uint16_t cpu;      /* where the first of them began, */
	bool began;        /* if one was seen to, */
	uint64_t first_ns; /* and when */
	double busy;       /* with_busy: the share of the time that its thread ran */
	uint64_t exact_ns;
	uint64_t
		own_ns; /* of it: of waits with a stack.  On a CPU 0: samples have no time of their own */
	double sampled; /* sum of weight times ns, of those with a stack, */
	double others;  /* and of weight - 1 times ns: the waits without one that they stand for */
	union {
		double variance; /* until all was read */
		double seen; /* of others, if these are any, else of sampled: given out so far, */
	};
	uint64_t given_own_ns,
		given_rest_ns;      /* which made so much of own_ns, and of the rest of exact_ns */
	uint64_t count, longest_ns; /* of its waits */
	uint64_t stacks,
		weights;       /* of those that have a stack: how many, the sum of their weights, */
	uint64_t seen_weights; /* of which so much was given out, */
	uint64_t given_count;  /* and made so much of the count */
};

/* A wait that is not over yet. */
struct wait_times_open {
	struct thread_states_out out; /* with which it began */
	uint32_t thread;
	uint64_t ns, queue_ns;
	uint64_t end_ns; /* when the first of the two ended */
};

/* The times of one thread, by its number in thread_states. */
struct wait_times_thread {
	uint64_t before_ns, unknown_ns, on_ns;
	uint32_t waits, stacks;
	uint32_t kinds; /* the one used last; WAIT_TIMES_NO_KIND: none */
	uint32_t open;  /* its wait; WAIT_TIMES_NO_KIND: none */
};

/* The sums of the chosen threads. */
struct wait_times_sums {
	uint64_t total_ns;         /* off the CPU */
	uint64_t with_stack_ns;    /* of it: of kinds of waits that have a stack */
	uint64_t before_ns;        /* beside it: of waits that began before the recording */
	uint64_t unknown_ns;       /* beside it: events are missing */
	uint64_t on_ns;            /* beside it: on a CPU */
	uint64_t switches, stacks; /* that began a wait; of these with a stack */
	double error_share;        /* standard error of the scaled times, of with_stack_ns */
};

/* Embedded by the owner; all zero is an empty one. */
struct wait_times {
	const struct filter *filter;
	const struct sched_replay *run;
	struct wait_times_sums sums;
	struct wait_times_kind *kinds;
	size_t kind_count, kind_capacity;
	struct wait_times_stack *stacks; /* by the number of the stack */
	uint64_t *ends;                  /* the same: when a wait ended that is not for a CPU */
	size_t stack_count, stack_capacity, end_capacity;
	struct wait_times_thread *threads;
	size_t thread_count, thread_capacity;
	struct wait_times_open *open;
	size_t open_count, open_capacity;
	bool all, with_ends;
	bool with_busy; /* set behind wait_times_user(): kinds[].busy is wanted */
};

/*
 * The callbacks for sched_replay.  all: time on a CPU, of waits before the recording and where
 * events are missing become kinds, too.  with_ends: ends[] is wanted.  The filter is borrowed.
 */
struct sched_replay_user wait_times_user(struct wait_times *w, const struct filter *filter,
					 bool all, bool with_ends);
/* When the run was made, which w looks into from then on.  -ENOMEM, -EOVERFLOW. */
int wait_times_finish(struct wait_times *w);
void wait_times_done(struct wait_times *w);

/* The kind of a thread's time on a CPU; NULL: it had none, or is not asked for. */
struct wait_times_kind *wait_times_on_cpu(struct wait_times *w, uint32_t thread);

/*
 * The part of the exact time of k for a stack with a wait of ns: that wait's own, and a share in the time of those without a
 * stack, by the waits that it stands for beside its own (where none stands for any: by its weight).  All parts add up to
 * the exact time, whatever is rounded.
 */
uint64_t wait_times_share(struct wait_times_kind *k, uint64_t ns, uint32_t weight);
/* The time that no stack has. */
uint64_t wait_times_left_ns(const struct wait_times_kind *k);

/* The same of how many waits there were: one, and a share of those that have no stack. */
uint64_t wait_times_share_count(struct wait_times_kind *k, uint32_t weight);

/* The reason for which a thread waits that left the CPU so, or began so, until it is runnable. */
enum wait_kind wait_times_kind_of(const struct thread_states_out *out);

/* Lengths from a power of four up to the next are one stratum. */
static inline uint8_t wait_times_stratum(uint64_t ns)
{
	return ns ? (uint8_t)((63 - __builtin_clzll(ns)) / 2) : 0;
}

/* Is this state that of a thread which had to leave its CPU? */
bool wait_times_was_preempted(uint16_t state);

#endif
