/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* strips - the groups that are shown second by second */
#include "tests/unit/analyze/screen/seconds.h"

#include "analyze/screen/strips.h"

static void the_largest_groups_of_the_chosen_seconds_are_shown_over_all_of_them(void **state)
{
	struct history h;
	struct history_second *s;
	struct strips got;
	char name[16];

	(void)state;
	assert_int_equal(history_init(&h, 10, 1 << 20), 0);
	s = begin_second(&h, 7);
	put_stack(&h, s, "before", 99, "main", 1000, 0);
	put_stack(&h, s, "p11", 11, "main", 5, 0);
	assert_int_equal(history_close_second(&h, s), 0);
	s = begin_second(&h, 9);
	for (uint32_t i = 0; i < 12; i++) {
		snprintf(name, sizeof(name), "p%u", i);
		put_stack(&h, s, name, i, "main", i / 2 + 1, 0);
		put_stack(&h, s, name, i, "main work", 10, 0);
	}
	put_stack(&h, s, "waits", 50, "main k_wait [futex]", 1, 1000000); /* no time on a CPU */
	assert_int_equal(history_close_second(&h, s), 0);

	assert_int_equal(strips_make(&h, HISTORY_BY_PROGRAM, 1, 1, 0, 2, &got), 0);
	assert_int_equal(got.count, STRIPS_MAX);
	assert_string_equal(string_table_text(h.names, got.labels[0]), "p11");
	assert_string_equal(string_table_text(h.names, got.labels[1]),
			    "p10"); /* as many, added later */
	assert_string_equal(string_table_text(h.names, got.labels[7]), "p5");
	assert_int_equal(strips_samples(&got, 0, 0), 5);
	assert_int_equal(strips_samples(&got, 0, 1), 16);
	assert_int_equal(strips_samples(&got, 1, 0), 0);
	assert_int_equal(strips_samples(&got, 0, 2), 0);
	strips_done(&got);

	assert_int_equal(strips_make(&h, HISTORY_BY_UNIT, 0, 2, 1, 2, &got), 0);
	assert_int_equal(got.count, 1); /* all are of one */
	assert_int_equal(strips_samples(&got, 0, 0), 0);
	assert_int_equal(strips_samples(&got, 0, 1), 2 * (1 + 2 + 3 + 4 + 5 + 6) + 120);
	strips_done(&got);
	history_done(&h);
}

static void a_history_without_seconds_has_none(void **state)
{
	struct history h;
	struct strips got;

	(void)state;
	assert_int_equal(history_init(&h, 10, 1 << 20), 0);
	assert_int_equal(strips_make(&h, HISTORY_BY_THREAD, 0, 0, 0, 0, &got), 0);
	assert_int_equal(got.count, 0);
	assert_int_equal(strips_samples(&got, 0, 0), 0);
	strips_done(&got);
	history_done(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			the_largest_groups_of_the_chosen_seconds_are_shown_over_all_of_them),
		cmocka_unit_test(a_history_without_seconds_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
