/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * clickhouse - the tables, what makes them, and what is asked of them
 *
 * Facts and a ledger: samples name stacks by id, stacks name frames by id, so that what is scanned is narrow.  Stacks,
 * frames and batches may be sent again and again, as the engine keeps one of each; of samples the database is asked
 * how many of a batch it has before they are sent again.
 */
#ifndef EBPREC_ANALYZE_PUSH_FORMS_CLICKHOUSE_H
#define EBPREC_ANALYZE_PUSH_FORMS_CLICKHOUSE_H

#include <stdbool.h>

#include "analyze/push/forms/target.h"

/* From this on: LowCardinality, TTL; before it, types that mean the same. */
#define PUSH_CLICKHOUSE_FULL 20008
/* From this on, an insert may have a token by which the server knows it again. */
#define PUSH_CLICKHOUSE_TOKENS 22002

/* From this on, a view may be filled by the clock: the hourly table is.  Before, by whoever runs the statement. */
#define PUSH_CLICKHOUSE_REFRESH 24010

/* From the text of SELECT version(): 24.3.1.5 is 24003; 0: it is none. */
uint64_t push_clickhouse_version(const char *text);
/* The i-th statement that makes the tables, owned; *out NULL: behind the last.  -ENOMEM. */
int push_clickhouse_statement(const struct push_target *t, bool replicated, unsigned days, size_t i,
			      char **out);
/* A text as a literal of SQL, with its quotes; owned, NULL: no memory. */
char *push_clickhouse_quote(const char *text);

#endif
