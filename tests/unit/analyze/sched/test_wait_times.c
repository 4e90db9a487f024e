/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* waittime: what the stacks of a kind of waits share is all of its time, and no more */
#include "analyze/sched/wait_times.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void shares_are_in_proportion(void **state)
{
	struct wait_times_kind k = { .exact_ns = 1000, .sampled = 30 };

	(void)state;
	assert_int_equal(wait_times_share(&k, 5, 2), 333);
	assert_int_equal(wait_times_share(&k, 1, 5), 167);
	assert_int_equal(wait_times_share(&k, 15, 1), 500);
	assert_int_equal(wait_times_share(&k, 15, 1), 0); /* more than was sampled */
}

/* All of time, nearly: as a double it is one more than fits. */
static void the_longest_wait_can_be_shared(void **state)
{
	struct wait_times_kind k = { .exact_ns = UINT64_MAX - 100, .sampled = 3 };
	uint64_t sum = 0;

	(void)state;
	for (int i = 0; i < 3; i++)
		sum += wait_times_share(&k, 1, 1);
	assert_int_equal(sum, k.exact_ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_are_in_proportion),
		cmocka_unit_test(the_longest_wait_can_be_shared),
	};

	return cmocka_run_group_tests_name("waittime", tests, NULL, NULL);
}
