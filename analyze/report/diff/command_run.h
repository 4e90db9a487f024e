/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * command_run - whether two captures have the same command in them, from its start to its end
 *
 * Then what one run cost is to be compared with what the other did.  The recorder notes why it ended and which
 * process it started, and the command line of that; a slice, a merged capture, one of a service or of the
 * entire machine, and perf's own files, are no run.  Two runs are of the same command when their words are
 * equal, but for the first one and for names of files that are matched (renames.h).
 */
#ifndef EBPREC_ANALYZE_REPORT_DIFF_COMMAND_RUN_H
#define EBPREC_ANALYZE_REPORT_DIFF_COMMAND_RUN_H

#include <stdbool.h>

#include "analyze/report/diff/renames.h"
#include "format/reader/capture.h"

struct command_run {
	char *words; /* owned, each ended by a NUL; NULL: the capture has no complete run of a command */
	size_t size_bytes;
};

/* -ENOMEM. */
int command_run_read(const struct capture *c, struct command_run *out);
void command_run_done(struct command_run *r);
bool command_run_same(const struct command_run *before, const struct command_run *after,
		      const struct renames *renames);

#endif
