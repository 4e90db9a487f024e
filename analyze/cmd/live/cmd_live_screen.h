/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* cmd_live_screen - `ebprec live` without instruments: where the time goes, on a screen or as tables */
#ifndef EBPREC_ANALYZE_CMD_LIVE_CMD_LIVE_SCREEN_H
#define EBPREC_ANALYZE_CMD_LIVE_CMD_LIVE_SCREEN_H

#include "analyze/cmd/common/usage.h"

struct filter;

struct live_ask {
	const struct usage *usage;
	const char *by;              /* NULL: program */
	const char *show;            /* cpu, off-cpu, wall, wakers, an instrument; NULL: cpu */
	const char *slower;          /* of the instrument: NULL: the default */
	const char *pids;            /* separated by commas; NULL: all processes */
	const struct filter *filter; /* what is shown of it; of the filter the lists */
	unsigned freq, top, count, seconds; /* count, top 0: all; seconds: of a table */
	unsigned window;                    /* seconds of the screen at first; 0: the default */
	bool json, tables;                  /* tables: on a terminal, too */
	bool no_kernel, no_user;            /* CPU time there is not shown */
};

/* Exit status. */
int cmd_live_screen(struct live_ask *ask);

#endif
