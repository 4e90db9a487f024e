/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "record/instrument/stack_allowance.h"

#define SECOND 1000000000ULL
#define PCT    10000000ULL

static struct stack_allowance a;
static uint64_t now_ns, used_ns;

static void begin(uint64_t limit_ns)
{
	now_ns = 5 * SECOND;
	used_ns = 3 * SECOND; /* what starting took does not count */
	stack_allowance_init(&a, limit_ns, now_ns, used_ns);
}

/* A second in which everything else took so much. */
static bool pass(uint64_t cost_ns)
{
	now_ns += SECOND;
	used_ns += cost_ns;
	return stack_allowance_look(&a, now_ns, used_ns);
}

static void without_a_limit_of_time_nothing_is_allowed(void **state)
{
	begin(0);
	assert_false(pass(50 * PCT));
	assert_int_equal(a.allowed_ns, 0);
}

static void stacks_get_what_the_rest_leaves(void **state)
{
	begin(4 * PCT);
	assert_int_equal(a.allowed_ns, 4 * PCT);
	assert_true(pass(3 * PCT));
	assert_int_equal(a.allowed_ns, PCT);
	assert_int_equal(a.last_ns, 3 * PCT);
	assert_false(a.is_low);
	assert_false(pass(3 * PCT));
	assert_int_equal(a.allowed_ns, PCT);
}

static void an_eighth_is_always_allowed(void **state)
{
	begin(4 * PCT);
	assert_true(pass(90 * PCT));
	assert_int_equal(a.allowed_ns, PCT / 2);
	assert_true(a.is_low);
	assert_false(pass(4 * PCT - 1));
	assert_int_equal(a.allowed_ns, PCT / 2);
	begin(1);
	(void)pass(PCT);
	assert_int_equal(a.allowed_ns, 1); /* 0 would mean none, whatever it costs */
}

static void they_come_back_half_of_the_way_a_second(void **state)
{
	begin(8 * PCT);
	assert_true(pass(8 * PCT));
	assert_int_equal(a.allowed_ns, PCT);
	assert_true(pass(3 * PCT));
	assert_int_equal(a.allowed_ns, 3 * PCT);
	assert_false(a.is_low);
	for (int i = 0; i < 40; i++)
		(void)pass(0);
	assert_int_equal(a.allowed_ns, 8 * PCT);
	assert_false(pass(0));
	assert_int_equal(a.least_ns, PCT); /* of all the time */
}

static void a_look_needs_a_second_and_a_clock_that_goes_on(void **state)
{
	begin(4 * PCT);
	assert_false(stack_allowance_look(&a, now_ns + SECOND - 1, used_ns + 90 * PCT));
	assert_false(stack_allowance_look(&a, now_ns - 1, used_ns + 90 * PCT));
	assert_false(stack_allowance_look(&a, now_ns + SECOND, used_ns - 1));
	assert_int_equal(a.allowed_ns, 4 * PCT);
	assert_true(stack_allowance_look(&a, now_ns + 4 * SECOND, used_ns + 8 * PCT));
	assert_int_equal(a.allowed_ns, 2 * PCT); /* 8 % in four seconds are 2 % of one */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_limit_of_time_nothing_is_allowed),
		cmocka_unit_test(stacks_get_what_the_rest_leaves),
		cmocka_unit_test(an_eighth_is_always_allowed),
		cmocka_unit_test(they_come_back_half_of_the_way_a_second),
		cmocka_unit_test(a_look_needs_a_second_and_a_clock_that_goes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
