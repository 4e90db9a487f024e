/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/push/ledger.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/base/database.h"
#include "format/base/hash.h"

/* Nothing is put off for so long: then the clock was set back. */
#define FAR_MS (24 * 3600 * 1000)

struct push_ledger {
	sqlite3 *db;
	uint64_t sender;
	char problem[160]; /* of the last call that failed */
};

static const char schema[] =
	"PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY;"
	"CREATE TABLE IF NOT EXISTS sender (number INTEGER NOT NULL);"
	"CREATE TABLE IF NOT EXISTS targets (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,"
	" sent INTEGER NOT NULL DEFAULT 0, samples INTEGER NOT NULL DEFAULT 0, bytes INTEGER NOT NULL DEFAULT 0);"
	"CREATE TABLE IF NOT EXISTS captures (target INTEGER NOT NULL, identity TEXT NOT NULL,"
	" PRIMARY KEY (target, identity)) WITHOUT ROWID;"
	"CREATE TABLE IF NOT EXISTS seqs (target INTEGER NOT NULL, host TEXT NOT NULL, last INTEGER NOT NULL,"
	" PRIMARY KEY (target, host)) WITHOUT ROWID;"
	"CREATE TABLE IF NOT EXISTS batches (target INTEGER NOT NULL, host TEXT NOT NULL, seq INTEGER NOT NULL,"
	" bytes INTEGER NOT NULL, samples INTEGER NOT NULL, tries INTEGER NOT NULL DEFAULT 0,"
	" next_ms INTEGER NOT NULL DEFAULT 0, refused INTEGER NOT NULL DEFAULT 0, words TEXT,"
	" PRIMARY KEY (target, host, seq)) WITHOUT ROWID;";

/* What ledgers did not have at first.  Those that have a column refuse it. */
static const char *const later_columns[] = {
	"ALTER TABLE batches ADD COLUMN parts INTEGER NOT NULL DEFAULT 0",
	"ALTER TABLE batches ADD COLUMN rejected INTEGER NOT NULL DEFAULT 0",
	"ALTER TABLE batches ADD COLUMN unanswered INTEGER NOT NULL DEFAULT 1",
	"ALTER TABLE targets ADD COLUMN repeated INTEGER NOT NULL DEFAULT 0",
	"ALTER TABLE targets ADD COLUMN removed INTEGER NOT NULL DEFAULT 0",
};

static int errno_of(struct push_ledger *l, int code)
{
	return database_problem(l->db, code, l->problem, sizeof(l->problem));
}

/* types, values: of database_bind(). */
static int prepare(struct push_ledger *l, sqlite3_stmt **out, const char *sql, const char *types,
		   va_list values)
{
	int code = sqlite3_prepare_v2(l->db, sql, -1, out, NULL);

	if (code == SQLITE_OK)
		code = database_bind(*out, types, values);
	return code == SQLITE_OK ? 0 : errno_of(l, code);
}

static int query(struct push_ledger *l, sqlite3_stmt **out, const char *sql, const char *types, ...)
{
	va_list values;
	int err;

	va_start(values, types);
	err = prepare(l, out, sql, types, values);
	va_end(values);
	return err;
}

static int change(struct push_ledger *l, const char *sql, const char *types, ...)
{
	sqlite3_stmt *s = NULL;
	va_list values;
	int err, code;

	va_start(values, types);
	err = prepare(l, &s, sql, types, values);
	va_end(values);
	if (!err) {
		code = sqlite3_step(s);
		err = code == SQLITE_DONE || code == SQLITE_ROW ? 0 : errno_of(l, code);
	}
	sqlite3_finalize(s);
	return err;
}

/* One number.  -ENOENT: no row. */
static int step_number(struct push_ledger *l, sqlite3_stmt *s, int64_t *out)
{
	int code = sqlite3_step(s), err;

	err = code == SQLITE_ROW ? 0 : code == SQLITE_DONE ? -ENOENT : errno_of(l, code);
	if (!err)
		*out = sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	return err;
}

static int make_sender(struct push_ledger *l)
{
	struct hash_key random;
	sqlite3_stmt *s = NULL;
	int64_t number;
	int err = query(l, &s, "SELECT number FROM sender", "");

	err = err ? err : step_number(l, s, &number);
	if (err == -ENOENT) {
		err = hash_key_new(&random);
		number = (int64_t)(random.a >> 1 | 1); /* SQLite has no unsigned integers */
		if (!err)
			err = change(l, "INSERT INTO sender VALUES (?)", "i", number);
	}
	if (!err)
		l->sender = (uint64_t)number;
	return err;
}

