/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * cmd_summary_processes - the processes of a summary: which ran, when, how long and under which command
 * line
 */
#ifndef EBPREC_ANALYZE_CMD_SUMMARY_CMD_SUMMARY_PROCESSES_H
#define EBPREC_ANALYZE_CMD_SUMMARY_CMD_SUMMARY_PROCESSES_H

#include "analyze/process/tasks.h"
#include "analyze/cmd/common/report_options.h"
#include "analyze/report/process/summary.h"
#include "analyze/out/text_table.h"

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
 * For a report with tasks, after report_make(); recorded NULL: before, and *s has only the time by
 * context switches.  times: the waits of threads, from the same switches, where these can be used;
 * all zero is given, or NULL: it is not wanted.  -ENOMEM, -EOVERFLOW.  *s: summary_done(); *times:
 * offcpu_times_done(); *out: summary_processes_done().
 */
int summary_processes_load(struct report *r, const struct picked *p,
			   const struct time_span *recorded, struct summary *s,
			   struct offcpu_times *times, struct summary_processes *out);
void summary_processes_done(struct summary_processes *w);
/* Three numbers of the capture's section: how many processes there were, began and ended. */
void summary_processes_show_counts(struct text_table *v, const struct summary_processes *w);
/* Two fields of the last process of that pid, one field. */
void summary_processes_show_life(struct text_table *v, const struct summary_processes *w,
				 uint32_t pid, bool json);
void summary_processes_show_cpu_time(struct text_table *v, const struct summary_processes *w,
				     uint64_t run_ns);
/* The time on a CPU of so many samples; 0 where the time is not that of samples. */
uint64_t summary_processes_sampled_ns(const struct summary_processes *w, uint64_t samples,
				      uint64_t period);
/* The name of the process of a row, or ":PID" in unknown. */
const char *summary_processes_comm(const struct report *r, const struct summary_processes *w,
				   const struct summary_row *row, char unknown[16]);
/* -ENOMEM. */
int summary_processes_show(struct text_table *v, const struct report *r, struct summary *s,
			   const struct summary_processes *w, size_t rows, bool json);

#endif
