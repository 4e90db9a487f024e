/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * schedstat - how long each thread ran, waited and slept, and how long it took to get a CPU
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
#include "analyze/input/filter.h"
#include "analyze/sched/replay.h"
#include "analyze/base/string_table.h"
#include "analyze/sched/thread_states.h"
#include "format/reader/capture.h"

struct schedstat_thread {
	uint32_t tid, pid, ppid; /* UINT32_MAX: not known */
	uint32_t comm;           /* in the names; SCHEDEV_NONE: not known */
	int16_t prio;            /* INT16_MIN: not known */
	uint8_t policy;          /* SCHED_*, and 1; 0: not known */
	bool ended;
	uint64_t start_ns, end_ns; /* of its life, within the span */
	uint64_t elapsed_ns;       /* of it in the parts that are asked for: the sum of ns[] */
	uint64_t ns[TIMELINE_STATES];
	uint64_t runs, voluntary, involuntary, wakeups, migrations;
};

/* Read freely. */
struct schedstat {
	struct schedstat_thread *threads; /* by time spent running, falling; then by tid */
	size_t thread_count;
	struct durations latency, on_cpu;
	uint64_t start_ns, end_ns; /* the span, cut to what was recorded */
	uint64_t elapsed_ns;       /* its parts that are asked for */
	uint64_t switches, wakeups;
	uint64_t lost, broken, gaps; /* events; contradictions between events */
	bool has_wakeups;
	/* While it is made: */
	const struct filter *filter;
	const struct schedrun *run;
	size_t capacity;
	bool has_durations;
};

/*
 * One that takes what a run tells its users.  durations: latency and on_cpu are wanted.  The filter is
 * borrowed until schedstat_finish(), which is due when the run was made: -ENOMEM.  schedstat_done() in
 * any case.
 */
struct schedrun_user schedstat_user(struct schedstat *s, const struct filter *filter,
				    bool durations);
int schedstat_finish(struct schedstat *s);

/* All at once.  -ENODATA: the capture has no switches; -ENOMEM, -EOVERFLOW.  *out: schedstat_done(). */
int schedstat_make(const struct capture *c, struct strings *names, const struct filter *filter,
		   struct schedstat *out);
void schedstat_done(struct schedstat *s);

#endif
