/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* duration: times as people write them */
#include "format/text/duration_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void times_are_read_with_and_without_units(void **state)
{
	static const struct {
		const char *text;
		bool bare;
		uint64_t ns;
		const char *rest;
	} cases[] = {
		{ "2.5", true, 2500000000, "" },
		{ ".5", true, 500000000, "" },
		{ "1.", true, 1000000000, "" },
		{ "0", true, 0, "" },
		{ "0.3s", false, 300000000, "" },
		{ "300ms", false, 300000000, "" },
		{ "1.5us", false, 1500, "" },
		{ "7ns", false, 7, "" },
		{ "2m", false, 120000000000, "" },
		{ "1.5h", false, 5400000000000, "" },
		{ "1d", false, 86400000000000, "" },
		{ "50ms/1s", false, 50000000, "/1s" },
		{ "10m,3", false, 600000000000, ",3" },
		{ "5x", true, 5000000000, "x" },
		{ "1.0000000000000000009999999s", false, 1000000000, "" },
		{ "18446744073.709551615", true, UINT64_MAX, "" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *end = NULL;
		uint64_t ns = 77;

		if (!duration_read(cases[i].text, cases[i].bare, &end, &ns))
			fail_msg("%s is none", cases[i].text);
		assert_int_equal(ns, cases[i].ns);
		assert_string_equal(end, cases[i].rest);
	}
}

static void what_is_no_time_is_not_read(void **state)
{
	static const struct {
		const char *text;
		bool bare;
	} cases[] = {
		{ "", true },
		{ ".", true },
		{ ".s", true },
		{ "-1s", true },
		{ "+1s", true },
		{ " 1s", true },
		{ "x", true },
		{ "s", true },
		{ "5", false },
		{ "5x", false },
		{ "5K", false },
		{ "18446744074", true },
		{ "99999999999999999999", true },
		{ "213504d", true },
		{ "18446744073.709551616", true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *end = NULL;
		uint64_t ns = 77;

		if (duration_read(cases[i].text, cases[i].bare, &end, &ns))
			fail_msg("%s is one", cases[i].text);
		assert_null(end);
		assert_int_equal(ns, 77);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_are_read_with_and_without_units),
		cmocka_unit_test(what_is_no_time_is_not_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
