/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* cmd_report_options - the options of ebprec report */
#ifndef EBPREC_ANALYZE_CMD_REPORT_CMD_REPORT_OPTIONS_H
#define EBPREC_ANALYZE_CMD_REPORT_CMD_REPORT_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/cmd/html/report_html.h"
#include "analyze/cmd/common/report_options.h"

struct report_opts {
	const char *of;         /* an instrument */
	const char *svg, *html; /* a file, or "-" */
	uint64_t html_limit_bytes;
	const char *html_view, *baseline;
	const char *annotate, *assembly;
	struct option_list source_dirs;
	const char *input, *json, *min_percent, *sort, *callers, *callees, *graph, *categories;
	const char *input_name;       /* for messages and pages; not an option; NULL: input */
	const char *min_percent_name; /* of the option that gave it: perf calls it otherwise */
	struct pick_options pick;
	bool lines, folded, tree, bottom_up, annotations, period, children, threads, quiet;
	bool system, fold_recursion, csv, symbols, off_cpu, wakers, wall, waits, html_waits,
		html_instruments, with_capture, brief;
	unsigned max_depth, process;
};

#define REPORT_OPTS_DEFAULTS                                                            \
	{                                                                               \
		.pick = PICK_OPTIONS_DEFAULTS, .system = true, .html_waits = true,      \
		.html_instruments = true, .html_limit_bytes = REPORT_HTML_LIMIT_DEFAULT \
	}

/* Its options are those of a struct report_opts. */
extern const struct usage cmd_report_usage;

/* Whether one of two words is among the arguments: --children and --no-children both differ from giving none of them. */
bool cmd_report_is_given(int argc, char **argv, const char *word, const char *other);

/* 'ebprec report' with options that were parsed: opts->input is the capture.  The exit status. */
int cmd_report_run(struct report_opts *opts, bool children_given);

#endif
