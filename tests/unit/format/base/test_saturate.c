/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "format/base/saturate.h"

static void decimals_are_cut(void **state)
{
	assert_int_equal(saturate_part(0.99, 10), 0);
	assert_int_equal(saturate_part(1, 10), 1);
	assert_int_equal(saturate_part(7.9, 10), 7);
	assert_int_equal(saturate_part(10, 10), 10);
}

static void all_of_the_largest_is_the_largest(void **state)
{
	const double two_64 = 18446744073709551616.0;

	assert_true(saturate_part((double)UINT64_MAX, UINT64_MAX) == UINT64_MAX);
	assert_true(saturate_part(nextafter(two_64, 0), UINT64_MAX) == UINT64_MAX - 2047);
	/* A double is more than what it was made of, or less. */
	assert_true(saturate_part((double)(UINT64_MAX - 3000), UINT64_MAX - 3000) <=
		    UINT64_MAX - 3000);
	assert_true(saturate_part((double)((1ull << 53) + 1), (1ull << 53) + 1) >= 1ull << 53);
	assert_true(saturate_part((double)((1ull << 53) + 3), (1ull << 53) + 3) ==
		    (1ull << 53) + 3);
}

static void what_is_out_of_range_is_its_end(void **state)
{
	assert_int_equal(saturate_part(11, 10), 10);
	assert_int_equal(saturate_part(1e300, 10), 10);
	assert_int_equal(saturate_part(INFINITY, 10), 10);
	assert_int_equal(saturate_part(-1, 10), 0);
	assert_int_equal(saturate_part(-INFINITY, 10), 0);
	assert_int_equal(saturate_part(NAN, 10), 0);
	assert_int_equal(saturate_part(5, 0), 0);
}

static void sums_stay_at_their_end(void **state)
{
	assert_true(saturate_add(UINT64_MAX - 5, 5) == UINT64_MAX);
	assert_true(saturate_add(UINT64_MAX - 5, 4) == UINT64_MAX - 1);
	assert_true(saturate_add(UINT64_MAX - 5, 6) == UINT64_MAX);
	assert_true(saturate_add(UINT64_MAX, UINT64_MAX) == UINT64_MAX);
	assert_true(saturate_add_signed((uint64_t)-3, 5) == 2);
	assert_true(saturate_add_signed(3, (uint64_t)-5) == (uint64_t)-2);
	assert_true(saturate_add_signed(INT64_MAX, 1) == INT64_MAX);
	assert_true(saturate_add_signed((uint64_t)INT64_MIN, (uint64_t)-1) == (uint64_t)INT64_MIN);
}

static void pieces_of_the_largest_count_do_not_wrap(void **state)
{
	assert_int_equal(bounded_pieces(0, 512), 0);
	assert_int_equal(bounded_pieces(1, 512), 1);
	assert_int_equal(bounded_pieces(512, 512), 1);
	assert_int_equal(bounded_pieces(513, 512), 2);
	assert_int_equal(bounded_pieces(UINT32_MAX, 512), 1U << 23);
	assert_int_equal(bounded_pieces(UINT64_MAX, 512), 1ULL << 55);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decimals_are_cut),
		cmocka_unit_test(all_of_the_largest_is_the_largest),
		cmocka_unit_test(what_is_out_of_range_is_its_end),
		cmocka_unit_test(sums_stay_at_their_end),
		cmocka_unit_test(pieces_of_the_largest_count_do_not_wrap),
	};

	return cmocka_run_group_tests_name("bounded", tests, NULL, NULL);
}
