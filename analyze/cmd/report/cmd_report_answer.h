/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* cmd_report_answer - writes the answer of ebprec report, or prints why it is empty */
#ifndef EBPREC_ANALYZE_CMD_REPORT_CMD_REPORT_ANSWER_H
#define EBPREC_ANALYZE_CMD_REPORT_CMD_REPORT_ANSWER_H

#include "analyze/cmd/report/cmd_report_options.h"
#include "analyze/report/views.h"

/*
 * To standard output, or to the file of --svg or --html.  The exit status, after an error was
 * printed.
 */
int cmd_report_answer_write(struct report *r, const struct report_opts *opts,
			    const struct report_view *view, struct report_ask *ask,
			    const struct report_query *query);
/* No sample was counted: prints on stderr why, and what to try. */
void cmd_report_answer_empty(const struct report *r, const struct report_opts *opts,
			     const struct report_query *query);

#endif
