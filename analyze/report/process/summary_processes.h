/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* summary_processes - how many processes a summary is of, and how long each was on a CPU, by which source */
#ifndef EBPREC_ANALYZE_REPORT_PROCESS_SUMMARY_PROCESSES_H
#define EBPREC_ANALYZE_REPORT_PROCESS_SUMMARY_PROCESSES_H

#include "analyze/process/tasks.h"
#include "analyze/report/process/summary.h"

/* The source of the time on a CPU. */
enum summary_time {
	SUMMARY_TIME_SWITCHES, /* exactly */
	SUMMARY_TIME_SAMPLES,  /* as far as the samples' event counts time */
	SUMMARY_TIME_UNKNOWN,
};

struct summary_processes {
	struct tasks *known; /* of the report */
	struct cmdlines cmdlines;
	enum summary_time by;
	uint64_t sample_ns; /* SUMMARY_TIME_SAMPLES: what each stands for; 0: its period */
	uint64_t origin_ns; /* from which times are shown */
	uint64_t process_count, thread_count, started_count, ended_count;
};

/*
 * For a report with tasks, after report_make() with that query, which has a filter; recorded NULL: before, and *s has only
 * the time by context switches.  times: the waits of threads, from the same switches, where these can be used;
 * all zero is given, or NULL: it is not wanted.  -ENOMEM, -EOVERFLOW.  *s: summary_done(); *times:
 * offcpu_times_done(); *out: summary_processes_done().
 */
int summary_processes_load(struct report *r, const struct report_query *q,
			   const struct time_span *recorded, struct summary *s,
			   struct offcpu_times *times, struct summary_processes *out);
void summary_processes_done(struct summary_processes *w);
/* The time on a CPU of so many samples; 0 where the time is not that of samples. */
uint64_t summary_processes_sampled_ns(const struct summary_processes *w, uint64_t samples,
				      uint64_t period);

#endif
