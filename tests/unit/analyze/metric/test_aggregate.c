/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/metric/aggregate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { SINCE, INTERVAL, PID, COMM, COUNT, MOST, NOW, HIST, IS = HIST + 3, SLOTS = IS + 2 };

static struct metric_table table(void)
{
	static const char *const keys[] = { "since_ns", "interval", "pid" };
	struct metric_table t = { .is_interval = true,
				  .since = SINCE,
				  .interval = INTERVAL,
				  .pid = PID,
				  .tid = METRIC_ROWS_NONE,
				  .comm = COMM,
				  .slot_count = SLOTS };

	for (int i = 0; i < 3; i++)
		metric_format_add(&t.fmt, keys[i], METRIC_UNSIGNED, 8, 1, true);
	metric_format_add(&t.fmt, "comm", METRIC_TEXT, 1, 16, false);
	metric_format_add(&t.fmt, "count", METRIC_UNSIGNED, 8, 1, false);
	metric_format_add(&t.fmt, "max_ns", METRIC_UNSIGNED, 8, 1, false);
	metric_format_add(&t.fmt, "now_held", METRIC_UNSIGNED, 8, 1, false);
	metric_format_add(&t.fmt, "hist_ns", METRIC_UNSIGNED, 4, 3, false);
	for (uint32_t i = 0; i < t.fmt.field_count; i++)
		t.slots[i] = i;
	for (uint32_t i = 0; i < 2; i++) {
		metric_format_add(&t.fmt, i ? "is_nice" : "is_code", METRIC_UNSIGNED, 8, 1, false);
		t.slots[t.fmt.field_count - 1] = IS + i;
	}
	return t;
}

static void add(struct metric_aggregate *s, uint64_t interval, uint64_t pid, uint64_t comm,
		uint64_t count, uint64_t most, uint64_t now, uint32_t tid)
{
	uint64_t slots[SLOTS] = {
		[SINCE] = interval * 100, [INTERVAL] = interval, [PID] = pid, [COMM] = comm,
		[COUNT] = count,          [MOST] = most,         [NOW] = now, [HIST + 1] = count
	};
	struct metric_row r = { .table = s->table,
				.slots = slots,
				.since_ns = interval * 100,
				.time_ns = interval * 100 + 100,
				.pid = (uint32_t)pid,
				.tid = tid };

	assert_int_equal(metric_aggregate_add(s, &r), 0);
}

static void metricsum_adds_by_the_names_of_fields(void **state)
{
	static const uint32_t by_pid[] = { PID };
	struct metric_table t = table();
	struct metric_aggregate s;
	const uint64_t *row;

	metric_aggregate_init(&s, &t, by_pid, 1, false);
	add(&s, 0, 7, 1, 5, 30, 4, 7);
	add(&s, 0, 8, 2, 1, 1, 1, 8);
	add(&s, 1, 7, 3, 6, 20, 2, 7);
	add(&s, 1, 7, 4, 1, 10, 3, 99); /* another thread of it: not the one whose name counts */
	metric_aggregate_finish(&s);
	assert_int_equal(s.count, 2);
	row = metric_aggregate_slots(&s, 0);
	assert_int_equal(row[COUNT], 12);
	assert_int_equal(row[MOST], 30);
	assert_int_equal(row[NOW], 5); /* of the last interval, both threads */
	assert_int_equal(row[HIST + 1], 12);
	assert_int_equal(row[COMM], 3);
	assert_int_equal(metric_aggregate_slots(&s, 1)[NOW], 0); /* it is no more */
	assert_int_equal(s.from_ns, 0);
	assert_int_equal(s.to_ns, 200);
	metric_aggregate_done(&s);
}

static void metricsum_of_too_much_is_the_largest_number(void **state)
{
	static const uint32_t by_pid[] = { PID };
	struct metric_table t = table();
	struct metric_aggregate s;

	metric_aggregate_init(&s, &t, by_pid, 1, false);
	add(&s, 0, 7, 1, UINT64_MAX - 2, 0, UINT64_MAX, 7);
	add(&s, 0, 7, 1, 2, 0, 1, 8);
	assert_true(metric_aggregate_slots(&s, 0)[COUNT] == UINT64_MAX);
	add(&s, 0, 7, 1, 3, 0, 1, 8);
	assert_true(metric_aggregate_slots(&s, 0)[COUNT] == UINT64_MAX);
	assert_true(metric_aggregate_slots(&s, 0)[NOW] == UINT64_MAX);
	metric_aggregate_done(&s);
}

