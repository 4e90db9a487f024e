/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * replay - a capture's scheduler events, played through the timeline
 *
 * The common part of all views of threads' time: events, known threads, the span that was recorded,
 * the chosen threads.
 */
#ifndef EBPREC_ANALYZE_SCHED_REPLAY_H
#define EBPREC_ANALYZE_SCHED_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/input/event/filter.h"
#include "analyze/sched/order.h"
#include "analyze/base/string_table.h"
#include "analyze/process/tasks.h"
#include "analyze/sched/thread_states.h"
#include "format/reader/capture.h"

/* Embedded by the owner; read freely. */
struct sched_replay {
	struct sched_order *flow;  /* its stacks can still be asked for */
	const struct tasks *known; /* the caller's, or own */
	struct tasks own;
	struct thread_states *timeline;
	const struct string_table *names;
	uint64_t lost, broken; /* events: missing, unreadable */
	bool has_wakeups;
	uint64_t recorded_end_ns;  /* of the recording, or its last switch */
	uint64_t start_ns, end_ns; /* what was recorded of the filter's span */
	bool has_strangers;        /* there are threads that were not to be recorded */
};

/* The callbacks of a view.  A result other than 0 ends the replay. */
struct sched_replay_user {
	/* The run has a span and known threads, and events of an earlier one are void. */
	int (*begin)(void *ctx, const struct sched_replay *run);
	/* Each interval, also outside of the span. */
	int (*interval)(void *ctx, const struct thread_states_interval *i);
	/* Each event of the span, behind the intervals it ends; may be NULL. */
	int (*event)(void *ctx, const struct sched_event *e);
	void *ctx;
};

/*
 * Plays all events of c.  filter: its span.  The run stays where it is until sched_replay_done(), which is
 * due in any case.  -ENODATA: no switches; -ENOMEM, -EOVERFLOW.
 */
int sched_replay_make(const struct capture *c, struct string_table *names,
		      const struct filter *filter, const struct sched_replay_user *users,
		      size_t user_count, struct sched_replay *run);
/* The same for a caller that has read the tasks, which stay where they are as long as the run. */
int sched_replay_make_with(const struct capture *c, struct string_table *names,
			   const struct tasks *known, const struct filter *filter,
			   const struct sched_replay_user *users, size_t user_count,
			   struct sched_replay *run);
void sched_replay_done(struct sched_replay *run);

/* The life of a thread in the side-band; NULL: none. */
const struct tasks_life *sched_replay_known(const struct sched_replay *run,
					    const struct thread_states_thread *th);
/* The process of a thread, from its events or from the side-band; UINT32_MAX: not known. */
uint32_t sched_replay_pid(const struct sched_replay *run, const struct thread_states_thread *th);
uint32_t sched_replay_comm(const struct sched_replay *run, const struct thread_states_thread *th);
/* Whether it was to be recorded, and the filter asks for it. */
bool sched_replay_wants(const struct sched_replay *run, const struct filter *filter,
			const struct thread_states_thread *th);

#endif
