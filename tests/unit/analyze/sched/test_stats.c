/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sched/stats.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define UNKNOWN(n) .ns = { [THREAD_STATES_UNKNOWN] = (n) }

static void unknown_time_is_added_up_by_process_with_the_thread_that_has_most(void **state)
{
	struct sched_stats_thread threads[] = {
		{ .pid = 20, .tid = 21, .elapsed_ns = 100, UNKNOWN(5) },
		{ .pid = 10, .tid = 10, .elapsed_ns = 1000, UNKNOWN(0) },
		{ .pid = 20, .tid = 20, .elapsed_ns = 300, UNKNOWN(60) },
		{ .pid = 30, .tid = 30, .elapsed_ns = 400, UNKNOWN(70) },
		{ .pid = 20, .tid = 22, .elapsed_ns = 50, UNKNOWN(10) },
	};
	const struct sched_stats s = { .threads = threads, .thread_count = 5 };
	struct sched_stats_unknown all, *list;
	size_t count;

	assert_int_equal(sched_stats_unknown_time(&s, &all, &list, &count), 0);
	assert_int_equal(count, 3);
	assert_int_equal(list[0].ns, 75);
	assert_int_equal(list[0].all_ns, 450);
	assert_int_equal(list[0].thread_count, 3);
	assert_int_equal(list[0].most->tid, 20);
	assert_int_equal(list[1].ns, 70);
	assert_int_equal(list[1].most->tid, 30);
	assert_int_equal(list[2].ns, 0);
	assert_int_equal(list[2].all_ns, 1000);
	assert_int_equal(list[2].thread_count, 0);
	assert_int_equal(all.ns, 145);
	assert_int_equal(all.all_ns, 1850);
	assert_int_equal(all.thread_count, 4);
	assert_int_equal(all.most->tid, 30);
	free(list);
}

static void unknown_times_that_exceed_64_bits_stay_the_largest_number(void **state)
{
	struct sched_stats_thread threads[] = {
		{ .pid = 1, .tid = 1, .elapsed_ns = UINT64_MAX, UNKNOWN(UINT64_MAX) },
		{ .pid = 1, .tid = 2, .elapsed_ns = UINT64_MAX, UNKNOWN(2) },
	};
	const struct sched_stats s = { .threads = threads, .thread_count = 2 };
	struct sched_stats_unknown all, *list;
	size_t count;

	assert_int_equal(sched_stats_unknown_time(&s, &all, &list, &count), 0);
	assert_int_equal(count, 1);
	assert_true(list[0].ns == UINT64_MAX && all.ns == UINT64_MAX);
	assert_int_equal(all.most->tid, 1);
	free(list);
}

static void without_threads_nothing_is_unknown(void **state)
{
	const struct sched_stats s = { 0 };
	struct sched_stats_unknown all, *list;
	size_t count;

	assert_int_equal(sched_stats_unknown_time(&s, &all, &list, &count), 0);
	assert_int_equal(count, 0);
	assert_int_equal(all.ns, 0);
	assert_null(all.most);
	free(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unknown_time_is_added_up_by_process_with_the_thread_that_has_most),
		cmocka_unit_test(unknown_times_that_exceed_64_bits_stay_the_largest_number),
		cmocka_unit_test(without_threads_nothing_is_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
