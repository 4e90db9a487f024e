/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analyze/filter.h"

static void empty_filter_passes_everything(void **state)
{
	struct filter f;

	filter_init(&f);
	assert_true(filter_passes(&f, 1, 2, -1, 0));
	assert_true(filter_passes(&f, UINT32_MAX, 0, 5, UINT64_MAX));
	assert_true(filter_passes_comm(&f, ""));
	filter_done(&f);
}

static void lists_are_read_with_blanks_and_in_parts(void **state)
{
	struct filter_error e;
	struct filter f;

	filter_init(&f);
	assert_int_equal(filter_add_pids(&f, "10, 20", &e), 0);
	assert_int_equal(filter_add_pids(&f, "30", &e), 0);
	assert_int_equal(filter_add_tids(&f, "7", &e), 0);
	assert_true(filter_passes(&f, 30, 7, 0, 0));
	assert_true(filter_passes(&f, 20, 7, 0, 0));
	assert_false(filter_passes(&f, 20, 8, 0, 0));
	assert_false(filter_passes(&f, 21, 7, 0, 0));
	filter_done(&f);
}

static void cpus_are_numbers_and_ranges(void **state)
{
	struct filter_error e;
	struct filter f;

	filter_init(&f);
	assert_int_equal(filter_add_cpus(&f, "0-2,64", &e), 0);
	assert_true(filter_passes(&f, 1, 1, 0, 0));
	assert_true(filter_passes(&f, 1, 1, 2, 0));
	assert_true(filter_passes(&f, 1, 1, 64, 0));
	assert_false(filter_passes(&f, 1, 1, 3, 0));
	assert_false(filter_passes(&f, 1, 1, -1, 0)); /* the file does not say which CPU */
	filter_done(&f);
}

static void comms_match_whole(void **state)
{
	struct filter_error e;
	struct filter f;

	filter_init(&f);
	assert_int_equal(filter_add_comms(&f, "GC Thread#0,sh", &e), 0);
	assert_true(filter_passes_comm(&f, "sh"));
	assert_true(filter_passes_comm(&f, "GC Thread#0"));
	assert_false(filter_passes_comm(&f, "s"));
	assert_false(filter_passes_comm(&f, "shell"));
	filter_done(&f);
}

static void both_ends_of_the_span_belong_to_it(void **state)
{
	struct filter f;

	filter_init(&f);
	f.span = (struct timespan){ 100, 200 };
	assert_false(filter_passes(&f, 1, 1, 0, 99));
	assert_true(filter_passes(&f, 1, 1, 0, 100));
	assert_true(filter_passes(&f, 1, 1, 0, 200));
	assert_false(filter_passes(&f, 1, 1, 0, 201));
	filter_done(&f);
}

static void what_is_no_number_is_refused_by_name(void **state)
{
	const char *bad[] = { "",    ",",   "1,", "x",   "1x",         "-1",
			      "1 2", "0x1", "+1", "1.5", "4294967295", "99999999999999999999" };
	struct filter_error e;
	struct filter f;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		filter_init(&f);
		assert_int_equal(filter_add_pids(&f, bad[i], &e), -EINVAL);
		assert_int_equal(filter_add_tids(&f, bad[i], &e), -EINVAL);
		assert_int_equal(filter_add_cpus(&f, bad[i], &e), -EINVAL);
		filter_done(&f);
	}
	filter_init(&f);
	assert_int_equal(filter_add_pids(&f, "12,ab", &e), -EINVAL);
	assert_string_equal(e.text, "'ab' is not a process id");
	filter_done(&f);
}

static void broken_ranges_and_comms_are_refused(void **state)
{
	const char *bad[] = { "3-1", "1-", "-", "1-2-3", "0-x" };
	struct filter_error e;
	struct filter f;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		filter_init(&f);
		assert_int_equal(filter_add_cpus(&f, bad[i], &e), -EINVAL);
		filter_done(&f);
	}
	filter_init(&f);
	assert_int_equal(filter_add_comms(&f, "a,,b", &e), -EINVAL);
	assert_int_equal(filter_add_comms(&f, "", &e), -EINVAL);
	filter_done(&f);
}

static void a_list_with_an_exclamation_mark_is_of_what_is_not_wanted(void **state)
{
	struct filter_error e;
	struct filter f;

	filter_init(&f);
	assert_int_equal(filter_add_pids(&f, "!10,20", &e), 0);
	assert_int_equal(filter_add_tids(&f, "!7", &e), 0);
	assert_int_equal(filter_add_cpus(&f, "!2-3", &e), 0);
	assert_int_equal(filter_add_comms(&f, "!sh,ls", &e), 0);
	assert_true(filter_passes(&f, 11, 8, 1, 0));
	assert_true(filter_passes(&f, 11, 8, -1, 0));
	assert_false(filter_passes(&f, 10, 8, 1, 0));
	assert_false(filter_passes(&f, 20, 8, 1, 0));
	assert_false(filter_passes(&f, 11, 7, 1, 0));
	assert_false(filter_passes(&f, 11, 8, 3, 0));
	assert_true(filter_passes_comm(&f, "cc"));
	assert_false(filter_passes_comm(&f, "ls"));
	filter_done(&f);
}

static void idle_is_left_out_when_asked(void **state)
{
	struct filter f;

	filter_init(&f);
	f.no_idle = true;
	assert_false(filter_passes(&f, 0, 0, 1, 0));
	assert_true(filter_passes(&f, 1, 1, 1, 0));
	filter_done(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_filter_passes_everything),
		cmocka_unit_test(a_list_with_an_exclamation_mark_is_of_what_is_not_wanted),
		cmocka_unit_test(idle_is_left_out_when_asked),
		cmocka_unit_test(lists_are_read_with_blanks_and_in_parts),
		cmocka_unit_test(cpus_are_numbers_and_ranges),
		cmocka_unit_test(comms_match_whole),
		cmocka_unit_test(both_ends_of_the_span_belong_to_it),
		cmocka_unit_test(what_is_no_number_is_refused_by_name),
		cmocka_unit_test(broken_ranges_and_comms_are_refused),
	};

	return cmocka_run_group_tests_name("filter", tests, NULL, NULL);
}
