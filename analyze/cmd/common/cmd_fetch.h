/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* cmd_fetch - messages while files are fetched, and about the result */
#ifndef EBPREC_ANALYZE_CMD_COMMON_CMD_FETCH_H
#define EBPREC_ANALYZE_CMD_COMMON_CMD_FETCH_H

#include "analyze/sym/locate/debuginfod.h"

/* For debuginfod_opts: a line on the terminal that goes on, nothing where stderr is none. */
void cmd_fetch_progress(void *arg, const struct fetch_progress *p);
/* NULL: nothing was to be fetched. */
void cmd_fetch_result(const struct debuginfod *f);

#endif
