/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "analyze/report/diff/diff.h"

enum { STEADY, GROWN, NOISY, KEYS };

/* Each block of 100: noisy costs 0 or 20 by turns, grown 10 before and 30 after. */
static struct diff_table *setup(unsigned blocks)
{
	static const struct diff_cost sum_all = { 100, 200 };
	struct diff_table *d;

	assert_int_equal(diff_table_new(&d), 0);
	for (int side = 0; side < DIFF_SIDES; side++) {
		for (unsigned b = 0; b < blocks; b++) {
			uint64_t grown = side == DIFF_AFTER ? 30 : 10;
			uint64_t noisy = (b + (unsigned)side) % 2 ? 20 : 0;
			uint64_t samples[KEYS] = { [GROWN] = grown, [NOISY] = noisy };

			samples[STEADY] = 100 - grown - noisy;
			for (uint32_t key = 0; key < KEYS; key++) {
				struct diff_cost cost = { samples[key], 2 * samples[key] };

				assert_int_equal(diff_table_add(d, side, key, b, &cost), 0);
			}
			diff_table_add_total(d, side, b, &sum_all);
			diff_table_add_amount(d, side, b, side == DIFF_AFTER ? 4 : 2);
		}
	}
	return d;
}

static struct diff_table_result compare(const struct diff_table *d, enum diff_basis basis,
					double min_share)
{
	struct diff_table_result r;

	assert_int_equal(diff_table_compare(d, basis, min_share, &r), 0);
	return r;
}

static const struct diff_table_row *find(const struct diff_table_result *r, uint32_t key)
{
	for (size_t i = 0; i < r->count; i++)
		if (r->rows[i].key == key)
			return &r->rows[i];
	return NULL;
}

static void assert_near(double got, double want)
{
	assert_true(got > want - 1e-9 && got < want + 1e-9);
}

static void growth_is_real_and_what_varies_by_blocks_is_not(void **state)
{
	struct diff_table *d = setup(DIFF_TABLE_BLOCKS);
	struct diff_table_result r = compare(d, DIFF_SHARE, 0);
	const struct diff_table_row *row = &r.rows[0];

	assert_int_equal(r.count, KEYS);
	assert_int_equal(row->key, GROWN); /* the largest growth first */
	assert_int_equal(r.rows[KEYS - 1].key, STEADY);
	assert_near(row->value[DIFF_BEFORE], 0.1);
	assert_near(row->share[DIFF_AFTER], 0.3);
	assert_near(row->ratio, 3);
	assert_int_equal(row->result, DIFF_REAL);
	assert_true(row->low > 2.5 && row->low < 3 && row->high > 3 && row->high < 3.5);
	row = find(&r, NOISY);
	assert_non_null(row);
	assert_int_equal(row->result, DIFF_NOISE);
	assert_true(row->low < 1 && row->high > 1);
	assert_int_equal(row->sum[DIFF_BEFORE].samples, 500);
	assert_int_equal(row->sum[DIFF_BEFORE].cost, 1000);
	assert_int_equal(r.total[DIFF_AFTER].samples, 5000);
	diff_table_result_done(&r);
	diff_table_free(d);
}

static void the_same_data_gives_the_same_intervals(void **state)
{
	struct diff_table *one = setup(DIFF_TABLE_BLOCKS), *two = setup(DIFF_TABLE_BLOCKS);
	struct diff_table_result a = compare(one, DIFF_SHARE, 0), b = compare(two, DIFF_SHARE, 0);

	assert_int_equal(a.count, b.count);
	for (size_t i = 0; i < a.count; i++) {
		assert_true(a.rows[i].low == b.rows[i].low && a.rows[i].high == b.rows[i].high);
		assert_int_equal(a.rows[i].key, b.rows[i].key);
	}
	diff_table_result_done(&a);
	diff_table_result_done(&b);
	diff_table_free(one);
	diff_table_free(two);
}

