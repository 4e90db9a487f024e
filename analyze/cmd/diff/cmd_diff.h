/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* cmd_diff - the rows of ebprec diff, for an answer that has them as a part */
#ifndef EBPREC_ANALYZE_CMD_DIFF_CMD_DIFF_H
#define EBPREC_ANALYZE_CMD_DIFF_CMD_DIFF_H

#include "analyze/cmd/common/report_options.h"
#include "analyze/report/diff/diff_text.h"

/* Called once, when both were read; both are the caller's until it returns. */
typedef void (*diff_rows_fn)(void *arg, const struct diff_text *text,
			     const struct diff_table_result *result);

/* Options of 'ebprec diff' for another command's captures. */
struct diff_ask {
	const struct pick_options *pick;
	const char *names[2]; /* of both on a page; NULL: as they are called */
	const char *times[2]; /* --time of BEFORE and of AFTER; NULL: all */
	const char *sort, *min_percent, *html;
	uint64_t html_limit_bytes;
	bool folded, json, quiet;
};

/* words: BEFORE and AFTER.  The exit status, after an error was printed. */
int cmd_diff_run(const struct diff_ask *ask, char *const *words);

/*
 * Compares as 'ebprec diff' does by default, without notes.  words: BEFORE and AFTER.  The exit status, after an error was
 * printed.
 */
int cmd_diff_rows(const struct pick_options *pick, char *const *words, diff_rows_fn use, void *arg);

#endif
