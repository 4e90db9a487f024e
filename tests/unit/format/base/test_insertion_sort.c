/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "format/base/insertion_sort.h"

#define COUNT 1000

static void check(uint64_t *addrs, size_t count)
{
	uint64_t want[COUNT];

	memcpy(want, addrs, count * sizeof(*want));
	qsort(want, count, sizeof(*want), insertion_sort_compare);
	addrsort(addrs, count);
	assert_memory_equal(addrs, want, count * sizeof(*want));
}

/* addrs: in any order.  want: in order, each once. */
static void check_unique(const uint64_t *addrs, size_t count, const uint64_t *want,
			 size_t want_count)
{
	uint64_t given[COUNT];

	memcpy(given, addrs, count * sizeof(*given));
	assert_int_equal(insertion_sort_unique(given, count), want_count);
	assert_memory_equal(given, want, want_count * sizeof(*want));
}

static void all_orders_end_sorted(void **state)
{
	uint64_t addrs[COUNT];

	srand(11);
	for (unsigned round = 0; round < 60; round++) {
		size_t count = (size_t)(rand() % COUNT) + 1;

		for (size_t i = 0; i < count; i++)
			addrs[i] = round % 6 == 0   ? i
				   : round % 6 == 1 ? UINT64_MAX - i
				   : round % 6 == 2 ? (uint64_t)rand() << 33
				   : round % 6 == 3 ? i - (uint64_t)(rand() % 3 == 0)
				   : round % 6 == 4 ? i ^ 1
						    : 7;
		check(addrs, count);
	}
}

static void few_behind_the_others_are_put_in(void **state)
{
	uint64_t addrs[COUNT];

	for (size_t i = 0; i < COUNT; i++)
		addrs[i] = i < COUNT - 20 ? 10 * i : COUNT - i;
	check(addrs, COUNT);
	addrsort(NULL, 0);
}

static void equal_ones_stay_once(void **state)
{
	static const uint64_t mixed[] = { 9, 0, UINT64_MAX, 9, 3, 0, 3, 9, UINT64_MAX };
	static const uint64_t each[] = { 0, 3, 9, UINT64_MAX };
	static const uint64_t same[] = { 7, 7, 7 };
	uint64_t many[COUNT], tens[COUNT / 10];

	check_unique(mixed, 9, each, 4);
	check_unique(each, 4, each, 4);
	check_unique(same, 3, same, 1);
	check_unique(same, 1, same, 1);
	assert_int_equal(insertion_sort_unique(NULL, 0), 0);
	for (size_t i = 0; i < COUNT; i++)
		many[i] = i * 7 % (COUNT / 10);
	for (size_t i = 0; i < COUNT / 10; i++)
		tens[i] = i;
	check_unique(many, COUNT, tens, COUNT / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_orders_end_sorted),
		cmocka_unit_test(few_behind_the_others_are_put_in),
		cmocka_unit_test(equal_ones_stay_once),
	};

	return cmocka_run_group_tests_name("addrsort", tests, NULL, NULL);
}
