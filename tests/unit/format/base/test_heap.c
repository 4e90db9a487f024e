/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "format/base/heap.h"

#define COUNT 300

static bool is_before(const unsigned *a, const unsigned *b)
{
	return *a < *b;
}

static int compare(const void *pa, const void *pb)
{
	const unsigned *a = pa, *b = pb;

	return *a < *b ? -1 : *a > *b;
}

static unsigned take_first(unsigned *list, size_t *count)
{
	unsigned first = list[0];

	list[0] = list[--*count];
	heap_down(list, *count, is_before);
	return first;
}

static void numbers_come_out_in_order(void **state)
{
	unsigned list[COUNT], want[COUNT];
	size_t count = 0;

	srand(7);
	for (size_t all = 0; all <= COUNT; all++) {
		for (size_t i = 0; i < all; i++) {
			want[i] = (unsigned)rand() % (all % 2 ? 10 : 100000);
			list[count++] = want[i];
			heap_up(list, i, is_before);
		}
		qsort(want, all, sizeof(*want), compare);
		for (size_t i = 0; i < all; i++)
			assert_int_equal(take_first(list, &count), want[i]);
	}
}

static void first_element_that_grew_sinks(void **state)
{
	static const unsigned want[] = { 2, 3, 4, 5, 5, 6, 7 };
	unsigned list[] = { 1, 2, 3, 4, 5, 6, 7 };
	size_t count = sizeof(list) / sizeof(list[0]);

	list[0] = 5;
	heap_down(list, count, is_before);
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		assert_int_equal(take_first(list, &count), want[i]);
}

static void only_the_count_is_touched(void **state)
{
	unsigned list[] = { 9, 1, 0 };

	heap_down(list, 0, is_before);
	assert_int_equal(list[0], 9);
	heap_down(list, 2, is_before);
	assert_int_equal(list[0], 1);
	assert_int_equal(list[1], 9);
	assert_int_equal(list[2], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_come_out_in_order),
		cmocka_unit_test(first_element_that_grew_sinks),
		cmocka_unit_test(only_the_count_is_touched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
