/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * offcpu - what threads waited for, with the stack they waited in
 *
 * Times are exact: they come from the timeline, which knows every switch.  Stacks are samples, each
 * standing for some switches (its weight).  Waits of a thread in the same state and system call, and of about one length,
 * share their exact time: each stack has that of its own wait, and of the others as much as it stands for (wait_times.h).
 * Waits of a kind without any stack stay, without frames.
 *
 * A wait ends when the thread is runnable; what it then waits for a CPU counts under the same stack
 * with another reason.  The reason becomes a frame of its own, the innermost.
 */
#ifndef EBPREC_ANALYZE_SCHED_OFFCPU_H
#define EBPREC_ANALYZE_SCHED_OFFCPU_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/input/event/filter.h"
#include "analyze/fold/groups.h"
#include "format/base/call_abi.h"
#include "format/base/hash_index.h"
#include "analyze/fold/sample_chain.h"
#include "analyze/process/process_model.h"
#include "analyze/names/function_table.h"
#include "analyze/fold/stack_counter.h"
#include "analyze/sched/replay.h"
#include "analyze/sched/wait_times.h"
#include "analyze/fold/stack_table.h"
#include "analyze/base/string_table.h"
#include "format/reader/capture.h"

struct offcpu_facts {
	uint64_t total_ns;         /* off the CPU, of the threads that are asked for */
	uint64_t with_stack_ns;    /* of it: of kinds of waits that have a stack */
	uint64_t before_ns;        /* beside it: of waits that began before the recording */
	uint64_t unknown_ns;       /* beside it: events are missing */
	uint64_t switches, stacks; /* that began a wait; of these with a stack */
	uint64_t lost, gaps;       /* events that are missing; contradictions */
	double error_share;        /* standard error of the scaled times, of with_stack_ns */
	bool is_wall;              /* before_ns and unknown_ns are among the stacks, */
	uint64_t on_ns;            /* as is time on a CPU, */
	uint64_t on_samples;       /* whose stacks these samples share */
};

/*
 * The meaning of the end of a stack of waits: waits that differ in one of these are counted apart.
 */
struct offcpu_end {
	uint32_t walk_end;     /* as ends of other stacks */
	uint8_t kind;          /* enum wait_kind */
	bool is_waker;         /* not a wait: the stack of a waker, to which others refer */
	uint16_t syscall;      /* and 1; 0: none */
	uint32_t waker;        /* end of the waker's stack; OFFCPU_NO_WAKER */
	uint32_t comm;         /* of a waker, in the names; PROCESS_MODEL_NONE: not known */
	uint32_t user, kernel; /* of a waker, once the stacks have names: its nodes */
	/* With rows: those of a thread with one stack; what waits like these were. */
	uint64_t stack;     /* a hash of its addresses, or with each its number and 1; 0: none */
	uint32_t tid, name; /* of the waiting thread; its comm */
	uint64_t ns, count, longest_ns;
	uint32_t source; /* which of the kinds of waits of all threads */
	uint8_t stratum; /* of their lengths */
};

#define OFFCPU_NO_WAKER UINT32_MAX

/* Waits, between loading and naming.  Embedded by the owner; all zero is an empty one. */
struct offcpu {
	struct offcpu_facts facts;
	struct offcpu_end *ends; /* by the end in the stacks' keys */
	size_t end_count, end_capacity;
	struct hash_index index;
	bool with_rows, each, exact; /* as asked */
	enum call_abi abi;           /* whose numbers those of system calls are */
	/* With rows: the longest wait of each kind, where none with a stack was as long; else 0.  Owned. */
	uint64_t *unseen_ns;
	size_t unseen_count;
};

/* The times from the scheduler events: for callers that need them for another purpose, too. */
struct offcpu_times {
	struct sched_replay run;
	struct wait_times waits;
};

struct offcpu_query {
	const struct filter *filter;
	struct groups *groups; /* as for stack_counter_new() */
	bool cgroups;          /* waits have the cgroups of their processes (pid_cgroups.h) */
	bool wakers;           /* distinguish waits by the thread that ended them */
	/*
	 * Count waits, and know the longest: ends are distinguished by thread and stack, and stay
	 * the ends of the stacks (offcpu_add_reasons()).  Which of a kind of waits had which stack
	 * is known of those that have one; the others count in proportion.
	 */
	bool rows;
	/*
	 * Distinguish every wait that has a stack, also in kinds in which all waits have one: ends
	 * stay the ends of the stacks, numbered as the stacks were taken, and woken waits stand
	 * there a second time, below its waker, with an end that is larger by end_count.  Without
	 * rows.
	 */
	bool each;
	/*
	 * As its count of samples a stack has how many waits it stands for, and its period stays in nanoseconds.
	 * Without rows and by_busy.
	 */
	bool exact;
	const struct name_roots *roots; /* where to find files for stack copies; NULL: below "/" */
	const struct deferred_chains *later; /* user parts that came later; NULL: none */
	/*
	 * Also the time on a CPU, as the samples of this event share it, and what a report of waits
	 * leaves out: all adds up to the time that threads lived.  NULL: no.
	 */
	const struct capture_attr *wall;
	bool wall_by_period; /* they share it by their periods, not by their number */
	/*
	 * Threads that ran most come first: as its period a wait has the time in which its thread would have been
	 * running, had it run as it did the rest of the time; the entire wait, in ns, is its count
	 * of samples.
	 */
	bool by_busy;
	/* Finished, by the same filter, with by_busy as here, and without wakers and wall; NULL: the events are read. */
	struct offcpu_times *times;
};

/*
 * Counts waits as stacks, in ns as their period; one sample each that has a stack.  -ENODATA: the
 * capture has no switches; -ENOMEM, -EOVERFLOW.  *out: stack_counter_free(); *o: offcpu_done().
 */
int offcpu_load(const struct capture *c, const struct process_model *model,
		struct string_table *names, const struct offcpu_query *query,
		struct stack_counter **out, struct offcpu *o);

/*
 * Puts the reason under each of these stacks, whose frames are functions of n by now, and under
 * that the waker's stack, innermost first, where there is one; makes their periods microseconds, unless exact.  With rows it puts no
 * wakers, and the ends of the stacks are still those of o.
 * -ENOMEM, -EOVERFLOW.
 */
int offcpu_add_reasons(struct offcpu *o, struct stack_table *s, struct function_table *n,
		       struct string_table *names);
void offcpu_done(struct offcpu *o);
void offcpu_times_done(struct offcpu_times *t); /* all zero is fine */

#endif
