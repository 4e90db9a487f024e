/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/serve/store.h"

#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/base/database.h"

enum statement {
	BEGIN,
	COMMIT,
	ROLLBACK,
	FIND_SENDER,
	ADD_SENDER,
	COUNT_SENDERS,
	FIND_GAP,
	COUNT_GAPS,
	REMOVE_GAP,
	ADD_GAP,
	MOVE_LAST,
	COUNT_RECEIVED,
	COUNT_TWICE,
	ADD_SERIES,
	GROW_SERIES,
	COUNT_SERIES,
	FORGET_SERIES,
	COUNT_DROPPED,
	ASK_DROPPED,
	LIST_SERIES,
	LIST_SENDERS,
	LIST_GAPS,
	STATEMENTS
};

static const char *const texts[STATEMENTS] = {
	[BEGIN] = "BEGIN IMMEDIATE",
	[COMMIT] = "COMMIT",
	[ROLLBACK] = "ROLLBACK",
	[FIND_SENDER] = "SELECT id, last FROM senders WHERE source = ?1 AND sender = ?2",
	[ADD_SENDER] =
		"INSERT INTO senders (source, sender, first, last, received, twice) VALUES (?1, ?2, ?3, ?3, 0, 0)",
	[COUNT_SENDERS] = "SELECT count(*) FROM senders",
	[FIND_GAP] =
		"SELECT low, high FROM gaps WHERE id = ?1 AND low <= ?2 ORDER BY low DESC LIMIT 1",
	[COUNT_GAPS] = "SELECT count(*) FROM gaps",
	[REMOVE_GAP] = "DELETE FROM gaps WHERE id = ?1 AND low = ?2",
	[ADD_GAP] = "INSERT INTO gaps VALUES (?1, ?2, ?3)",
	[MOVE_LAST] = "UPDATE senders SET last = ?2 WHERE id = ?1",
	[COUNT_RECEIVED] = "UPDATE senders SET received = received + 1 WHERE id = ?1",
	[COUNT_TWICE] = "UPDATE senders SET twice = twice + 1 WHERE id = ?1",
	[ADD_SERIES] = "INSERT INTO series VALUES (?1, ?2, ?3 + 0, ?4)",
	[GROW_SERIES] =
		"UPDATE series SET value = value + ?3, seen = ?4 WHERE name = ?1 AND labels = ?2",
	[COUNT_SERIES] = "SELECT count(*) FROM series",
	[FORGET_SERIES] = "DELETE FROM series WHERE seen < ?1",
	[COUNT_DROPPED] = "UPDATE dropped SET count = count + ?1",
	[ASK_DROPPED] = "SELECT count FROM dropped",
	[LIST_SERIES] = "SELECT name, labels, value FROM series ORDER BY name, labels",
	[LIST_SENDERS] =
		"SELECT source, sender, first, last, received, twice, "
		"(SELECT coalesce(sum(high - low + 1), 0) FROM gaps WHERE gaps.id = senders.id) "
		"FROM senders ORDER BY source, sender",
	[LIST_GAPS] =
		("SELECT low, high FROM gaps WHERE id = (SELECT id FROM senders WHERE source = ?1 AND sender = ?2) "
		 "ORDER BY low"),
};

static const char schema[] =
	"PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY;"
	"CREATE TABLE IF NOT EXISTS senders (id INTEGER PRIMARY KEY, source TEXT NOT NULL, sender TEXT NOT NULL,"
	" first INTEGER NOT NULL, last INTEGER NOT NULL, received INTEGER NOT NULL, twice INTEGER NOT NULL,"
	" UNIQUE (source, sender));"
	"CREATE TABLE IF NOT EXISTS gaps (id INTEGER NOT NULL, low INTEGER NOT NULL, high INTEGER NOT NULL,"
	" PRIMARY KEY (id, low)) WITHOUT ROWID;"
	"CREATE TABLE IF NOT EXISTS series (name TEXT NOT NULL, labels TEXT NOT NULL, value NUMERIC NOT NULL,"
	" seen INTEGER NOT NULL, PRIMARY KEY (name, labels)) WITHOUT ROWID;"
	"CREATE TABLE IF NOT EXISTS dropped (count INTEGER NOT NULL);"
	"INSERT INTO dropped SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM dropped);";

struct serve_store {
	sqlite3 *db;
	sqlite3_stmt *statements[STATEMENTS];
	struct serve_limits limits;
	uint64_t series, dropped; /* dropped: of the batch that is being added */
	char problem[160];
};

static int errno_of(struct serve_store *s, int code)
{
	return database_problem(s->db, code, s->problem, sizeof(s->problem));
}

/* ---- statements ---- */

static int change(struct serve_store *s, enum statement which, const char *types, ...)
{
	sqlite3_stmt *stmt = s->statements[which];
	va_list values;
	int code;

	va_start(values, types);
	(void)database_bind(stmt, types, values);
	va_end(values);
	code = sqlite3_step(stmt);
	code = code == SQLITE_DONE || code == SQLITE_ROW ? SQLITE_OK : code;
	if (code)
		code = errno_of(s, code);
	(void)sqlite3_reset(stmt);
	return code;
}

