/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/spool/index.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define VERSION 1 /* of the tables: another one is made anew */

/* "services_known" is 0 when reading them failed, or killed the process that did. */
#define TABLES                                                                                   \
	"CREATE TABLE captures (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, "             \
	"bytes INTEGER, mtime_ns INTEGER, inode INTEGER, state INTEGER, error INTEGER, "         \
	"from_ns INTEGER, to_ns INTEGER, clock_ns INTEGER, clock_wall_ns INTEGER, "              \
	"boot_wall_ns INTEGER, samples INTEGER, lost INTEGER, services_known INTEGER NOT NULL);" \
	"CREATE TABLE services (capture INTEGER NOT NULL REFERENCES captures (id), "             \
	"name TEXT NOT NULL, samples INTEGER, PRIMARY KEY (capture, name)) WITHOUT ROWID;"

struct index {
	sqlite3 *db;
};

static int to_errno(int code)
{
	switch (code & 0xff) {
	case SQLITE_OK:
	case SQLITE_DONE:
	case SQLITE_ROW:
		return 0;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_PERM:
	case SQLITE_READONLY:
	case SQLITE_AUTH:
		return -EACCES;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_SCHEMA:
	case SQLITE_ERROR: /* a table or column that is not there */
	case SQLITE_MISMATCH:
	case SQLITE_CONSTRAINT:
		return -EBADMSG;
	default:
		return -EIO;
	}
}

static int run(struct index *x, const char *sql)
{
	return to_errno(sqlite3_exec(x->db, sql, NULL, NULL, NULL));
}

/* The first column of the only row, if it is a number or this text; else -1. */
static int ask_number(struct index *x, const char *sql, const char *text)
{
	sqlite3_stmt *q = NULL;
	const unsigned char *got;
	int result = -1;

	if (sqlite3_prepare_v2(x->db, sql, -1, &q, NULL) == SQLITE_OK &&
	    sqlite3_step(q) == SQLITE_ROW) {
		got = text ? sqlite3_column_text(q, 0) : NULL;
		if (!text)
			result = sqlite3_column_int(q, 0);
		else if (got && !strcmp((const char *)got, text))
			result = 1;
	}
	sqlite3_finalize(q);
	return result;
}

/* A view or a trigger that somebody put into it would run for as long as they like. */
static bool is_good(struct index *x)
{
	return ask_number(x, "PRAGMA user_version", NULL) == VERSION &&
	       ask_number(x,
			  "SELECT group_concat(sql, ';') || ';' FROM "
			  "(SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid)",
			  TABLES) == 1 &&
	       ask_number(x, "PRAGMA quick_check(1)", "ok") == 1;
}

/* Opening a FIFO would wait for who writes to it. */
static bool is_file(const char *path, bool *is_there)
{
	struct stat st;

	*is_there = !lstat(path, &st);
	return *is_there && S_ISREG(st.st_mode);
}

static int open_at(const char *path, int flags, struct index *x)
{
	int code = sqlite3_open_v2(path, &x->db, flags | SQLITE_OPEN_NOFOLLOW, NULL);

	if (code == SQLITE_OK) {
		(void)sqlite3_busy_timeout(x->db, 2000);
		(void)sqlite3_db_config(x->db, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)NULL);
		(void)sqlite3_db_config(x->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)NULL);
		/* It follows from the captures: what a power cut takes is made anew. */
		(void)run(x, "PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY; "
			     "PRAGMA synchronous = OFF");
		return 0;
	}
	(void)sqlite3_close(x->db);
	x->db = NULL;
	return to_errno(code);
}

static int make_tables(struct index *x)
{
	char version[40];
	int err = run(x, "BEGIN EXCLUSIVE");

	snprintf(version, sizeof(version), "PRAGMA user_version = %d", VERSION);
	if (!err)
		err = run(x, TABLES);
	if (!err)
		err = run(x, version);
	if (!err)
		err = run(x, "COMMIT");
	return err;
}

static int open_empty(struct index *x)
{
	int err = open_at(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, x);

	return err ? err : make_tables(x);
}

static void remove_database(const char *path)
{
	char *journal;

	(void)unlink(path);
	if (asprintf(&journal, "%s-journal", path) < 0)
		return;
	(void)unlink(journal);
	free(journal);
}

static void close_database(struct index *x)
{
	(void)sqlite3_close(x->db);
	x->db = NULL;
}

