/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/push/ledger.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_batch_waits_until_its_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
