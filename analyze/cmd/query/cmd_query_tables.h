/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* cmd_query_tables - texts and JSON of the stacks of many hosts, on standard output: functions, a tree, what changed */
#ifndef EBPREC_ANALYZE_CMD_QUERY_CMD_QUERY_TABLES_H
#define EBPREC_ANALYZE_CMD_QUERY_CMD_QUERY_TABLES_H

#include "analyze/push/ask/fleet.h"

struct callgraph_style; /* of analyze/report/profile/callgraph.h */

/* errno of the stream, -ENOMEM; of all three. */
int query_tables_functions(const struct push_fleet *f, bool json);
int query_tables_tree(const struct push_fleet *f, const struct callgraph_style *style);
/* By how much the share of a function changed. */
int query_tables_diff(const struct push_fleet *before, const struct push_fleet *after, bool json);

#endif
