/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "record/instrument/sample_throttle.h"

#define SECOND 1000000000ULL
#define PCT    10000000ULL

static struct sample_throttle t;
static uint64_t now_ns, used_ns, sampling_ns;

static void begin(uint64_t allowed_ns, unsigned freq_hz)
{
	now_ns = 5 * SECOND;
	used_ns = 3 * SECOND; /* what starting took does not count */
	sampling_ns = SECOND;
	sample_throttle_init(&t, allowed_ns, freq_hz, now_ns, used_ns, sampling_ns);
}

/* A second in which so much is spent, and so much of it by samples. */
static bool pass_with(uint64_t cost_ns, uint64_t samples_ns)
{
	now_ns += SECOND;
	used_ns += cost_ns;
	sampling_ns += samples_ns;
	return sample_throttle_look(&t, now_ns, used_ns, sampling_ns);
}

static bool pass(uint64_t cost_ns)
{
	return pass_with(cost_ns, cost_ns / 2);
}

static void without_an_allowance_all_are_taken(void **state)
{
	begin(0, 99);
	assert_false(pass(50 * PCT));
	assert_int_equal(t.one_of, 1);
}

static void what_is_too_dear_becomes_rarer_at_once(void **state)
{
	begin(PCT, 1000);
	assert_false(pass(PCT));
	assert_true(pass(3 * PCT));
	assert_int_equal(t.one_of, 3);
	assert_int_equal(t.last_ns, 3 * PCT);
	assert_true(pass(100 * PCT)); /* no more than eight times at once */
	assert_int_equal(t.one_of, 24);
	assert_true(pass(2 * PCT));
	assert_int_equal(t.one_of, 48);
}

static void about_one_sample_a_second_is_left(void **state)
{
	begin(1, 20);
	assert_true(pass(PCT));
	assert_true(pass(PCT));
	assert_int_equal(t.one_of, 20);
	assert_false(pass(PCT));
	begin(1, 100000);
	for (int i = 0; i < 10; i++)
		(void)pass(PCT);
	assert_int_equal(t.one_of, SAMPLE_THROTTLE_MAX);
}

static void what_is_cheap_for_long_comes_back(void **state)
{
	begin(3 * PCT, 1000);
	assert_true(pass(12 * PCT));
	assert_int_equal(t.one_of, 4);
	for (int i = 0; i < 4; i++)
		assert_false(pass(PCT / 2));
	assert_false(pass(2 * PCT)); /* not so cheap: from the beginning */
	for (int i = 0; i < 4; i++)
		assert_false(pass(PCT / 2));
	assert_true(pass(PCT / 2));
	assert_int_equal(t.one_of, 2);
	for (int i = 0; i < 4; i++)
		assert_false(pass(0));
	assert_true(pass(0));
	assert_int_equal(t.one_of, 1);
	for (int i = 0; i < 20; i++)
		assert_false(pass(0));
	assert_int_equal(t.one_of, 1);
}

static void a_look_needs_a_second_and_a_clock_that_goes_on(void **state)
{
	begin(PCT, 99);
	assert_false(
		sample_throttle_look(&t, now_ns + SECOND - 1, used_ns + 90 * PCT, sampling_ns));
	assert_false(sample_throttle_look(&t, now_ns + SECOND, used_ns - 1, sampling_ns));
	assert_true(sample_throttle_look(&t, now_ns + 4 * SECOND, used_ns + 8 * PCT,
					 sampling_ns + 4 * PCT));
	assert_int_equal(t.one_of, 2); /* 8 % in four seconds are 2 % of one */
}

static void samples_stay_where_something_else_costs(void **state)
{
	begin(4 * PCT, 1000);
	assert_false(pass_with(40 * PCT, PCT - 1));
	assert_int_equal(t.one_of, 1);
	assert_true(pass_with(8 * PCT, PCT));
	assert_int_equal(t.one_of, 2);
	assert_false(pass_with(8 * PCT, PCT / 2));
	assert_int_equal(t.one_of, 2);
	for (int i = 0; i < 4; i++)
		assert_false(pass_with(40 * PCT, PCT / 3));
	assert_true(pass_with(40 * PCT, PCT / 3));
	assert_int_equal(t.one_of, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_an_allowance_all_are_taken),
		cmocka_unit_test(what_is_too_dear_becomes_rarer_at_once),
		cmocka_unit_test(about_one_sample_a_second_is_left),
		cmocka_unit_test(what_is_cheap_for_long_comes_back),
		cmocka_unit_test(samples_stay_where_something_else_costs),
		cmocka_unit_test(a_look_needs_a_second_and_a_clock_that_goes_on),
	};

	return cmocka_run_group_tests_name("thinning", tests, NULL, NULL);
}
