/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/metric/selection.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { INTERVAL, PID, ZONE, COUNT, SLOTS };

/* Two tables without a layout of ours: "zones" of intervals, "moments" whose rows are events. */
struct tables {
	struct metric_table list[2];
	struct metric_rows rows;
	struct string_table *names;
	struct metric_ask ask;
	struct metric_selection selection;
};

static void make_table(struct metric_table *t, const char *name, bool is_interval)
{
	*t = (struct metric_table){ .is_interval = is_interval,
				    .since = METRIC_ROWS_NONE,
				    .interval = INTERVAL,
				    .pid = METRIC_ROWS_NONE,
				    .tid = METRIC_ROWS_NONE,
				    .comm = METRIC_ROWS_NONE,
				    .slot_count = SLOTS };
	strcpy(t->fmt.name, name);
	metric_format_add(&t->fmt, "interval", METRIC_UNSIGNED, 8, 1, true);
	metric_format_add(&t->fmt, "pid", METRIC_UNSIGNED, 8, 1, true);
	metric_format_add(&t->fmt, "zone", METRIC_UNSIGNED, 8, 1, is_interval);
	metric_format_add(&t->fmt, "count", METRIC_UNSIGNED, 8, 1, false);
	for (uint32_t i = 0; i < SLOTS; i++)
		t->slots[i] = i;
}

static int setup(void **state)
{
	struct tables *t = calloc(1, sizeof(*t));

	make_table(&t->list[0], "zones", true);
	make_table(&t->list[1], "moments", false);
	t->rows = (struct metric_rows){ .tables = t->list, .count = 2 };
	t->ask.top = UINT32_MAX;
	t->selection.ask = &t->ask;
	t->selection.rows = &t->rows;
	assert_int_equal(string_table_new(&t->names), 0);
	t->selection.names = t->names;
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	struct tables *t = *state;

	metric_selection_done(&t->selection);
	string_table_free(t->names);
	free(t);
	return 0;
}

static void add_row(struct tables *t, uint64_t interval, uint64_t zone, uint64_t count)
{
	uint64_t slots[SLOTS] = {
		[INTERVAL] = interval, [PID] = 7, [ZONE] = zone, [COUNT] = count
	};
	struct metric_row r = { .table = &t->list[0],
				.slots = slots,
				.since_ns = interval * 100,
				.time_ns = interval * 100 + 100 };

	assert_int_equal(metric_selection_row(&t->selection, &r), 0);
}

static void a_table_is_added_once_however_often_it_is_named(void **state)
{
	struct tables *t = *state;

	assert_int_equal(metric_selection_add(&t->selection, "zones"), 0);
	assert_int_equal(t->selection.table_count, 1);
	assert_int_equal(metric_selection_add(&t->selection, NULL), 0);
	assert_int_equal(metric_selection_add(&t->selection, "zones"), 0);
	assert_int_equal(t->selection.table_count, 2);
	assert_int_equal(metric_selection_add(&t->selection, "zone"), -ENOENT);
	assert_int_equal(t->selection.table_count, 2);
	assert_true(metric_selection_has_intervals(&t->selection));
}

static void only_tables_with_the_key_are_grouped_by_it(void **state)
{
	static const struct {
		const char *by, *name;
		int err;
		size_t tables, keys;
	} cases[] = {
		{ "zone", NULL, 0, 1, 1 },
		{ "zone,pid", NULL, 0, 1, 2 },
		{ "zone,pid,interval", NULL, -ENOENT, 0, 0 },
		{ "nothing", NULL, -ENOENT, 0, 0 },
		{ "zone", "moments", -ENOENT, 0, 0 }, /* events do not add up */
	};
	struct tables *t = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		t->ask.by = cases[i].by;
		assert_int_equal(metric_selection_add(&t->selection, cases[i].name), cases[i].err);
		assert_int_equal(t->selection.table_count, cases[i].tables);
		assert_int_equal(t->selection.tables[0].key_count, cases[i].keys);
		metric_selection_done(&t->selection);
		memset(t->selection.tables, 0, sizeof(t->selection.tables));
	}
}

static void tables_of_moments_can_be_left_out(void **state)
{
	struct tables *t = *state;

	t->ask.no_moments = true;
	assert_int_equal(metric_selection_add(&t->selection, "moments"), -ENOENT);
	assert_int_equal(metric_selection_add(&t->selection, NULL), 0);
	assert_int_equal(t->selection.table_count, 1);
}

