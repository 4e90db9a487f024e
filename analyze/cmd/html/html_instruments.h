/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* html_instruments - the stacks of a capture's instruments, as --of has them: parts of a page beside its samples */
#ifndef EBPREC_ANALYZE_CMD_HTML_HTML_INSTRUMENTS_H
#define EBPREC_ANALYZE_CMD_HTML_HTML_INSTRUMENTS_H

#include <stddef.h>

#include "analyze/report/report.h"

struct html_instrument {
	char *name;       /* as --of takes it; owned */
	const char *unit; /* of its weights; static */
	size_t attr;      /* its event */
	struct report report;
};

/* Embedded by the owner; html_instruments_done(), before first is done; all zero is an empty one. */
struct html_instruments {
	struct html_instrument *list; /* those that have samples */
	size_t count;
};

/*
 * Counts and names the stacks of all instruments.  first: a report of the capture that was made by query, as
 * report_html_query() has it.  -ENOMEM, -EOVERFLOW; *out is empty then.
 */
int html_instruments_read(const struct report *first, const struct report_query *query,
			  struct html_instruments *out);
void html_instruments_done(struct html_instruments *instruments);

#endif
