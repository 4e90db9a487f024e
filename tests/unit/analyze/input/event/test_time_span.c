/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/input/event/time_span.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct time_span recording = { .from_ns = 970000000000, .to_ns = 980000000000 };

static void timespan_forms(void **state)
{
	static const struct {
		const char *text;
		uint64_t from_ns, to_ns;
	} cases[] = {
		{ "970.231258,971", 970231258000, 971000000000 },
		{ "1,1", 1000000000, 1000000000 },
		{ "970.25,", 970250000000, UINT64_MAX },
		{ ",970.25", 0, 970250000000 },
		{ ",", 0, UINT64_MAX },
		{ "+1.5,+2.75", 971500000000, 972750000000 },
		{ ",+3", 0, 973000000000 },
		{ "+3,", 973000000000, UINT64_MAX },
		{ "971,+3", 971000000000, 973000000000 },
		{ "0.0000000019,1", 1, 1000000000 },
		{ "3.,4.", 3000000000, 4000000000 },
		{ "+2s,+3s", 972000000000, 973000000000 },
		{ "+1500us,+100ms", 970001500000, 970100000000 },
		{ "16m,971s", 960000000000, 971000000000 },
		{ "10%-20%", 971000000000, 971999999999 },
		{ "0%-100%", 970000000000, 980000000000 },
		{ "12.5%-12.5%", 971250000000, 971250000000 },
	};
	struct time_span got;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(time_span_parse(cases[i].text, &recording, &got, NULL), 0);
		assert_int_equal(got.from_ns, cases[i].from_ns);
		assert_int_equal(got.to_ns, cases[i].to_ns);
	}
}

static void timespan_refuses(void **state)
{
	static const struct {
		const char *text;
		int rc;
		uint64_t offset_bytes;
		const char *what;
	} cases[] = {
		{ "", -EBADMSG, 0, "a comma was expected (FROM,TO)" },
		{ "970", -EBADMSG, 3, "a comma was expected (FROM,TO)" },
		{ "970-971", -EBADMSG, 3, "FROM,TO was expected, as +1.5s,+2s" },
		{ "x,1", -EBADMSG, 0, "a number was expected" },
		{ ".5,1", -EBADMSG, 0, "a number was expected" },
		{ "-1,1", -EBADMSG, 0, "a number was expected" },
		{ "+,1", -EBADMSG, 1, "a number was expected" },
		{ "1,2x", -EBADMSG, 3, "not a time, as 1.5s or 20ms" },
		{ "1,2,3", -EBADMSG, 3, "not a time, as 1.5s or 20ms" },
		{ "1,99999999999", -EBADMSG, 2, "number too large" },
		{ "1,18446744073.9", -EBADMSG, 2, "number too large" },
		{ "1,99999999999999999999", -EBADMSG, 2, "number too large" },
		{ "1,+18446744073", -EBADMSG, 14, "number too large" },
		{ "2,1", -EINVAL, 3, "it ends before it starts" },
		{ "+2,+1", -EINVAL, 5, "it ends before it starts" },
		{ "20%-10%", -EINVAL, 6, "it ends before it starts" },
		{ "10%", -EBADMSG, 2, "FROM%-TO% was expected" },
		{ "10%,20%", -EBADMSG, 2, "FROM%-TO% was expected" },
		{ "10%-20", -EBADMSG, 6, "FROM%-TO% was expected" },
		{ "10%-101%", -EBADMSG, 7, "more than 100 %" },
		{ "%-1%", -EBADMSG, 0, "a number was expected" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct time_span got = { .from_ns = 7, .to_ns = 9 };
		struct parse_err err = { 0 };

		assert_int_equal(time_span_parse(cases[i].text, &recording, &got, &err),
				 cases[i].rc);
		assert_string_equal(err.what, cases[i].what);
		assert_int_equal(err.offset_bytes, cases[i].offset_bytes);
		assert_int_equal(got.from_ns, 7);
		assert_int_equal(got.to_ns, 9);
	}
}

static void timespan_of_a_file_without_times(void **state)
{
	struct time_span got;

	assert_int_equal(time_span_parse("970,971", NULL, &got, NULL), 0);
	assert_int_equal(time_span_parse("+1,", NULL, &got, NULL), -ENODATA);
	assert_int_equal(time_span_parse("1%-2%", NULL, &got, NULL), -ENODATA);
}

static void timespan_holds_both_ends(void **state)
{
	const struct time_span span = { .from_ns = 10, .to_ns = 20 };

	assert_false(time_span_has(&span, 9));
	assert_true(time_span_has(&span, 10));
	assert_true(time_span_has(&span, 20));
	assert_false(time_span_has(&span, 21));
}

/* 970 s on the samples' clock is 2026-11-21 13:05:10 UTC. */
static const struct time_span_clock wall_clock = { .sample_ns = 970000000000,
						   .wall_ns = 1795266310000000000 };

static void timespan_by_the_wall_clock(void **state)
{
	static const struct {
		const char *text;
		uint64_t from_ns, to_ns;
	} cases[] = {
		{ "13:05:10,13:05:11", 970000000000, 971000000000 },
		{ "13:05:10.25,13:05:11.5", 970250000000, 971500000000 },
		{ "13:05:12,", 972000000000, UINT64_MAX },
		{ ",13:05:09", 0, 969000000000 },
		{ "00:00:00,13:05:10", 0, 970000000000 },
		{ "2026-11-21T13:05:10,2026-11-22T13:05:10", 970000000000, 87370000000000 },
	};
	struct time_span got;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(time_span_is_wall(cases[i].text));
		assert_int_equal(
			time_span_parse_wall(cases[i].text, &recording, &wall_clock, &got, NULL),
			0);
		assert_int_equal(got.from_ns, cases[i].from_ns);
		assert_int_equal(got.to_ns, cases[i].to_ns);
	}
}

static void timespan_by_the_wall_clock_refuses(void **state)
{
	static const struct {
		const char *text;
		int rc;
	} cases[] = {
		{ "13:05", -EBADMSG },
		{ "13:05:10", -EBADMSG },
		{ "25:05:10,", -EBADMSG },
		{ "13:05:10,x", -EBADMSG },
		{ "13:05:10,13:05:11x", -EBADMSG },
		{ "2026-11-21,13:05:11", -EBADMSG },
		{ "2026-11-21T,13:05:11", -EBADMSG },
		{ "13:05:11,13:05:10", -EINVAL },
	};
	struct time_span got = { 1, 2 };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(
			time_span_parse_wall(cases[i].text, &recording, &wall_clock, &got, NULL),
			cases[i].rc);
	assert_int_equal(time_span_parse_wall("13:05:10,", &recording, NULL, &got, NULL), -ENODATA);
	assert_int_equal(time_span_parse_wall("13:05:10,", NULL, &wall_clock, &got, NULL),
			 -ENODATA);
	assert_int_equal(got.from_ns, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(timespan_forms),
		cmocka_unit_test(timespan_by_the_wall_clock),
		cmocka_unit_test(timespan_by_the_wall_clock_refuses),
		cmocka_unit_test(timespan_refuses),
		cmocka_unit_test(timespan_of_a_file_without_times),
		cmocka_unit_test(timespan_holds_both_ends),
	};

	return cmocka_run_group_tests_name("timespan", tests, NULL, NULL);
}