static void intervals_are_apart_and_in_order_whatever_the_order_of_rows(void **state)
{
	struct tables *t = *state;
	const struct metric_sums *one = &t->selection.tables[0];

	t->ask.interval = true;
	assert_int_equal(metric_selection_add(&t->selection, "zones"), 0);
	assert_true(metric_selection_is_empty(&t->selection));
	add_row(t, 5, 1, 10);
	add_row(t, 2, 1, 3);
	add_row(t, 5, 1, 20);
	assert_false(metric_selection_is_empty(&t->selection));
	metric_selection_end(&t->selection);
	assert_int_equal(one->sum_count, 2);
	assert_int_equal(one->sums[0].to_ns, 300);
	assert_int_equal(metric_aggregate_slots(&one->sums[0], 0)[COUNT], 3);
	assert_int_equal(metric_aggregate_slots(&one->sums[1], 0)[COUNT], 30);
	metric_selection_clear(&t->selection);
	assert_true(metric_selection_is_empty(&t->selection));
}

/* A rate is of all intervals that were asked for, not of those that have rows. */
static void a_sum_of_all_intervals_has_their_time(void **state)
{
	struct tables *t = *state;
	const struct metric_sums *one = &t->selection.tables[0];

	assert_int_equal(metric_selection_add(&t->selection, "zones"), 0);
	add_row(t, 5, 1, 10);
	add_row(t, 7, 2, 1);
	t->rows.from_ns = 100;
	t->rows.to_ns = 2000;
	metric_selection_end(&t->selection);
	assert_int_equal(one->sum_count, 1);
	assert_int_equal(one->sums[0].from_ns, 100);
	assert_int_equal(one->sums[0].to_ns, 2000);
	assert_int_equal(one->sums[0].count, 2);
}

static void notes_are_those_of_the_shown_instruments(void **state)
{
	struct tables *t = *state;
	const char *at, *line;
	size_t bytes, count = 0;

	/* The instrument of a table without a layout is not known: notes about unknown instruments are shown. */
	t->selection.notes = "'locks' measures less on this kernel: no tracepoint\n"
			     "cannot record 'net'\n"
			     "'mine' measures less on this kernel: too old";
	assert_int_equal(metric_selection_add(&t->selection, "zones"), 0);
	at = t->selection.notes;
	while ((line = metric_selection_next_note(&t->selection, &at, &bytes))) {
		assert_int_equal(strncmp(line, "'mine' ", 7), 0);
		assert_int_equal(bytes, strlen("'mine' measures less on this kernel: too old"));
		count++;
	}
	assert_int_equal(count, 1);
}

static void only_numbers_are_sorted_by(void **state)
{
	struct tables *t = *state;

	assert_int_equal(metric_selection_add(&t->selection, "zones"), 0);
	assert_true(metric_selection_has_column(t->selection.tables[0].view, "count"));
	assert_true(metric_selection_has_column(t->selection.tables[0].view, "-count"));
	assert_false(metric_selection_has_column(t->selection.tables[0].view, "zone"));
}

static void csv_has_a_header_and_a_row_a_group(void **state)
{
	struct tables *t = *state;
	char *text = NULL;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);

	t->ask.form = METRIC_CSV_FORM;
	assert_int_equal(metric_selection_add(&t->selection, "zones"), 0);
	add_row(t, 0, 1, 10);
	add_row(t, 1, 2, 30);
	add_row(t, 1, 1, 5);
	t->rows.to_ns = 200;
	metric_selection_end(&t->selection);
	assert_int_equal(metric_selection_put(&t->selection, &(struct json_writer){ .to = to }), 0);
	fclose(to);
	assert_string_equal(text, "table,from_ns,to_ns,zone,count\n"
				  "zones,0,200,2,30\n"
				  "zones,0,200,1,15\n");
	free(text);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(a_table_is_added_once_however_often_it_is_named),
		CASE(only_tables_with_the_key_are_grouped_by_it),
		CASE(tables_of_moments_can_be_left_out),
		CASE(intervals_are_apart_and_in_order_whatever_the_order_of_rows),
		CASE(a_sum_of_all_intervals_has_their_time),
		CASE(notes_are_those_of_the_shown_instruments),
		CASE(only_numbers_are_sorted_by),
		CASE(csv_has_a_header_and_a_row_a_group),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
