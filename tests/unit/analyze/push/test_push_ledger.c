/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/push/ledger.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_batch_waits_until_its_time),
		cmocka_unit_test(why_a_call_failed_outlives_the_rollback),
		cmocka_unit_test(a_write_without_room_passes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