/* One in memory stands for an index that cannot be written, as on a full disk: the spool can be pruned. */
static int open_anew(const char *path, struct index *x)
{
	int err;

	remove_database(path);
	err = open_at(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, x);
	if (!err)
		err = make_tables(x);
	if (!err)
		return 0;
	close_database(x);
	return open_empty(x);
}

static int open_writing(const char *path, struct index *x, bool *was_damaged)
{
	bool was_there;

	if (is_file(path, &was_there) && !open_at(path, SQLITE_OPEN_READWRITE, x)) {
		if (is_good(x))
			return 0;
		close_database(x);
	}
	*was_damaged = was_there;
	return open_anew(path, x);
}

static int open_reading(const char *path, struct index *x, bool *was_damaged)
{
	bool was_there;

	if (is_file(path, &was_there) && !open_at(path, SQLITE_OPEN_READONLY, x)) {
		if (is_good(x))
			return 0;
		close_database(x);
	}
	*was_damaged = was_there;
	return open_empty(x);
}

int index_open(const char *path, bool writes, struct index **out, bool *was_damaged)
{
	struct index *x = calloc(1, sizeof(*x));
	int err = x ? 0 : -ENOMEM;

	*was_damaged = false;
	if (!err)
		err = writes ? open_writing(path, x, was_damaged)
			     : open_reading(path, x, was_damaged);
	if (err)
		index_close(x);
	else
		*out = x;
	return err;
}

void index_close(struct index *x)
{
	if (!x)
		return;
	(void)sqlite3_close(x->db);
	free(x);
}

/* ---- rows ---- */

static uint64_t number_of(sqlite3_stmt *q, int column)
{
	return (uint64_t)sqlite3_column_int64(q, column);
}

/* false: no row that we wrote. */
static bool read_row(sqlite3_stmt *q, struct spool_capture *out)
{
	*out = (struct spool_capture){
		.row = sqlite3_column_int64(q, 0),
		.name = (const char *)sqlite3_column_text(q, 1),
		.file_bytes = number_of(q, 2),
		.mtime_ns = number_of(q, 3),
		.inode = number_of(q, 4),
		.state = (enum spool_state)sqlite3_column_int(q, 5),
		.error = sqlite3_column_int(q, 6),
		.facts = {
			.from_ns = number_of(q, 7),
			.to_ns = number_of(q, 8),
			.clock_ns = number_of(q, 9),
			.clock_wall_ns = number_of(q, 10),
			.boot_wall_ns = number_of(q, 11),
			.sample_count = number_of(q, 12),
			.lost_count = number_of(q, 13),
		},
	};
	out->facts.is_finished = out->state != SPOOL_CUT;
	out->facts.is_damaged = out->state == SPOOL_DAMAGED;
	return out->name && out->state >= SPOOL_COMPLETE && out->state <= SPOOL_UNREADABLE &&
	       out->state != SPOOL_RECORDING;
}

int index_each(struct index *x, int (*fn)(void *arg, const struct spool_capture *row), void *arg)
{
	sqlite3_stmt *q = NULL;
	struct spool_capture row;
	int err = to_errno(sqlite3_prepare_v2(
		x->db,
		"SELECT id, name, bytes, mtime_ns, inode, state, error, from_ns, to_ns, clock_ns, "
		"clock_wall_ns, boot_wall_ns, samples, lost FROM captures ORDER BY name",
		-1, &q, NULL));
	int code = SQLITE_ROW;

	while (!err && (code = sqlite3_step(q)) == SQLITE_ROW)
		if (read_row(q, &row))
			err = fn(arg, &row);
	sqlite3_finalize(q);
	return err ? err : to_errno(code);
}

static int put_capture(struct index *x, const struct spool_capture *c, bool services_known,
		       int64_t *row)
{
	const struct capture_facts *f = &c->facts;
	const int64_t numbers[] = {
		(int64_t)c->file_bytes,
		(int64_t)c->mtime_ns,
		(int64_t)c->inode,
		(int64_t)c->state,
		c->error,
		(int64_t)f->from_ns,
		(int64_t)f->to_ns,
		(int64_t)f->clock_ns,
		(int64_t)f->clock_wall_ns,
		(int64_t)f->boot_wall_ns,
		(int64_t)f->sample_count,
		(int64_t)f->lost_count,
		services_known,
	};
	sqlite3_stmt *q = NULL;
	int code = sqlite3_prepare_v2(
		x->db, "INSERT INTO captures VALUES (NULL,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", -1, &q,
		NULL);

	if (code == SQLITE_OK)
		code = sqlite3_bind_text(q, 1, c->name, -1, SQLITE_STATIC);
	for (size_t i = 0; code == SQLITE_OK && i < sizeof(numbers) / sizeof(numbers[0]); i++)
		code = sqlite3_bind_int64(q, 2 + (int)i, numbers[i]);
	if (code == SQLITE_OK)
		code = sqlite3_step(q);
	sqlite3_finalize(q);
	*row = sqlite3_last_insert_rowid(x->db);
	return to_errno(code);
}

