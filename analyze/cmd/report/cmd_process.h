/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* cmd_process - ebprec report --process: all that a capture has about one process */
#ifndef EBPREC_ANALYZE_CMD_REPORT_CMD_PROCESS_H
#define EBPREC_ANALYZE_CMD_REPORT_CMD_PROCESS_H

#include <stdbool.h>

#include "analyze/cmd/common/report_options.h"

struct process_ask {
	const char *input;
	uint32_t pid;
	bool json, quiet;
	struct pick_options pick; /* with the process in it */
	const struct usage *usage;
};

/* The exit status. */
int cmd_process(const struct process_ask *ask);

#endif
