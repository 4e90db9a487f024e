/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* report_html - report --html and diff --html: the page of a report or of two, and what it may weigh */
#ifndef EBPREC_ANALYZE_CMD_HTML_REPORT_HTML_H
#define EBPREC_ANALYZE_CMD_HTML_REPORT_HTML_H

#include "analyze/cmd/html/html_instruments.h"
#include "analyze/cmd/common/report_options.h"
#include "analyze/page/document.h"
#include "analyze/report/views.h"

#define REPORT_HTML_LIMIT_DEFAULT (20ull << 20) /* bytes: what bug trackers and mails take */

struct report_html_ask {
	const char *input, *output;
	uint64_t limit_bytes;
	const struct pick_options *pick; /* as they were given */
	const char *of;                  /* the instrument, or NULL */
	const struct report_ask *report;
	size_t attr;
	const struct filter *filter;
	bool marks, processes;          /* have these */
	struct page_counters *counters; /* have these; NULL: none */
	const struct capture *carried;  /* in the page, as it is; NULL: none */
	const char *view;               /* what it shows first, or NULL */
	const struct report_query
		*waits; /* as r was made, of waits in place of samples; NULL: no waits */
	const struct html_instruments *instruments; /* besides; NULL: none */
	const struct time_span *all;                /* as page_ask has it */
	struct page_renames renames;                /* as page_ask has them */
};

/* 0, or the exit status after an error was printed: the page does not know a part of the state; NULL: none is given. */
int report_html_check_view(const char *state, const struct usage *usage);
/* Sets what the query of a page needs. */
void report_html_query(struct report_query *query);
/* Behind report_make().  The exit status, after an error was printed. */
int report_html_write(struct report *r, const struct report_html_ask *ask);
/*
 * The same of the reports of two captures, of which each has an ask; to where the second has it.  summary: the text of a
 * browser without scripts.
 */
int report_html_write_two(struct report *const *reports, const struct report_html_ask *asks,
			  const char *title, const char *summary);

#endif
