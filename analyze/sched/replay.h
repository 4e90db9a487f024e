/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * schedrun - a capture's scheduler events, played through the timeline
 *
 * What everyone needs who asks for the time of threads: events, known threads, the span that was
 * recorded, who is asked for.
 */
#ifndef EBPREC_ANALYZE_SCHED_REPLAY_H
#define EBPREC_ANALYZE_SCHED_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/input/filter.h"
#include "analyze/sched/order.h"
#include "analyze/base/string_table.h"
#include "analyze/process/thread_list.h"
#include "analyze/sched/thread_states.h"
#include "format/reader/capture.h"

#define SCHEDRUN_GAPS_MAX 64 /* as many captures as are merged at once */

/* Embedded by the owner; read freely. */
struct schedrun {
	struct schedflow *flow; /* its stacks can still be asked for */
	struct threadlist known;
	struct timeline *timeline;
	const struct strings *names;
	uint64_t lost, broken; /* events: missing, unreadable */
	bool has_wakeups;
	uint64_t recorded_end_ns;                /* the last switch */
	uint64_t start_ns, end_ns;               /* what was recorded of the filter's span */
	struct timespan gaps[SCHEDRUN_GAPS_MAX]; /* between the parts of a merged capture */
	size_t gap_count;
	bool has_strangers; /* there are threads that were not to be recorded */
};

/* Who looks on.  What a function returns ends all when it is not 0. */
struct schedrun_user {
	/* The run has a span and known threads, and what was told of another one is void. */
	int (*begin)(void *ctx, const struct schedrun *run);
	/* Each interval, also outside of the span. */
	int (*interval)(void *ctx, const struct timeline_interval *i);
	/* Each event of the span, behind the intervals it ends; may be NULL. */
	int (*event)(void *ctx, const struct sched_event *e);
	void *ctx;
};

/*
 * Plays all events of c.  filter: its span.  The run stays where it is until schedrun_done(), which is
 * due in any case.  -ENODATA: no switches; -ENOMEM, -EOVERFLOW.
 */
int schedrun_make(const struct capture *c, struct strings *names, const struct filter *filter,
		  const struct schedrun_user *users, size_t user_count, struct schedrun *run);
void schedrun_done(struct schedrun *run);

/* What the side-band tells of a thread; NULL: nothing. */
const struct threadlist_entry *schedrun_known(const struct schedrun *run,
					      const struct timeline_thread *th);
/* Of a thread, from its events or from the side-band; UINT32_MAX: not known. */
uint32_t schedrun_pid(const struct schedrun *run, const struct timeline_thread *th);
uint32_t schedrun_comm(const struct schedrun *run, const struct timeline_thread *th);
/* Whether it was to be recorded, and the filter asks for it. */
bool schedrun_wants(const struct schedrun *run, const struct filter *filter,
		    const struct timeline_thread *th);

#endif
