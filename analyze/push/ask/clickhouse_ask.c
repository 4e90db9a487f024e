/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/push/ask/clickhouse_ask.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
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

static int read_rows(struct push_exchange *x, int (*row)(void *arg, char *line), void *arg)
{
	char *at, *end;
	int err = 0;

	outbuf_add(&x->answer, "", 1);
	if (x->answer.bad)
		return -ENOMEM;
	for (at = (char *)x->answer.data; *at && !err; at = end) {
		end = at + strcspn(at, "\n");
		if (*end)
			*end++ = '\0';
		err = row(arg, at);
	}
	return err;
}

int push_clickhouse_rows(struct push_http *h, const struct push_target *t, const char *sql,
			 int (*row)(void *arg, char *line), void *arg, char words[PUSH_WORDS_BYTES])
{
	struct push_exchange x = { 0 };
	int err = push_clickhouse_ask(h, t, sql, &x);

	if (!err && x.status != 200) {
		snprintf(words, PUSH_WORDS_BYTES, "%s", x.words);
		err = -EIO;
	}
	if (!err)
		err = read_rows(&x, row, arg);
	push_http_end(h, &x);
	return err;
}

uint64_t push_clickhouse_number(char **at)
{
	char *end;
	uint64_t value = strtoull(*at, &end, 10);

	*at = end + (*end == '\t' || *end == ',');
	return value;
}

char *push_clickhouse_text(char **at)
{
	char *text = *at, *to = *at;

	for (; **at && **at != '\t'; ++*at) {
		char c = **at;

		if (c == '\\' && (*at)[1]) {
			c = *++*at;
			c = (char)(c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c);
		}
		*to++ = c;
	}
	*at += **at == '\t';
	*to = '\0';
	return text;
}