int push_ledger_open(const char *path, struct push_ledger **out, char **problem)
{
	struct push_ledger *l = calloc(1, sizeof(*l));
	int code, err;

	*problem = NULL;
	if (!l)
		return -ENOMEM;
	code = sqlite3_open_v2(path, &l->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
	if (code == SQLITE_OK)
		code = sqlite3_busy_timeout(l->db, 5000);
	if (code == SQLITE_OK)
		code = sqlite3_exec(l->db, schema, NULL, NULL, NULL);
	for (size_t i = 0; code == SQLITE_OK && i < sizeof(later_columns) / sizeof(*later_columns);
	     i++)
		(void)sqlite3_exec(l->db, later_columns[i], NULL, NULL, NULL);
	err = code == SQLITE_OK ? make_sender(l) : errno_of(l, code);
	if (err) {
		*problem = *l->problem ? strdup(l->problem) : NULL;
		push_ledger_close(l);
		return err;
	}
	*out = l;
	return 0;
}

void push_ledger_close(struct push_ledger *l)
{
	if (!l)
		return;
	sqlite3_close(l->db);
	free(l);
}

const char *push_ledger_problem(const struct push_ledger *l)
{
	return l->problem;
}

void push_ledger_make_room(struct push_ledger *l)
{
	(void)sqlite3_wal_checkpoint_v2(l->db, NULL, SQLITE_CHECKPOINT_RESTART, NULL, NULL);
}

uint64_t push_ledger_sender(const struct push_ledger *l)
{
	return l->sender;
}

int push_ledger_target(struct push_ledger *l, const char *name, int64_t *out)
{
	sqlite3_stmt *s = NULL;
	int err = change(l, "INSERT OR IGNORE INTO targets (name) VALUES (?)", "t", name);

	if (!err)
		err = query(l, &s, "SELECT id FROM targets WHERE name = ?", "t", name);
	return err ? err : step_number(l, s, out);
}

int push_ledger_begin(struct push_ledger *l)
{
	return change(l, "BEGIN IMMEDIATE", "");
}

int push_ledger_commit(struct push_ledger *l)
{
	return change(l, "COMMIT", "");
}

void push_ledger_rollback(struct push_ledger *l)
{
	(void)change(l, "ROLLBACK", "");
}

int push_ledger_has_capture(struct push_ledger *l, int64_t target, const char *identity, bool *out)
{
	sqlite3_stmt *s = NULL;
	int64_t one;
	int err = query(l, &s, "SELECT 1 FROM captures WHERE target = ? AND identity = ?", "it",
			target, identity);

	err = err ? err : step_number(l, s, &one);
	if (err && err != -ENOENT)
		return err;
	*out = !err;
	return 0;
}

int push_ledger_has_batch(struct push_ledger *l, int64_t target, const char *host, uint64_t seq,
			  bool *out)
{
	sqlite3_stmt *s = NULL;
	int64_t one;
	int err = query(l, &s, "SELECT 1 FROM batches WHERE target = ? AND host = ? AND seq = ?",
			"iti", target, host, (int64_t)seq);

	err = err ? err : step_number(l, s, &one);
	if (err && err != -ENOENT)
		return err;
	*out = !err;
	return 0;
}

int push_ledger_add_capture(struct push_ledger *l, int64_t target, const char *identity)
{
	return change(l, "INSERT INTO captures VALUES (?, ?)", "it", target, identity);
}

int push_ledger_next_seq(struct push_ledger *l, int64_t target, const char *host, uint64_t *out)
{
	sqlite3_stmt *s = NULL;
	int64_t last = 0;
	int err = query(l, &s, "SELECT last FROM seqs WHERE target = ? AND host = ?", "it", target,
			host);

	err = err ? err : step_number(l, s, &last);
	if (err && err != -ENOENT)
		return err;
	*out = (uint64_t)last + 1;
	return 0;
}

int push_ledger_take_seq(struct push_ledger *l, int64_t target, const char *host, uint64_t *out)
{
	sqlite3_stmt *s = NULL;
	int64_t last = 0;
	int err = change(
		l,
		"INSERT INTO seqs VALUES (?, ?, 1) ON CONFLICT (target, host) DO UPDATE SET last = last + 1",
		"it", target, host);

	if (!err)
		err = query(l, &s, "SELECT last FROM seqs WHERE target = ? AND host = ?", "it",
			    target, host);
	err = err ? err : step_number(l, s, &last);
	if (!err)
		*out = (uint64_t)last;
	return err;
}

int push_ledger_add(struct push_ledger *l, const struct push_waiting *w)
{
	return change(
		l,
		"INSERT INTO batches (target, host, seq, bytes, samples, unanswered) VALUES (?, ?, ?, ?, ?, 0)",
		"itiii", w->target, w->host, (int64_t)w->seq, (int64_t)w->bytes,
		(int64_t)w->samples);
}

/* ---- batches ---- */

#define WAITING \
	"SELECT host, seq, bytes, samples, tries, words, next_ms, refused, parts, rejected, unanswered FROM batches WHERE target = ? "

static char *copy_text(sqlite3_stmt *s, int column)
{
	const char *text = (const char *)sqlite3_column_text(s, column);

	return text ? strdup(text) : NULL;
}

static int read_waiting(sqlite3_stmt *s, int64_t target, struct push_waiting *out)
{
	*out = (struct push_waiting){
		.target = target,
		.host = copy_text(s, 0),
		.seq = (uint64_t)sqlite3_column_int64(s, 1),
		.bytes = (uint64_t)sqlite3_column_int64(s, 2),
		.samples = (uint64_t)sqlite3_column_int64(s, 3),
		.tries = (unsigned)sqlite3_column_int64(s, 4),
		.words = copy_text(s, 5),
		.next_ms = (uint64_t)sqlite3_column_int64(s, 6),
		.refused = sqlite3_column_int64(s, 7),
		.parts = (size_t)sqlite3_column_int64(s, 8),
		.rejected = (uint64_t)sqlite3_column_int64(s, 9),
		.is_unanswered = sqlite3_column_int64(s, 10),
	};
	return out->host ? 0 : -ENOMEM;
}

void push_waiting_done(struct push_waiting *w)
{
	free(w->host);
	free(w->words);
	*w = (struct push_waiting){ 0 };
}

int push_ledger_next(struct push_ledger *l, int64_t target, uint64_t now_ms,
		     struct push_waiting *out)
{
	sqlite3_stmt *s = NULL;
	int code, err = query(l, &s,
			      WAITING "AND NOT refused AND next_ms NOT BETWEEN ?2 + 1 AND ?2 + ?3 "
				      "ORDER BY seq, host LIMIT 1",
			      "iii", target, (int64_t)now_ms, (int64_t)FAR_MS);

	if (!err) {
		code = sqlite3_step(s);
		err = code == SQLITE_ROW    ? read_waiting(s, target, out)
		      : code == SQLITE_DONE ? -ENOENT
					    : errno_of(l, code);
	}
	sqlite3_finalize(s);
	return err;
}

#define THIS " WHERE target = ? AND host = ? AND seq = ?"

int push_ledger_try(struct push_ledger *l, const struct push_waiting *w)
{
	return change(l, "UPDATE batches SET tries = tries + 1, unanswered = 1" THIS, "iti",
		      w->target, w->host, (int64_t)w->seq);
}

int push_ledger_taken(struct push_ledger *l, const struct push_waiting *w, bool repeated)
{
	int err = push_ledger_begin(l);

	if (err)
		return err;
	err = change(l, "UPDATE batches SET parts = ?, rejected = ?" THIS, "iiiti",
		     (int64_t)w->parts, (int64_t)w->rejected, w->target, w->host, (int64_t)w->seq);
	if (!err && repeated)
		err = change(l, "UPDATE targets SET repeated = repeated + 1 WHERE id = ?", "i",
			     w->target);
	if (!err)
		err = push_ledger_commit(l);
	if (err)
		push_ledger_rollback(l);
	return err;
}

int push_ledger_later(struct push_ledger *l, const struct push_waiting *w, uint64_t next_ms,
		      const char *words)
{
	return change(l, "UPDATE batches SET next_ms = ?, words = ?, unanswered = ?" THIS, "itiiti",
		      (int64_t)next_ms, words, (int64_t)w->is_unanswered, w->target, w->host,
		      (int64_t)w->seq);
}

int push_ledger_refuse(struct push_ledger *l, const struct push_waiting *w, const char *words)
{
	return change(l, "UPDATE batches SET refused = 1, words = ?" THIS, "titi", words, w->target,
		      w->host, (int64_t)w->seq);
}

int push_ledger_sent(struct push_ledger *l, const struct push_waiting *w)
{
	int err = push_ledger_begin(l);

	if (err)
		return err;
	err = change(l, "DELETE FROM batches" THIS, "iti", w->target, w->host, (int64_t)w->seq);
	if (!err)
		err = change(
			l,
			"UPDATE targets SET sent = sent + 1, samples = samples + ?, bytes = bytes + ? WHERE id = ?",
			"iii", (int64_t)w->samples, (int64_t)w->bytes, w->target);
	if (!err)
		err = push_ledger_commit(l);
	if (err)
		push_ledger_rollback(l);
	return err;
}

/* ---- sums ---- */

int push_ledger_add_removed(struct push_ledger *l, int64_t target)
{
	return change(l, "UPDATE targets SET removed = removed + 1 WHERE id = ?", "i", target);
}

int push_ledger_sums(struct push_ledger *l, int64_t target, struct push_sums *out)
{
	sqlite3_stmt *s = NULL;
	int code,
		err = query(
			l, &s,
			"SELECT sum(NOT refused), sum(bytes * NOT refused), sum(refused),"
			" min(CASE WHEN refused THEN NULL ELSE next_ms END),"
			" (SELECT sent FROM targets WHERE id = ?1), (SELECT samples FROM targets WHERE id = ?1),"
			" (SELECT bytes FROM targets WHERE id = ?1),"
			" (SELECT repeated FROM targets WHERE id = ?1),"
			" (SELECT removed FROM targets WHERE id = ?1) FROM batches WHERE target = ?1",
			"i", target);

	if (!err) {
		code = sqlite3_step(s);
		err = code == SQLITE_ROW ? 0 : errno_of(l, code);
	}
	if (!err)
		*out = (struct push_sums){
			.waiting = (uint64_t)sqlite3_column_int64(s, 0),
			.waiting_bytes = (uint64_t)sqlite3_column_int64(s, 1),
			.refused = (uint64_t)sqlite3_column_int64(s, 2),
			.next_ms = sqlite3_column_type(s, 3) == SQLITE_NULL
					   ? UINT64_MAX
					   : (uint64_t)sqlite3_column_int64(s, 3),
			.sent = (uint64_t)sqlite3_column_int64(s, 4),
			.sent_samples = (uint64_t)sqlite3_column_int64(s, 5),
			.sent_bytes = (uint64_t)sqlite3_column_int64(s, 6),
			.repeated = (uint64_t)sqlite3_column_int64(s, 7),
			.removed = (uint64_t)sqlite3_column_int64(s, 8),
		};
	sqlite3_finalize(s);
	return err;
}

int push_ledger_each(struct push_ledger *l, int64_t target,
		     int (*see)(void *ctx, const struct push_waiting *w), void *ctx)
{
	sqlite3_stmt *s = NULL;
	struct push_waiting w;
	int code = SQLITE_DONE, err = query(l, &s, WAITING "ORDER BY host, seq", "i", target);

	while (!err && (code = sqlite3_step(s)) == SQLITE_ROW) {
		err = read_waiting(s, target, &w);
		if (!err)
			err = see(ctx, &w);
		push_waiting_done(&w);
	}
	sqlite3_finalize(s);
	return err ? err : code == SQLITE_DONE ? 0 : errno_of(l, code);
}

int push_ledger_targets(struct push_ledger *l,
			int (*see)(void *ctx, int64_t target, const char *name), void *ctx)
{
	sqlite3_stmt *s = NULL;
	int code = SQLITE_DONE, err = query(l, &s, "SELECT id, name FROM targets ORDER BY id", "");

	while (!err && (code = sqlite3_step(s)) == SQLITE_ROW)
		err = see(ctx, sqlite3_column_int64(s, 0), (const char *)sqlite3_column_text(s, 1));
	sqlite3_finalize(s);
	return err ? err : code == SQLITE_DONE ? 0 : errno_of(l, code);
}
