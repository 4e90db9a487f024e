/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analyze/input/event/filter.h"

static void empty_filter_passes_everything(void **state)
{
	struct filter f;

	filter_init(&f);
	assert_true(filter_passes(&f, 1, 2, -1, 0));
	assert_true(filter_passes(&f, UINT32_MAX, 0, 5, UINT64_MAX));
	assert_true(filter_passes_comm(&f, ""));
	filter_done(&f);
}

static void filter_that_asks_for_anything_is_not_empty(void **state)
{
	struct filter_error error;
	struct time_span *parts;
	struct filter f;

	for (int i = 0; i < 9; i++) {
		filter_init(&f);
		assert_true(filter_is_empty(&f));
		switch (i) {
		case 0:
			assert_int_equal(filter_add_pids(&f, "1", &error), 0);
			break;
		case 1:
			assert_int_equal(filter_add_tids(&f, "!1", &error), 0);
			break;
		case 2:
			assert_int_equal(filter_add_cpus(&f, "0-3", &error), 0);
			break;
		case 3:
			assert_int_equal(filter_add_comms(&f, "cc1", &error), 0);
			break;
		case 4:
			f.no_idle = true;
			break;
		case 5:
			f.no_kernel_threads = true;
			break;
		case 6:
			f.span.from_ns = 1;
			break;
		case 7:
			f.span.to_ns = UINT64_MAX - 1;
			break;
		default:
			parts = calloc(1, sizeof(*parts));
			assert_non_null(parts);
			*parts = (struct time_span){ 1, 2 };
			assert_int_equal(filter_set_parts(&f, parts, 1), 0);
		}
		assert_false(filter_is_empty(&f));
		filter_done(&f);
	}
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
	assert_false(filter_passes(&f, 1, 1, -1, 0)); /* the file does not have the CPU */
	filter_done(&f);
}

static void comms_match_completely(void **state)
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
	f.span = (struct time_span){ 100, 200 };
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

static void filter_has_the_parts_of_its_span_that_were_chosen(void **state)
{
	static const struct time_span given[] = { { 0, 99 },    { 110, 120 }, { 130, 130 },
						  { 140, 150 }, { 190, 500 }, { 600, 700 } };
	static const struct {
		uint64_t from_ns, to_ns, overlap_ns;
	} cases[] = {
		{ 0, 110, 0 },    { 0, 115, 5 },   { 110, 120, 10 }, { 115, 118, 3 },
		{ 115, 145, 10 }, { 120, 140, 0 }, { 0, 1000, 30 },  { 195, 1000, 5 },
		{ 200, 1000, 0 }, { 150, 190, 0 }, { 111, 111, 0 },  { 300, 200, 0 },
	};
	struct time_span *parts = malloc(sizeof(given));
	struct filter f;
	uint64_t count = 0;

	filter_init(&f);
	f.span = (struct time_span){ 100, 200 };
	memcpy(parts, given, sizeof(given));
	assert_int_equal(filter_set_parts(&f, parts, 6), 0);
	assert_int_equal(f.part_count, 4);
	assert_int_equal(f.span.from_ns, 110);
	assert_int_equal(f.span.to_ns, 200);
	for (uint64_t t = 0; t < 800; t++)
		count += filter_has_time(&f, t);
	assert_int_equal(count, 11 + 1 + 11 + 11);
	assert_true(filter_has_time(&f, 110) && filter_has_time(&f, 120) &&
		    filter_has_time(&f, 130) && !filter_has_time(&f, 109) &&
		    !filter_has_time(&f, 121) && !filter_has_time(&f, 201));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (filter_overlap_ns(&f, cases[i].from_ns, cases[i].to_ns) != cases[i].overlap_ns)
			fail_msg("case %zu: %llu", i,
				 (unsigned long long)filter_overlap_ns(&f, cases[i].from_ns,
								       cases[i].to_ns));
	filter_done(&f);
}

static void filter_without_a_part_in_its_span_is_reported(void **state)
{
	struct time_span *parts = malloc(2 * sizeof(*parts));
	struct filter f;

	filter_init(&f);
	f.span = (struct time_span){ 100, 200 };
	parts[0] = (struct time_span){ 0, 99 };
	parts[1] = (struct time_span){ 201, 300 };
	assert_int_equal(filter_set_parts(&f, parts, 2), -ENOENT);
	filter_done(&f);
	filter_init(&f);
	assert_int_equal(filter_overlap_ns(&f, 5, 9), 4);
	assert_true(filter_has_time(&f, 0) && filter_has_time(&f, UINT64_MAX));
	filter_done(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_filter_passes_everything),
		cmocka_unit_test(filter_that_asks_for_anything_is_not_empty),
		cmocka_unit_test(a_list_with_an_exclamation_mark_is_of_what_is_not_wanted),
		cmocka_unit_test(filter_has_the_parts_of_its_span_that_were_chosen),
		cmocka_unit_test(filter_without_a_part_in_its_span_is_reported),
		cmocka_unit_test(idle_is_left_out_when_asked),
		cmocka_unit_test(lists_are_read_with_blanks_and_in_parts),
		cmocka_unit_test(cpus_are_numbers_and_ranges),
		cmocka_unit_test(comms_match_completely),
		cmocka_unit_test(both_ends_of_the_span_belong_to_it),
		cmocka_unit_test(what_is_no_number_is_refused_by_name),
		cmocka_unit_test(broken_ranges_and_comms_are_refused),
	};

	return cmocka_run_group_tests_name("filter", tests, NULL, NULL);
}
