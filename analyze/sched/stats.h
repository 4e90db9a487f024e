/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * stats - how long each thread ran, waited and slept, and how long it took to get a CPU
 *
 * A user of schedrun.  Times are cut to the span that is asked for; run-queue latencies and
 * times on a CPU are counted where they end within it, and only when both their ends were recorded.
 */
#ifndef EBPREC_ANALYZE_SCHED_STATS_H
#define EBPREC_ANALYZE_SCHED_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/base/percentiles.h"
#include "analyze/input/event/filter.h"
#include "analyze/sched/replay.h"
#include "analyze/base/string_table.h"
#include "analyze/sched/thread_states.h"
#include "format/reader/capture.h"

struct sched_stats_thread {
	uint32_t tid, pid, ppid; /* UINT32_MAX: not known */
	uint32_t comm;           /* in the names; SCHED_EVENT_NONE: not known */
	int16_t prio;            /* INT16_MIN: not known */
	uint8_t policy;          /* SCHED_*, and 1; 0: not known */
	bool ended;
	uint64_t start_ns, end_ns; /* of its life, within the span */
	uint64_t elapsed_ns;       /* of it in the parts that are asked for: the sum of ns[] */
	uint64_t ns[THREAD_STATES_COUNT];
	uint64_t runs, voluntary, involuntary, wakeups, migrations;
};

/* Read freely. */
struct sched_stats {
	struct sched_stats_thread *threads; /* by time spent running, falling; then by tid */
	size_t thread_count;
	struct percentiles latency, on_cpu;
	uint64_t start_ns, end_ns; /* the span, cut to what was recorded */
	uint64_t elapsed_ns;       /* its parts that are asked for */
	uint64_t switches, wakeups;
	uint64_t lost, broken, gaps; /* events; contradictions between events */
	bool has_wakeups;
	/* While it is made: */
	const struct filter *filter;
	const struct sched_replay *run;
	size_t capacity;
	bool has_durations;
};

/*
 * The callbacks for sched_replay.  durations: latency and on_cpu are wanted.  The filter is
 * borrowed until sched_stats_finish(), which is due when the run was made: -ENOMEM.
 * sched_stats_done() in any case.
 */
struct sched_replay_user sched_stats_user(struct sched_stats *s, const struct filter *filter,
					  bool durations);
int sched_stats_finish(struct sched_stats *s);

/* All at once.  -ENODATA: the capture has no switches; -ENOMEM, -EOVERFLOW.  *out: sched_stats_done(). */
int sched_stats_make(const struct capture *c, struct string_table *names,
		     const struct filter *filter, struct sched_stats *out);
void sched_stats_done(struct sched_stats *s);

/* The time of threads of which it is unknown what they did. */
struct sched_stats_unknown {
	const struct sched_stats_thread
		*most;       /* the thread with the largest part; NULL: no thread */
	size_t thread_count; /* with such time */
	uint64_t ns, all_ns; /* all_ns: elapsed, of all the threads */
};

/* *all: of all threads; *list, owned: by process, the largest first.  -ENOMEM. */
int sched_stats_unknown_time(const struct sched_stats *s, struct sched_stats_unknown *all,
			     struct sched_stats_unknown **list, size_t *count);

#endif