static int put_services(struct index *x, int64_t row, const struct service_counts *services)
{
	sqlite3_stmt *q = NULL;
	int code = sqlite3_prepare_v2(x->db, "INSERT INTO services VALUES (?,?,?)", -1, &q, NULL);

	for (size_t i = 0; code == SQLITE_OK && i < services->count; i++) {
		const struct service_count *s = &services->list[i];

		(void)sqlite3_bind_int64(q, 1, row);
		(void)sqlite3_bind_text(q, 2, s->name, -1, SQLITE_STATIC);
		(void)sqlite3_bind_int64(q, 3, (int64_t)s->sample_count);
		code = sqlite3_step(q);
		if (code == SQLITE_DONE)
			code = sqlite3_reset(q);
	}
	sqlite3_finalize(q);
	return to_errno(code);
}

/* Runs a statement with a number, or with a text. */
static int run_with(struct index *x, const char *sql, int64_t number, const char *text)
{
	sqlite3_stmt *q = NULL;
	int code = sqlite3_prepare_v2(x->db, sql, -1, &q, NULL);

	if (code == SQLITE_OK)
		code = text ? sqlite3_bind_text(q, 1, text, -1, SQLITE_STATIC)
			    : sqlite3_bind_int64(q, 1, number);
	if (code == SQLITE_OK)
		code = sqlite3_step(q);
	sqlite3_finalize(q);
	return to_errno(code);
}

static int end_change(struct index *x, int err)
{
	if (!err)
		err = run(x, "COMMIT");
	if (err)
		(void)run(x, "ROLLBACK");
	return err;
}

int index_put(struct index *x, const struct spool_capture *c, const struct service_counts *services,
	      int64_t *row)
{
	int64_t id = 0;
	int err = run(x, "BEGIN IMMEDIATE");

	if (err)
		return err;
	err = run_with(x,
		       "DELETE FROM services WHERE capture IN "
		       "(SELECT id FROM captures WHERE name = ?)",
		       0, c->name);
	if (!err)
		err = run_with(x, "DELETE FROM captures WHERE name = ?", 0, c->name);
	if (!err)
		err = put_capture(x, c, services != NULL, &id);
	if (!err && services)
		err = put_services(x, id, services);
	err = end_change(x, err);
	if (!err)
		*row = id;
	return err;
}

int index_remove(struct index *x, int64_t row)
{
	int err = run(x, "BEGIN IMMEDIATE");

	if (err)
		return err;
	err = run_with(x, "DELETE FROM services WHERE capture = ?", row, NULL);
	if (!err)
		err = run_with(x, "DELETE FROM captures WHERE id = ?", row, NULL);
	return end_change(x, err);
}

static int are_known(struct index *x, int64_t row)
{
	sqlite3_stmt *q = NULL;
	int known = 0,
	    code = sqlite3_prepare_v2(x->db, "SELECT services_known FROM captures WHERE id = ?", -1,
				      &q, NULL);

	if (code == SQLITE_OK)
		code = sqlite3_bind_int64(q, 1, row);
	if (code == SQLITE_OK && (code = sqlite3_step(q)) == SQLITE_ROW)
		known = sqlite3_column_int(q, 0) == 1;
	sqlite3_finalize(q);
	return to_errno(code) ? to_errno(code) : known;
}

int index_services(struct index *x, int64_t row, struct service_counts *to)
{
	sqlite3_stmt *q = NULL;
	int err = are_known(x, row), code = SQLITE_ROW;

	if (err != 1)
		return err;
	err = to_errno(sqlite3_prepare_v2(
		x->db, "SELECT name, samples FROM services WHERE capture = ?", -1, &q, NULL));
	if (!err)
		err = to_errno(sqlite3_bind_int64(q, 1, row));
	while (!err && (code = sqlite3_step(q)) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(q, 0);

		err = service_counts_put(to, name ? name : "", number_of(q, 1));
	}
	sqlite3_finalize(q);
	if (!err)
		err = to_errno(code);
	return err ? err : 1;
}
