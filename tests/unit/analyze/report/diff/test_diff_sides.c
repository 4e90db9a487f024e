/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "analyze/report/diff/diff_sides.h"

#define SECOND 1000000000ULL

struct fixture {
	struct report report;
	struct filter filter;
	struct diff_blocks blocks;
	struct diff_sides sides;
};

/* A recording of 50 s from 1000 s on: blocks of a second. */
static void setup(struct fixture *f)
{
	*f = (struct fixture){ .report.scan = { .span = { 1000 * SECOND, 1050 * SECOND },
						.span_known = true } };
	filter_init(&f->filter);
	assert_int_equal(diff_table_new(&f->sides.table), 0);
}

static void teardown(struct fixture *f)
{
	diff_table_free(f->sides.table);
	diff_sides_done(&f->sides);
	filter_done(&f->filter);
}

/* The amount of the side, and in how many blocks it is. */
static double amount(const struct fixture *f, unsigned *blocks)
{
	struct diff_table_result r;
	double all;

	assert_int_equal(diff_table_compare(f->sides.table, DIFF_RATE, 0, &r), 0);
	all = r.amount[DIFF_AFTER];
	*blocks = r.blocks[DIFF_AFTER];
	diff_table_result_done(&r);
	return all;
}

static void assert_amount(const struct fixture *f, double want, unsigned want_blocks)
{
	unsigned blocks;
	double all = amount(f, &blocks);

	assert_true(all > want - 1e-6 && all < want + 1e-6);
	assert_int_equal(blocks, want_blocks);
}

static void add_span(struct fixture *f, uint64_t from_ms, uint64_t to_ms)
{
	const struct time_span span = { 1000 * SECOND + from_ms * 1000000,
					1000 * SECOND + to_ms * 1000000 };

	diff_sides_add_spans(&f->sides, DIFF_AFTER, &f->blocks, &span, 1);
}

static void seconds_add_up_to_the_time_that_is_asked_for(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	f.blocks = diff_blocks_make(&f.report, &f.filter);
	diff_sides_add_seconds(&f.sides, DIFF_AFTER, &f.blocks);
	assert_amount(&f, 50, DIFF_TABLE_BLOCKS);
	teardown(&f);
	setup(&f);
	f.filter.span = (struct time_span){ 1010 * SECOND, 1012 * SECOND };
	f.blocks = diff_blocks_make(&f.report, &f.filter);
	diff_sides_add_seconds(&f.sides, DIFF_AFTER, &f.blocks);
	assert_amount(&f, 2, DIFF_TABLE_BLOCKS);
	teardown(&f);
}

static void a_span_is_one_in_however_many_blocks(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	f.blocks = diff_blocks_make(&f.report, &f.filter);
	add_span(&f, 100, 200);
	assert_amount(&f, 1, 1);
	add_span(&f, 1500, 4500);
	assert_amount(&f, 2, 5);
	add_span(&f, 20300, 20300);
	assert_amount(&f, 3, 6);
	teardown(&f);
}

static void a_span_that_reaches_beyond_the_recording_is_one_inside(void **state)
{
	struct fixture f;
	const struct time_span all = { 0, UINT64_MAX };

	(void)state;
	setup(&f);
	f.blocks = diff_blocks_make(&f.report, &f.filter);
	add_span(&f, 49500, 80000);
	assert_amount(&f, 1, 1);
	diff_sides_add_spans(&f.sides, DIFF_AFTER, &f.blocks, &all, 1);
	assert_amount(&f, 2, DIFF_TABLE_BLOCKS);
	teardown(&f);
}

/* As of an empty capture. */
static void without_a_known_time_all_is_in_one_block(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	f.report.scan.span_known = false;
	f.blocks = diff_blocks_make(&f.report, &f.filter);
	add_span(&f, 100, 200);
	assert_amount(&f, 1, 1);
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(seconds_add_up_to_the_time_that_is_asked_for),
		cmocka_unit_test(a_span_is_one_in_however_many_blocks),
		cmocka_unit_test(a_span_that_reaches_beyond_the_recording_is_one_inside),
		cmocka_unit_test(without_a_known_time_all_is_in_one_block),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