/* Up to two numbers of the first row.  -ENOENT: there is none. */
static int ask(struct serve_store *s, int64_t out[2], enum statement which, const char *types, ...)
{
	sqlite3_stmt *stmt = s->statements[which];
	va_list values;
	int code, err;

	va_start(values, types);
	(void)database_bind(stmt, types, values);
	va_end(values);
	code = sqlite3_step(stmt);
	err = code == SQLITE_ROW ? 0 : code == SQLITE_DONE ? -ENOENT : errno_of(s, code);
	for (int i = 0; !err && i < 2 && i < sqlite3_column_count(stmt); i++)
		out[i] = sqlite3_column_int64(stmt, i);
	(void)sqlite3_reset(stmt);
	return err;
}

int serve_store_open(const char *path, const struct serve_limits *limits, struct serve_store **out,
		     char **problem)
{
	struct serve_store *s = calloc(1, sizeof(*s));
	int code, err;

	*problem = NULL;
	if (!s)
		return -ENOMEM;
	s->limits = *limits;
	code = sqlite3_open_v2(path, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
	if (code == SQLITE_OK)
		code = sqlite3_busy_timeout(s->db, 5000);
	if (code == SQLITE_OK)
		code = sqlite3_exec(s->db, schema, NULL, NULL, NULL);
	for (int i = 0; code == SQLITE_OK && i < STATEMENTS; i++)
		code = sqlite3_prepare_v2(s->db, texts[i], -1, &s->statements[i], NULL);
	if (code == SQLITE_OK) {
		*out = s;
		return 0;
	}
	err = errno_of(s, code);
	*problem = strdup(s->problem);
	serve_store_close(s);
	return err;
}

void serve_store_close(struct serve_store *s)
{
	if (!s)
		return;
	for (int i = 0; i < STATEMENTS; i++)
		sqlite3_finalize(s->statements[i]);
	sqlite3_close(s->db);
	free(s);
}

const char *serve_store_problem(const struct serve_store *s)
{
	return s->problem;
}

/* ---- numbers ---- */

static int has_room(struct serve_store *s, enum statement count, int64_t most)
{
	int64_t now[2];
	int err = ask(s, now, count, "");

	return err ? err : now[0] < most ? 0 : -EDQUOT;
}

/* A number below the last: one that is missing, or one that came before. */
static int fill_gap(struct serve_store *s, int64_t id, int64_t number, bool *is_new)
{
	int64_t gap[2];
	int err = ask(s, gap, FIND_GAP, "ii", id, number);

	*is_new = !err && gap[1] >= number;
	if (err == -ENOENT || (!err && !*is_new))
		return change(s, COUNT_TWICE, "i", id);
	if (!err)
		err = change(s, REMOVE_GAP, "ii", id, gap[0]);
	if (!err && gap[0] < number)
		err = change(s, ADD_GAP, "iii", id, gap[0], number - 1);
	if (!err && number < gap[1])
		err = change(s, ADD_GAP, "iii", id, number + 1, gap[1]);
	return err;
}

static int add_behind(struct serve_store *s, int64_t id, int64_t last, int64_t number)
{
	int err = 0;

	if (number > last + 1) {
		err = has_room(s, COUNT_GAPS, SERVE_GAPS_MAX);
		if (!err)
			err = change(s, ADD_GAP, "iii", id, last + 1, number - 1);
	}
	return err ? err : change(s, MOVE_LAST, "ii", id, number);
}

static int note_number(struct serve_store *s, const struct received *r, bool *is_new)
{
	const int64_t number = (int64_t)r->sequence;
	int64_t row[2];
	int err = ask(s, row, FIND_SENDER, "tt", r->source, r->sender);

	*is_new = true;
	if (err == -ENOENT) {
		err = has_room(s, COUNT_SENDERS, SERVE_SENDERS_MAX);
		if (!err)
			err = change(s, ADD_SENDER, "tti", r->source, r->sender, number);
		row[0] = sqlite3_last_insert_rowid(s->db);
	} else if (!err) {
		err = number > row[1] ? add_behind(s, row[0], row[1], number)
				      : fill_gap(s, row[0], number, is_new);
	}
	return err || !*is_new ? err : change(s, COUNT_RECEIVED, "i", row[0]);
}

/* ---- counts ---- */

struct adding {
	struct serve_store *s;
	int64_t now_s;
};

static int add_count(void *arg, const struct received_count *c)
{
	const struct adding *a = arg;
	struct serve_store *s = a->s;
	int err = change(s, GROW_SERIES, "ttti", c->name, c->labels, c->value, a->now_s);

	if (err || sqlite3_changes(s->db))
		return err;
	if (s->series >= s->limits.most_series) {
		s->dropped++;
		return 0;
	}
	s->series++;
	return change(s, ADD_SERIES, "ttti", c->name, c->labels, c->value, a->now_s);
}

static int forget(struct serve_store *s, uint64_t now_s)
{
	int64_t count[2];
	int err = 0;

	if (s->limits.forget_s && now_s > s->limits.forget_s)
		err = change(s, FORGET_SERIES, "i", (int64_t)(now_s - s->limits.forget_s));
	if (!err)
		err = ask(s, count, COUNT_SERIES, "");
	if (!err)
		s->series = (uint64_t)count[0];
	return err;
}

static int add_all(struct serve_store *s, const struct received *r, uint64_t now_s, bool *is_new,
		   const char **problem)
{
	struct adding a = { s, (int64_t)now_s };
	int err = note_number(s, r, is_new);

	s->dropped = 0;
	if (!err && *is_new)
		err = forget(s, now_s);
	if (!err && *is_new)
		err = received_each(r, add_count, &a, problem);
	if (!err && s->dropped)
		err = change(s, COUNT_DROPPED, "i", (int64_t)s->dropped);
	return err ? err : change(s, COMMIT, "");
}

int serve_store_add(struct serve_store *s, const struct received *r, uint64_t now_s, bool *is_new,
		    const char **problem)
{
	char why[sizeof(s->problem)];
	int err = change(s, BEGIN, "");

	if (!err)
		err = add_all(s, r, now_s, is_new, problem);
	if (err) {
		memcpy(why, s->problem, sizeof(why));
		(void)change(s, ROLLBACK, "");
		memcpy(s->problem, why, sizeof(why));
	}
	return err;
}

/* ---- answers ---- */

static const char *column_text(sqlite3_stmt *stmt, int i)
{
	const char *text = (const char *)sqlite3_column_text(stmt, i);

	return text ? text : "";
}

int serve_store_put_metrics(struct serve_store *s, struct outbuf *out)
{
	sqlite3_stmt *stmt = s->statements[LIST_SERIES];
	char named[RECEIVED_TEXT_MAX * 4] = "";
	int code, err;

	while ((code = sqlite3_step(stmt)) == SQLITE_ROW) {
		const char *name = column_text(stmt, 0), *labels = column_text(stmt, 1);

		if (strncmp(named, name, sizeof(named) - 1) != 0)
			outbuf_printf(out, "# TYPE %s counter\n", name);
		snprintf(named, sizeof(named), "%s", name);
		outbuf_printf(out, "%s%s%s%s %s\n", name, *labels ? "{" : "", labels,
			      *labels ? "}" : "", column_text(stmt, 2));
	}
	err = code == SQLITE_DONE ? 0 : errno_of(s, code);
	(void)sqlite3_reset(stmt);
	return err ? err : out->bad ? -ENOMEM : 0;
}

uint64_t serve_store_left_out(struct serve_store *s)
{
	int64_t count[2] = { 0 };

	(void)ask(s, count, ASK_DROPPED, "");
	return (uint64_t)count[0];
}

int serve_store_each_sender(struct serve_store *s,
			    int (*each)(void *arg, const struct serve_sender *sender), void *arg)
{
	sqlite3_stmt *stmt = s->statements[LIST_SENDERS];
	int code, err = 0;

	while (!err && (code = sqlite3_step(stmt)) == SQLITE_ROW) {
		const struct serve_sender sender = {
			.source = column_text(stmt, 0),
			.sender = column_text(stmt, 1),
			.first = (uint64_t)sqlite3_column_int64(stmt, 2),
			.last = (uint64_t)sqlite3_column_int64(stmt, 3),
			.received = (uint64_t)sqlite3_column_int64(stmt, 4),
			.twice = (uint64_t)sqlite3_column_int64(stmt, 5),
			.missing = (uint64_t)sqlite3_column_int64(stmt, 6),
		};

		err = each(arg, &sender);
	}
	if (!err && code != SQLITE_DONE)
		err = errno_of(s, code);
	(void)sqlite3_reset(stmt);
	return err;
}

int serve_store_each_gap(struct serve_store *s, const struct serve_sender *sender,
			 int (*each)(void *arg, uint64_t from, uint64_t to), void *arg)
{
	sqlite3_stmt *stmt = s->statements[LIST_GAPS];
	int code, err = 0;

	(void)sqlite3_bind_text(stmt, 1, sender->source, -1, SQLITE_STATIC);
	(void)sqlite3_bind_text(stmt, 2, sender->sender, -1, SQLITE_STATIC);
	while (!err && (code = sqlite3_step(stmt)) == SQLITE_ROW)
		err = each(arg, (uint64_t)sqlite3_column_int64(stmt, 0),
			   (uint64_t)sqlite3_column_int64(stmt, 1));
	if (!err && code != SQLITE_DONE)
		err = errno_of(s, code);
	(void)sqlite3_reset(stmt);
	return err;
}