static void too_few_blocks_prove_nothing(void **state)
{
	struct diff_table *d = setup(DIFF_TABLE_MIN_BLOCKS - 1);
	struct diff_table_result r = compare(d, DIFF_SHARE, 0);

	assert_true(r.too_short);
	assert_int_equal(r.blocks[DIFF_BEFORE], DIFF_TABLE_MIN_BLOCKS - 1);
	for (size_t i = 0; i < r.count; i++) {
		assert_int_equal(r.rows[i].result, DIFF_NOISE);
		assert_true(r.rows[i].low <= 0 && isinf(r.rows[i].high));
	}
	assert_near(r.rows[0].ratio, 3);
	diff_table_result_done(&r);
	diff_table_free(d);
}

static void values_are_by_the_basis_and_shares_stand_beside_them(void **state)
{
	struct diff_table *d = setup(DIFF_TABLE_BLOCKS);
	struct diff_table_result r = compare(d, DIFF_RATE, 0);

	assert_near(r.amount[DIFF_BEFORE], 100);
	assert_near(find(&r, GROWN)->value[DIFF_BEFORE], 10);
	assert_near(find(&r, GROWN)->value[DIFF_AFTER], 15);
	assert_near(find(&r, GROWN)->ratio, 1.5);
	assert_near(find(&r, GROWN)->share[DIFF_AFTER], 0.3);
	diff_table_result_done(&r);
	r = compare(d, DIFF_RUN, 0);
	assert_near(find(&r, GROWN)->value[DIFF_BEFORE], 1000);
	assert_near(find(&r, GROWN)->ratio, 3);
	diff_table_result_done(&r);
	diff_table_free(d);
}

static void new_and_vanished_rows_have_one_bound(void **state)
{
	struct diff_table *d = setup(DIFF_TABLE_BLOCKS);
	struct diff_table_result r;

	for (unsigned b = 0; b < DIFF_TABLE_BLOCKS; b++) {
		assert_int_equal(diff_table_add(d, DIFF_AFTER, 7, b, &(struct diff_cost){ 1, 1 }),
				 0);
		assert_int_equal(diff_table_add(d, DIFF_BEFORE, 8, b, &(struct diff_cost){ 1, 1 }),
				 0);
	}
	r = compare(d, DIFF_SHARE, 0);
	assert_true(isinf(find(&r, 7)->ratio) && isinf(find(&r, 7)->high));
	assert_true(find(&r, 7)->low > 1);
	assert_int_equal(find(&r, 7)->result, DIFF_REAL);
	assert_near(find(&r, 8)->ratio, 0);
	assert_near(find(&r, 8)->low, 0);
	assert_true(find(&r, 8)->high < 1);
	assert_int_equal(find(&r, 8)->result, DIFF_REAL);
	diff_table_result_done(&r);
	diff_table_free(d);
}

/* As many samples as above, but all in one block: an event of one moment. */
static void a_single_burst_is_never_real(void **state)
{
	struct diff_table *d = setup(DIFF_TABLE_BLOCKS);
	struct diff_table_result r;

	assert_int_equal(diff_table_add(d, DIFF_AFTER, 7, 20, &(struct diff_cost){ 50, 50 }), 0);
	r = compare(d, DIFF_SHARE, 0);
	assert_int_equal(find(&r, 7)->result, DIFF_NOISE);
	diff_table_result_done(&r);
	diff_table_free(d);
}

static void small_rows_are_left_out_but_count_as_compared(void **state)
{
	struct diff_table *d = setup(DIFF_TABLE_BLOCKS);
	struct diff_table_result r = compare(d, DIFF_SHARE, 0.25);

	assert_int_equal(r.count, 2);
	assert_int_equal(r.tested, KEYS);
	assert_null(find(&r, NOISY));
	diff_table_result_done(&r);
	/* With a single sample nothing could be real. */
	assert_int_equal(diff_table_add(d, DIFF_AFTER, 7, 20, &(struct diff_cost){ 1, 1 }), 0);
	r = compare(d, DIFF_SHARE, 0);
	assert_int_equal(r.count, KEYS + 1);
	assert_int_equal(r.tested, KEYS);
	diff_table_result_done(&r);
	diff_table_free(d);
}

