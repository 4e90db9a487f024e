/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* clickhouse_ask - statements and queries, sent to ClickHouse */
#ifndef EBPREC_ANALYZE_PUSH_CLICKHOUSE_ASK_H
#define EBPREC_ANALYZE_PUSH_CLICKHOUSE_ASK_H

#include "analyze/push/http.h"

/* A query; its answer is x->answer.  Statements of the text go to the server as the body.  -ENOMEM. */
int push_clickhouse_ask(struct push_http *h, const struct push_target *t, const char *sql,
			struct push_exchange *x);

#endif
