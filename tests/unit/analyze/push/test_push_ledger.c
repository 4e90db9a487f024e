/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/push/ledger.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define DAY_MS (24 * 3600 * 1000ULL)

#define NOW_MS 1800000000000ULL

/* A batch that was put off until then. */
static struct push_ledger *ledger_with(uint64_t next_ms, int64_t *target)
{
	char host[] = "h", *problem = NULL;
	struct push_waiting w = { .host = host, .seq = 1 };
	struct push_ledger *l = NULL;

	assert_int_equal(push_ledger_open(":memory:", &l, &problem), 0);
	assert_int_equal(push_ledger_target(l, "t", target), 0);
	w.target = *target;
	assert_int_equal(push_ledger_add(l, &w), 0);
	assert_int_equal(push_ledger_later(l, &w, next_ms, "no"), 0);
	return l;
}

static void a_batch_waits_until_its_time(void **state)
{
	static const struct {
		uint64_t next_ms;
		int err;
	} cases[] = {
		{ 0, 0 },
		{ NOW_MS, 0 },
		{ NOW_MS + 1, -ENOENT },
		{ NOW_MS + DAY_MS, -ENOENT },
		/* It was put off before the clock was set back. */
		{ NOW_MS + DAY_MS + 1, 0 },
		{ NOW_MS + 4000 * DAY_MS, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct push_waiting w = { 0 };
		int64_t target;
		struct push_ledger *l = ledger_with(cases[i].next_ms, &target);

		assert_int_equal(push_ledger_next(l, target, NOW_MS, &w), cases[i].err);
		push_waiting_done(&w);
		push_ledger_close(l);
	}
}

/* A rollback, which works, does not take the words away; nor does one that has nothing to undo. */
static void why_a_call_failed_outlives_the_rollback(void **state)
{
	int64_t target;
	struct push_ledger *l = ledger_with(0, &target);

	(void)state;
	assert_string_equal(push_ledger_problem(l), "");
	assert_int_equal(push_ledger_begin(l), 0);
	assert_int_equal(push_ledger_begin(l), -EIO);
	push_ledger_rollback(l);
	assert_non_null(strstr(push_ledger_problem(l), "within a transaction"));
	push_ledger_close(l);
}

/* No file may grow, as on a full disk: what was written lately goes to the file itself, and makes room. */
static void a_write_without_room_passes(void **state)
{
	char path[] = "/tmp/push-ledger.XXXXXX", wal[sizeof(path) + 4], *problem = NULL;
	int fd = mkstemp(path);
	struct push_ledger *l = NULL;
	struct rlimit usual, tight;
	struct stat st;
	int64_t target;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	snprintf(wal, sizeof(wal), "%s-wal", path);
	assert_int_equal(push_ledger_open(path, &l, &problem), 0);
	assert_int_equal(push_ledger_target(l, "t", &target), 0);
	assert_int_equal(stat(wal, &st), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &usual), 0);
	tight = (struct rlimit){ (rlim_t)st.st_size, usual.rlim_max };
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &tight);
	assert_int_equal(push_ledger_target(l, "u", &target), -EAGAIN);
	assert_string_not_equal(push_ledger_problem(l), "");
	push_ledger_make_room(l);
	assert_int_equal(push_ledger_target(l, "u", &target), 0);
	setrlimit(RLIMIT_FSIZE, &usual);
	push_ledger_close(l);
	unlink(path);
}

/* In one of these it is not known whether a batch that was tried has arrived. */
static void a_ledger_without_later_columns_gets_them(void **state)
{
	static const char older[] =
		"CREATE TABLE targets (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,"
		" sent INTEGER NOT NULL DEFAULT 0, samples INTEGER NOT NULL DEFAULT 0,"
		" bytes INTEGER NOT NULL DEFAULT 0);"
		"CREATE TABLE batches (target INTEGER NOT NULL, host TEXT NOT NULL, seq INTEGER NOT NULL,"
		" bytes INTEGER NOT NULL, samples INTEGER NOT NULL, tries INTEGER NOT NULL DEFAULT 0,"
		" next_ms INTEGER NOT NULL DEFAULT 0, refused INTEGER NOT NULL DEFAULT 0, words TEXT,"
		" PRIMARY KEY (target, host, seq)) WITHOUT ROWID;"
		"INSERT INTO targets (id, name) VALUES (1, 't');"
		"INSERT INTO batches (target, host, seq, bytes, samples, tries) VALUES (1, 'h', 1, 10, 2, 1);";
	char path[] = "/tmp/push-ledger.XXXXXX", host[] = "h", *problem = NULL;
	struct push_waiting w, fresh = { .target = 1, .host = host, .seq = 2 };
	int fd = mkstemp(path);
	struct push_ledger *l = NULL;
	struct push_sums sums;
	sqlite3 *db = NULL;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, older, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	assert_int_equal(push_ledger_open(path, &l, &problem), 0);
	assert_int_equal(push_ledger_next(l, 1, NOW_MS, &w), 0);
	assert_true(w.is_unanswered);
	w.parts = 3;
	assert_int_equal(push_ledger_taken(l, &w, true), 0);
	assert_int_equal(push_ledger_sent(l, &w), 0);
	push_waiting_done(&w);
	assert_int_equal(push_ledger_sums(l, 1, &sums), 0);
	assert_int_equal(sums.repeated, 1);
	assert_int_equal(push_ledger_add(l, &fresh), 0);
	push_ledger_close(l);
	assert_int_equal(push_ledger_open(path, &l, &problem), 0);
	assert_int_equal(push_ledger_next(l, 1, NOW_MS, &w), 0);
	assert_int_equal(w.seq, 2);
	assert_false(w.is_unanswered);
	push_waiting_done(&w);
	push_ledger_close(l);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_batch_waits_until_its_time),
		cmocka_unit_test(why_a_call_failed_outlives_the_rollback),
		cmocka_unit_test(a_write_without_room_passes),
		cmocka_unit_test(a_ledger_without_later_columns_gets_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
