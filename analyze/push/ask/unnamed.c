/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/push/ask/unnamed.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/push/ask/clickhouse_ask.h"
#include "analyze/push/forms/clickhouse.h"
#include "format/base/vec.h"

/* Hosts have 0 of a frame without a name, and 1 of one with. */
#define VERSION 2

static int add_row(void *arg, char *line)
{
	struct push_unnamed_list *l = arg;
	struct push_unnamed one = { .frame = push_clickhouse_number(&line) };
	const char *name, *plus;

	one.build_id = strdup(push_clickhouse_text(&line));
	one.file = strdup(push_clickhouse_text(&line));
	name = push_clickhouse_text(&line);
	plus = strrchr(name, '+');
	one.address = plus ? strtoull(plus + 1, NULL, 16) : 0;
	if (!one.build_id || !one.file || vec_reserve(&l->list, &l->capacity, l->count + 1)) {
		free(one.build_id);
		free(one.file);
		return -ENOMEM;
	}
	l->list[l->count++] = one;
	return 0;
}

int push_unnamed_ask(struct push_http *h, const struct push_target *t, size_t most,
		     struct push_unnamed_list *out, char words[PUSH_WORDS_BYTES])
{
	struct push_unnamed_list l = { 0 };
	char *sql;
	int err;

	if (asprintf(
		    &sql,
		    "SELECT frame, any(build_id) AS b, any(file), argMax(name, ver) AS n FROM %s.ebprec_frames "
		    "WHERE kind = 'native' AND build_id != '' GROUP BY frame "
		    "HAVING argMax(why, ver) != 0 AND match(n, '\\\\+0x[0-9a-f]+$') ORDER BY b, frame "
		    "LIMIT %zu FORMAT TSV",
		    t->database, most) < 0)
		return -ENOMEM;
	err = push_clickhouse_rows(h, t, sql, add_row, &l, words);
	free(sql);
	if (err)
		push_unnamed_done(&l);
	else
		*out = l;
	return err;
}

static int no_row(void *arg, char *line)
{
	(void)arg;
	(void)line;
	return 0;
}

static int put_row(FILE *to, const struct push_unnamed *one, bool is_first)
{
	char *build_id = push_clickhouse_quote(one->build_id),
	     *file = push_clickhouse_quote(one->file), *name = push_clickhouse_quote(one->found);
	int err = build_id && file && name ? 0 : -ENOMEM;

	if (!err)
		fprintf(to, "%s(%" PRIu64 ", 'native', %s, %s, %s, 0, 0, %d)", is_first ? "" : ", ",
			one->frame, build_id, file, name, VERSION);
	free(build_id);
	free(file);
	free(name);
	return err;
}

int push_unnamed_store(struct push_http *h, const struct push_target *t,
		       const struct push_unnamed_list *list, size_t first, size_t end,
		       char words[PUSH_WORDS_BYTES])
{
	char *sql = NULL;
	size_t bytes, count = 0;
	FILE *to = open_memstream(&sql, &bytes);
	int err = 0;

	if (!to)
		return -ENOMEM;
	fprintf(to,
		"INSERT INTO %s.ebprec_frames (frame, kind, build_id, file, name, is_inlined, why, ver) VALUES ",
		t->database);
	for (size_t i = first; i < end && !err; i++)
		if (list->list[i].found)
			err = put_row(to, &list->list[i], !count++);
	if (fclose(to))
		err = -ENOMEM;
	if (!err && count)
		err = push_clickhouse_rows(h, t, sql, no_row, NULL, words);
	free(sql);
	return err;
}

void push_unnamed_done(struct push_unnamed_list *l)
{
	for (size_t i = 0; i < l->count; i++) {
		free(l->list[i].build_id);
		free(l->list[i].file);
		free(l->list[i].found);
	}
	free(l->list);
	*l = (struct push_unnamed_list){ 0 };
}
