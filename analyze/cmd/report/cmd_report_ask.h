/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * cmd_report_ask - from the options of ebprec report to a view and what it is asked
 *
 * Nothing here needs a capture.  Each returns 0, or the exit status after an error was printed.
 */
#ifndef EBPREC_ANALYZE_CMD_REPORT_CMD_REPORT_ASK_H
#define EBPREC_ANALYZE_CMD_REPORT_CMD_REPORT_ASK_H

#include "analyze/cmd/report/cmd_report_options.h"
#include "analyze/report/views.h"

/* The view alone: *out and ask->around. */
int cmd_report_ask_view(const struct report_opts *o, struct report_ask *ask,
			const struct report_view **out);
/* Fills *ask from the options, but for the categories. */
int cmd_report_ask_make(const struct report_opts *o, struct report_ask *ask,
			const struct report_view **view);
/* Reads the rules of categories, if a key of *ask wants them: ask->categories, and *out to free. */
int cmd_report_ask_categories(const struct report_opts *o, struct report_ask *ask,
			      struct categories **out);

#endif
