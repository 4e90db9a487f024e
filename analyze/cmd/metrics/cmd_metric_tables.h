/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* cmd_metric_tables - choosing and showing tables for `ebprec metrics` and `ebprec live`, with the messages of both */
#ifndef EBPREC_ANALYZE_CMD_METRICS_CMD_METRIC_TABLES_H
#define EBPREC_ANALYZE_CMD_METRICS_CMD_METRIC_TABLES_H

#include "analyze/cmd/common/usage.h"
#include "analyze/metric/selection.h"

/*
 * Chooses the tables of m->rows: all, or those of the instrument or table `name`; again for others.  from: where they come
 * from, for messages.  0, or the exit status after an error was printed.
 */
int metric_tables_choose(struct metric_selection *m, const struct usage *usage, const char *from,
			 const char *name);
/* Whether the name is of a part of recordings that has no tables: another command shows it, and a message was printed. */
bool metric_tables_are_elsewhere(const char *name);
/* Shows the sums.  0, or the exit status after an error was printed. */
int metric_tables_show(const struct metric_selection *m, const char *from);

#endif
