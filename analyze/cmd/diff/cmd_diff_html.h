/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* cmd_diff_html - diff --html: the page of two captures */
#ifndef EBPREC_ANALYZE_CMD_DIFF_CMD_DIFF_HTML_H
#define EBPREC_ANALYZE_CMD_DIFF_CMD_DIFF_HTML_H

#include "analyze/cmd/common/report_options.h"
#include "analyze/cmd/html/report_html.h"

struct diff_html_ask {
	const char *output;
	uint64_t limit_bytes;
	const struct pick_options *pick; /* of both captures */
	const struct usage *usage;
	bool quiet;
	const char *const *names;    /* of each side on the page */
	const char *const *times;    /* of each side, in place of pick's; NULL: none */
	struct page_renames renames; /* of BEFORE: the names of AFTER */
	const char *summary;         /* the text where scripts do not run */
};

/* words: BEFORE and AFTER.  The exit status, after an error was printed. */
int diff_html_write(const struct diff_html_ask *ask, char *const *words);

#endif
