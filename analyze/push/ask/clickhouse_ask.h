/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* clickhouse_ask - a statement for ClickHouse, and its answer */
#ifndef EBPREC_ANALYZE_PUSH_ASK_CLICKHOUSE_ASK_H
#define EBPREC_ANALYZE_PUSH_ASK_CLICKHOUSE_ASK_H

#include "analyze/push/http.h"

/* The words of the answer are its first line.  push_http_end().  -ENOMEM. */
int push_clickhouse_ask(struct push_http *h, const struct push_target *t, const char *sql,
			struct push_exchange *x);
/*
 * Has row() read each line of the answer, TSV, which it may change; its error ends it.  -EIO: the server's words are in
 * `words`; -ENOMEM.
 */
int push_clickhouse_rows(struct push_http *h, const struct push_target *t, const char *sql,
			 int (*row)(void *arg, char *line), void *arg,
			 char words[PUSH_WORDS_BYTES]);
/* The next field of a line. */
uint64_t push_clickhouse_number(char **at);
/* The same of a text, without its escapes, in its place. */
char *push_clickhouse_text(char **at);

#endif