/* A slower machine makes all rows of a run cost more; what changed its share, too, is the program's. */
static void of_two_runs_only_what_shares_confirm_is_real(void **state)
{
	struct diff_table *d = setup(DIFF_TABLE_BLOCKS);
	struct diff_table_result r;

	assert_int_equal(diff_table_compare_run(d, 0, &r), 0);
	assert_int_equal(r.rows[0].key, GROWN);
	assert_int_equal(r.rows[0].result, DIFF_REAL);
	assert_near(r.rows[0].ratio, 3);
	assert_int_equal(r.unconfirmed, 0);
	diff_table_result_done(&r);
	diff_table_free(d);

	assert_int_equal(diff_table_new(&d), 0);
	for (int side = 0; side < DIFF_SIDES; side++)
		for (unsigned b = 0; b < DIFF_TABLE_BLOCKS; b++) {
			uint64_t each = side == DIFF_AFTER ? 100 : 50;
			const struct diff_cost cost = { each, each }, all = { 2 * each, 2 * each };

			assert_int_equal(diff_table_add(d, side, STEADY, b, &cost), 0);
			assert_int_equal(diff_table_add(d, side, GROWN, b, &cost), 0);
			diff_table_add_total(d, side, b, &all);
		}
	r = compare(d, DIFF_RUN, 0);
	assert_int_equal(find(&r, GROWN)->result, DIFF_REAL);
	diff_table_result_done(&r);
	assert_int_equal(diff_table_compare_run(d, 0, &r), 0);
	assert_int_equal(find(&r, GROWN)->result, DIFF_UNSURE);
	assert_int_equal(find(&r, STEADY)->result, DIFF_UNSURE);
	assert_int_equal(r.unconfirmed, 2);
	diff_table_result_done(&r);
	diff_table_free(d);
}

static void growth_is_counted_as_a_part_of_all_that_was_before(void **state)
{
	static const struct {
		enum diff_basis basis;
		double below, above; /* what the row that grew grew by */
	} cases[] = {
		{ DIFF_SHARE, 0.19, 0.21 }, /* 10 % of all, and then 30 % */
		{ DIFF_RUN, 0.19, 0.21 },   /* 1,000 of 10,000, and then 3,000 */
		{ DIFF_RATE, 0.04, 0.06 },  /* 10 of 100 a second, and then 15 */
	};
	struct diff_table *d = setup(DIFF_TABLE_BLOCKS);
	struct diff_table_result r;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		r = compare(d, cases[i].basis, 0);
		assert_int_equal(diff_table_count_grown(&r, cases[i].basis, cases[i].below), 1);
		assert_int_equal(diff_table_count_grown(&r, cases[i].basis, cases[i].above), 0);
		diff_table_result_done(&r);
	}
	diff_table_free(d);
}

static void nothing_is_no_row(void **state)
{
	struct diff_table_result r;
	struct diff_table *d;

	assert_int_equal(diff_table_new(&d), 0);
	r = compare(d, DIFF_SHARE, 0);
	assert_int_equal(r.count, 0);
	assert_true(r.too_short);
	diff_table_result_done(&r);
	diff_table_free(d);
	diff_table_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(growth_is_real_and_what_varies_by_blocks_is_not),
		cmocka_unit_test(the_same_data_gives_the_same_intervals),
		cmocka_unit_test(too_few_blocks_prove_nothing),
		cmocka_unit_test(values_are_by_the_basis_and_shares_stand_beside_them),
		cmocka_unit_test(new_and_vanished_rows_have_one_bound),
		cmocka_unit_test(a_single_burst_is_never_real),
		cmocka_unit_test(small_rows_are_left_out_but_count_as_compared),
		cmocka_unit_test(of_two_runs_only_what_shares_confirm_is_real),
		cmocka_unit_test(growth_is_counted_as_a_part_of_all_that_was_before),
		cmocka_unit_test(nothing_is_no_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