/* A row that a process left behind after its end was reported must not make the end forgotten. */
static void metricsum_keeps_what_a_later_row_does_not_have(void **state)
{
	static const uint32_t by_pid[] = { PID };
	static const struct {
		uint64_t code, nice, want_code, want_nice;
	} rows[] = { { 0, 0, 0, 0 }, { 7, 5, 7, 5 }, { 0, 0, 7, 5 }, { 9, 0, 9, 0 } };
	struct metric_table t = table();
	struct metric_aggregate s;

	metric_aggregate_init(&s, &t, by_pid, 1, false);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t slots[SLOTS] = {
			[INTERVAL] = i, [PID] = 7, [IS] = rows[i].code, [IS + 1] = rows[i].nice
		};
		struct metric_row r = { .table = &t, .slots = slots, .pid = 7, .tid = 7 };

		assert_int_equal(metric_aggregate_add(&s, &r), 0);
		assert_int_equal(metric_aggregate_slots(&s, 0)[IS], rows[i].want_code);
		assert_int_equal(metric_aggregate_slots(&s, 0)[IS + 1], rows[i].want_nice);
	}
	metric_aggregate_done(&s);
}

/* A number may be what rows are grouped by, though it adds up elsewhere. */
static void metricsum_groups_by_a_number_that_adds_up(void **state)
{
	static const uint32_t by_count[] = { COUNT };
	struct metric_table t = table();
	struct metric_aggregate s;

	metric_aggregate_init(&s, &t, by_count, 1, false);
	add(&s, 0, 7, 1, 5, 30, 4, 7);
	add(&s, 0, 8, 2, 5, 40, 1, 8);
	add(&s, 1, 7, 3, 10, 20, 2, 7);
	add(&s, 1, 7, 3, 5, 20, 2, 7);
	metric_aggregate_finish(&s);
	assert_int_equal(s.count, 2);
	assert_int_equal(metric_aggregate_slots(&s, 0)[COUNT], 5);
	assert_int_equal(metric_aggregate_slots(&s, 0)[MOST], 40);
	assert_int_equal(metric_aggregate_slots(&s, 0)[HIST + 1], 15);
	assert_int_equal(metric_aggregate_slots(&s, 1)[COUNT], 10);
	metric_aggregate_done(&s);
}

static void metricsum_folds_to_the_same_sums(void **state)
{
	static const uint32_t keys[] = { PID, COMM };
	struct metric_table t = table();
	struct metric_aggregate s, all;

	metric_aggregate_init(&s, &t, keys, 2, false);
	for (uint64_t i = 0; i < 500; i++)
		add(&s, i / 100, i % 7, i % 11, i, i, i / 400, 1);
	metric_aggregate_finish(&s);
	assert_int_equal(s.count, 77);
	assert_int_equal(metric_aggregate_fold(&s, NULL, 0, &all), 0);
	assert_int_equal(all.count, 1);
	assert_int_equal(metric_aggregate_slots(&all, 0)[COUNT], 499 * 500 / 2);
	assert_int_equal(metric_aggregate_slots(&all, 0)[MOST], 499);
	assert_int_equal(metric_aggregate_slots(&all, 0)[NOW], 100);
	assert_int_equal(all.groups[0].rows, 500);
	metric_aggregate_done(&all);
	metric_aggregate_done(&s);
}

static void metricsum_keeps_events_apart(void **state)
{
	struct metric_table t = table();
	struct metric_aggregate s;

	t.is_interval = false;
	metric_aggregate_init(&s, &t, NULL, 0, true);
	for (int i = 0; i < 100; i++)
		add(&s, 1, 7, 1, 1, 1, 1, 7);
	metric_aggregate_finish(&s);
	assert_int_equal(s.count, 100);
	metric_aggregate_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(metricsum_adds_by_the_names_of_fields),
		cmocka_unit_test(metricsum_of_too_much_is_the_largest_number),
		cmocka_unit_test(metricsum_keeps_what_a_later_row_does_not_have),
		cmocka_unit_test(metricsum_groups_by_a_number_that_adds_up),
		cmocka_unit_test(metricsum_folds_to_the_same_sums),
		cmocka_unit_test(metricsum_keeps_events_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
