/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * cmd_summary_who - the processes of a summary: which ran, when, how long and under which command
 * line
 */
#ifndef EBPREC_ANALYZE_CMD_SUMMARY_CMD_SUMMARY_WHO_H
#define EBPREC_ANALYZE_CMD_SUMMARY_CMD_SUMMARY_WHO_H

#include "analyze/process/tasks.h"
#include "analyze/cmd/common/report_options.h"
#include "analyze/report/summary.h"
#include "analyze/out/text_table.h"

/* The source of the time on a CPU. */
enum who_time {
	WHO_SWITCHES, /* exactly */
	WHO_SAMPLES,  /* as far as the samples' event counts time */
	WHO_UNKNOWN,
};

struct who {
	struct tasks *known; /* of the report */
	struct cmdlines cmdlines;
	enum who_time by;
	uint64_t sample_ns; /* WHO_SAMPLES: what each stands for; 0: its period */
	uint64_t origin_ns; /* from which times are shown */
	uint64_t process_count, started_count, ended_count;
};

/*
 * For a report with tasks, after report_make(); recorded NULL: before, and *s has only the time by
 * context switches.  times: the waits of threads, from the same switches, where these can be used;
 * all zero is given, or NULL: it is not wanted.  -ENOMEM, -EOVERFLOW.  *s: summary_done(); *times:
 * offcpu_times_done(); *out: who_done().
 */
int who_load(struct report *r, const struct picked *p, const struct time_span *whole,
	     struct summary *s, struct offcpu_times *times, struct who *out);
void who_done(struct who *w);
/* Three numbers of the capture's section: how many processes there were, began and ended. */
void who_show_counts(struct text_table *v, const struct who *w);
/* Two fields of the last process of that pid, one field. */
void who_show_life(struct text_table *v, const struct who *w, uint32_t pid, bool json);
void who_show_cpu_time(struct text_table *v, const struct who *w, const struct summary_row *row);
/* -ENOMEM. */
int who_show(struct text_table *v, const struct report *r, const struct summary *s,
	     const struct who *w, size_t rows, bool json);

#endif
