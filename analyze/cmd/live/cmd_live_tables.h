/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* cmd_live_tables - `ebprec live NAME...`: the tables of instruments as they fill, without a capture */
#ifndef EBPREC_ANALYZE_CMD_LIVE_CMD_LIVE_TABLES_H
#define EBPREC_ANALYZE_CMD_LIVE_CMD_LIVE_TABLES_H

#include "analyze/cmd/common/usage.h"
#include "analyze/metric/selection.h"

/* All borrowed. */
struct live_tables_ask {
	const struct usage *usage;
	char *const *names; /* of the instruments */
	size_t name_count;
	const char *with;                /* the same, separated by commas */
	const char *pids;                /* separated by commas; NULL: all processes */
	const char *interval_s, *slower; /* NULL: the recorder's default */
	bool each;                       /* a row for each packet */
	unsigned count;                  /* of intervals; 0: all */
	struct metric_ask view;
};

/* Exit status. */
int cmd_live_tables(const struct live_tables_ask *ask);

#endif
