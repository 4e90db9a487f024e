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

/* One of 3 s, chosen as such waits are rare; of 200 of 5 ms a stack was taken of 2, each for 50. */
static void a_wait_with_a_stack_of_its_own_has_its_time_and_no_more(void **state)
{
	struct wait_times_kind k = { .exact_ns = 4015,
				     .own_ns = 3010,
				     .sampled = 3500,
				     .others = 490,
				     .count = 201,
				     .stacks = 3,
				     .weights = 101 };

	(void)state;
	assert_int_equal(wait_times_share(&k, 5, 50), 508); /* 5 and half of 1005 */
	assert_int_equal(wait_times_share_count(&k, 50), 100);
	assert_int_equal(wait_times_share(&k, 3000, 1), 3000);
	assert_int_equal(wait_times_share_count(&k, 1), 1);
	assert_int_equal(wait_times_share(&k, 5, 50), 507);
	assert_int_equal(wait_times_share_count(&k, 50), 100);
	assert_int_equal(wait_times_left_ns(&k), 0);
}

static void where_stacks_stand_for_no_others_they_share_by_their_own_time(void **state)
{
	struct wait_times_kind k = { .exact_ns = 1000,
				     .own_ns = 100,
				     .sampled = 100,
				     .count = 10,
				     .stacks = 2,
				     .weights = 2 };

	(void)state;
	assert_int_equal(wait_times_share(&k, 75, 1), 750);
	assert_int_equal(wait_times_share_count(&k, 1), 5);
	assert_int_equal(wait_times_left_ns(&k), 250);
	assert_int_equal(wait_times_share(&k, 25, 1), 250);
	assert_int_equal(wait_times_share_count(&k, 1), 5);
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
		cmocka_unit_test(a_wait_with_a_stack_of_its_own_has_its_time_and_no_more),
		cmocka_unit_test(where_stacks_stand_for_no_others_they_share_by_their_own_time),
		cmocka_unit_test(the_longest_wait_can_be_shared),
	};

	return cmocka_run_group_tests_name("waittime", tests, NULL, NULL);
}
