/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* cmd_summary_processes - shows the processes of a summary: which ran, when, how long and under which command line */
#ifndef EBPREC_ANALYZE_CMD_SUMMARY_CMD_SUMMARY_PROCESSES_H
#define EBPREC_ANALYZE_CMD_SUMMARY_CMD_SUMMARY_PROCESSES_H

#include "analyze/report/process/summary_processes.h"
#include "analyze/out/text_table.h"

/* Three numbers of the capture's section: how many processes there were, began and ended. */
void summary_processes_show_counts(struct text_table *v, const struct summary_processes *w);
/* Two fields of the last process of that pid, one field. */
void summary_processes_show_life(struct text_table *v, const struct summary_processes *w,
				 uint32_t pid, bool json);
void summary_processes_show_cpu_time(struct text_table *v, const struct summary_processes *w,
				     uint64_t run_ns);
/* The name of the process of a row, or ":PID" in unknown. */
const char *summary_processes_comm(const struct report *r, const struct summary_processes *w,
				   const struct summary_row *row, char unknown[16]);
/* -ENOMEM. */
int summary_processes_show(struct text_table *v, const struct report *r, struct summary *s,
			   const struct summary_processes *w, size_t rows, bool json);

#endif
