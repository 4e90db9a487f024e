/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* cmd_brief - ebprec report --brief: what matters of a capture in 4 KB of Markdown */
#ifndef EBPREC_ANALYZE_CMD_REPORT_CMD_BRIEF_H
#define EBPREC_ANALYZE_CMD_REPORT_CMD_BRIEF_H

#include <stdbool.h>

#include "analyze/cmd/common/report_options.h"

struct brief_ask {
	const char *input;
	bool is_temporary;    /* commands cannot name it */
	const char *baseline; /* another capture; NULL: none */
	bool quiet;
	const struct pick_options *pick;
	const struct usage *usage;
};

/* The exit status. */
int cmd_brief(const struct brief_ask *ask);

#endif
