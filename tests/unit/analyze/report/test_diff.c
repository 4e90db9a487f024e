/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "analyze/report/diff.h"

enum { STEADY, GROWN, NOISY, KEYS };

/* Each block of 100: noisy costs 0 or 20 by turns, grown 10 before and 30 after. */
static struct diff_table *setup(unsigned blocks)
{
	struct diff_table *d;

	assert_int_equal(diff_table_new(&d), 0);
	for (int side = 0; side < DIFF_SIDES; side++) {
		for (unsigned b = 0; b < blocks; b++) {
			uint64_t grown = side == DIFF_AFTER ? 30 : 10;
			uint64_t noisy = (b + (unsigned)side) % 2 ? 20 : 0;

			assert_int_equal(diff_table_add(d, side, GROWN, b, grown), 0);
			assert_int_equal(diff_table_add(d, side, NOISY, b, noisy), 0);
			assert_int_equal(diff_table_add(d, side, STEADY, b, 100 - grown - noisy),
					 0);
			diff_table_add_total(d, side, b, 100);
		}
	}
	return d;
}

static const struct diff_table_row *find(const struct diff_table_row *rows, size_t count,
					 uint32_t key)
{
	for (size_t i = 0; i < count; i++)
		if (rows[i].key == key)
			return &rows[i];
	return NULL;
}

static void assert_near(double got, double want)
{
	assert_true(got > want - 1e-9 && got < want + 1e-9);
}

static void growth_is_told_from_noise(void **state)
{
	struct diff_table *d = setup(DIFF_TABLE_BLOCKS);
	const struct diff_table_row *row;
	struct diff_table_row *rows;
	size_t count;

	assert_int_equal(diff_table_rows(d, NULL, 0, &rows, &count), 0);
	assert_int_equal(count, KEYS);
	assert_int_equal(rows[0].key, GROWN); /* the largest growth first */
	assert_int_equal(rows[KEYS - 1].key, STEADY);
	assert_near(rows[0].value[DIFF_BEFORE], 0.1);
	assert_near(rows[0].value[DIFF_AFTER], 0.3);
	assert_false(rows[0].is_noise);
	assert_true(rows[0].low > 0.19 && rows[0].high < 0.21);
	row = find(rows, count, NOISY);
	assert_non_null(row);
	assert_true(row->is_noise);
	assert_true(row->low < 0 && row->high > 0);
	assert_int_equal(row->cost[DIFF_BEFORE], 500);
	free(rows);
	diff_table_free(d);
}

static void the_same_data_gives_the_same_intervals(void **state)
{
	struct diff_table_row *one, *two;
	size_t count_one, count_two;
	struct diff_table *d = setup(DIFF_TABLE_BLOCKS);

	assert_int_equal(diff_table_rows(d, NULL, 0, &one, &count_one), 0);
	diff_table_free(d);
	d = setup(DIFF_TABLE_BLOCKS);
	assert_int_equal(diff_table_rows(d, NULL, 0, &two, &count_two), 0);
	assert_int_equal(count_one, count_two);
	for (size_t i = 0; i < count_one; i++) {
		assert_true(one[i].low == two[i].low && one[i].high == two[i].high);
		assert_int_equal(one[i].key, two[i].key);
	}
	free(one);
	free(two);
	diff_table_free(d);
}

static void too_few_blocks_prove_nothing(void **state)
{
	struct diff_table *d = setup(3);
	struct diff_table_row *rows;
	size_t count;

	assert_int_equal(diff_table_rows(d, NULL, 0, &rows, &count), 0);
	for (size_t i = 0; i < count; i++)
		assert_true(rows[i].is_noise);
	assert_near(rows[0].low, 0.2);
	assert_near(rows[0].high, 0.2);
	free(rows);
	diff_table_free(d);
}

static void rates_are_by_the_second(void **state)
{
	static const double seconds[DIFF_SIDES] = { 10, 20 };
	struct diff_table *d = setup(DIFF_TABLE_BLOCKS);
	struct diff_table_row *rows;
	size_t count;

	assert_int_equal(diff_table_rows(d, seconds, 0, &rows, &count), 0);
	assert_near(find(rows, count, GROWN)->value[DIFF_BEFORE], 50);
	assert_near(find(rows, count, GROWN)->value[DIFF_AFTER], 75);
	free(rows);
	diff_table_free(d);
}

static void small_rows_are_left_out_and_nothing_is_no_row(void **state)
{
	struct diff_table *d = setup(DIFF_TABLE_BLOCKS);
	struct diff_table_row *rows;
	size_t count;

	assert_int_equal(diff_table_rows(d, NULL, 0.25, &rows, &count), 0);
	assert_int_equal(count, 2);
	assert_null(find(rows, count, NOISY));
	free(rows);
	diff_table_free(d);
	assert_int_equal(diff_table_new(&d), 0);
	assert_int_equal(diff_table_rows(d, NULL, 0, &rows, &count), 0);
	assert_int_equal(count, 0);
	free(rows);
	diff_table_free(d);
	diff_table_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(growth_is_told_from_noise),
		cmocka_unit_test(the_same_data_gives_the_same_intervals),
		cmocka_unit_test(too_few_blocks_prove_nothing),
		cmocka_unit_test(rates_are_by_the_second),
		cmocka_unit_test(small_rows_are_left_out_and_nothing_is_no_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
