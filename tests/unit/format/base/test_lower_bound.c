/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "format/base/lower_bound.h"

#define COUNT_MAX 40

/* i / 3, so that each number is there up to three times. */
static void every_place_is_the_one_that_a_walk_finds(void **state)
{
	uint32_t list[COUNT_MAX];

	for (size_t i = 0; i < COUNT_MAX; i++)
		list[i] = (uint32_t)(2 * (i / 3));
	for (size_t count = 0; count <= COUNT_MAX; count++) {
		for (uint32_t wanted = 0; wanted < COUNT_MAX; wanted++) {
			size_t below = 0, upto = 0;

			while (below < count && list[below] < wanted)
				below++;
			while (upto < count && list[upto] <= wanted)
				upto++;
			assert_int_equal(lower_bound(i, 0, count, list[i] < wanted), below);
			assert_int_equal(lower_bound(i, 0, count, list[i] <= wanted), upto);
		}
	}
}

static void only_the_range_is_read(void **state)
{
	const int list[] = { 9, 1, 2, 3, 0 };

	assert_int_equal(lower_bound(i, 1, 4, list[i] < 0), 1);
	assert_int_equal(lower_bound(i, 1, 4, list[i] < 3), 3);
	assert_int_equal(lower_bound(i, 1, 4, list[i] < 9), 4);
}

static void a_range_without_elements_is_its_beginning(void **state)
{
	assert_int_equal(lower_bound(i, 0, 0, i < 7), 0);
	assert_int_equal(lower_bound(i, 3, 3, i < 7), 3);
	assert_int_equal(lower_bound(i, 1, 0, i < 7), 1);
}

static void the_middle_of_a_huge_range_is_inside_it(void **state)
{
	const size_t first = SIZE_MAX - 9;

	assert_int_equal(lower_bound(i, first, SIZE_MAX, i < SIZE_MAX - 2), SIZE_MAX - 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_place_is_the_one_that_a_walk_finds),
		cmocka_unit_test(only_the_range_is_read),
		cmocka_unit_test(a_range_without_elements_is_its_beginning),
		cmocka_unit_test(the_middle_of_a_huge_range_is_inside_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
