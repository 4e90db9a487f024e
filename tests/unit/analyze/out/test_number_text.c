/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* number_text: shares of nothing, and times at the borders of units */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/out/number_text.h"

static void a_share_of_nothing_is_0(void **state)
{
	(void)state;
	assert_true(number_percent(7, 0) == 0);
	assert_true(number_percent(1, 4) == 25);
	assert_true(number_percent(UINT64_MAX, UINT64_MAX) == 100);
}

static void a_time_has_three_digits_and_the_largest_unit_that_it_reaches(void **state)
{
	static const struct {
		double ns;
		const char *text;
	} times[] = {
		{ 0, "0.00 s" },       { 0.5, "0.50 ns" },
		{ 1, "1.00 ns" },      { 999, "999 ns" },
		{ 1000, "1.00 us" },   { 12345, "12.3 us" },
		{ 999999, "1000 us" }, { 1e6, "1.00 ms" },
		{ 250e6, "250 ms" },   { 1e9, "1.00 s" },
		{ 3600e9, "3600 s" },  { 18446744073709551615.0, "18446744074 s" },
	};
	char text[NUMBER_TEXT_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		number_time(times[i].ns, text);
		assert_string_equal(text, times[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_share_of_nothing_is_0),
		cmocka_unit_test(a_time_has_three_digits_and_the_largest_unit_that_it_reaches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
