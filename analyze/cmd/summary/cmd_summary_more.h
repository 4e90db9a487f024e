/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* cmd_summary_more - the parts of a summary that not every capture has: waits, marks, counters */
#ifndef EBPREC_ANALYZE_CMD_SUMMARY_CMD_SUMMARY_MORE_H
#define EBPREC_ANALYZE_CMD_SUMMARY_CMD_SUMMARY_MORE_H

#include "analyze/report/report.h"
#include "analyze/out/text_table.h"

/*
 * CPUs that went or came while it was recorded: from when to when each was not sampled, since origin_ns.
 * Without memory none are shown.
 */
void cmd_summary_cpus(struct text_table *v, const struct capture *c, uint64_t origin_ns,
		      const struct time_span *window);

struct waits_style {
	size_t rows;
	uint64_t window_ns; /* that the waits are cut to, where times do not have it */
	bool json;
};

/*
 * The waits of threads; those that took most running time come first.  first: of the same capture, which
 * still has its model; asked: its query of samples;
 * times: as a query has them, with_busy.  An empty table where no switches were recorded.  -ENOMEM,
 * -EOVERFLOW.
 */
int cmd_summary_waits(struct text_table *v, const struct report *first,
		      const struct report_query *asked, struct offcpu_times *times,
		      const struct waits_style *style);
/* Marks by name, most frequent first.  -ENOMEM. */
int cmd_summary_marks(struct text_table *v, const struct capture *c, const struct filter *filter,
		      size_t rows);
/* The counts of the instrument `counters`, but for those of processes.  -ENOMEM, -EOVERFLOW. */
int cmd_summary_counters(struct text_table *v, const struct capture *c,
			 const struct filter *filter);

#endif
