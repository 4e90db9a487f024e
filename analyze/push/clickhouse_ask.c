/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/push/clickhouse_ask.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int push_clickhouse_ask(struct push_http *h, const struct push_target *t, const char *sql,
			struct push_exchange *x)
{
	struct push_request r = { .body = sql, .body_bytes = strlen(sql) };
	int err;

	r.url = NULL;
	if (asprintf(&r.url, "%s/", t->url) < 0)
		return -ENOMEM;
	err = push_http_ask(h, t, &r, PUSH_ANSWER_MAX_BYTES, x);
	push_request_done(&r);
	return err;
}
