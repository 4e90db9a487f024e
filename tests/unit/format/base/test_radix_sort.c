/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "format/base/radix_sort.h"

static int by_key(const void *va, const void *vb)
{
	const struct radix_item *a = va, *b = vb;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return a->value < b->value ? -1 : a->value > b->value;
}

/* Keys are of mask's bits; values are the order they came in. */
static void check(size_t count, uint64_t mask)
{
	struct radix_item *list = calloc(count + 1, sizeof(*list));
	struct radix_item *want = calloc(count + 1, sizeof(*want));

	assert_non_null(list);
	assert_non_null(want);
	for (size_t i = 0; i < count; i++)
		list[i] = (struct radix_item){
			((uint64_t)rand() << 33 ^ (uint64_t)rand() << 11 ^ (uint64_t)rand()) & mask,
			(uint32_t)i
		};
	memcpy(want, list, count * sizeof(*want));
	qsort(want, count, sizeof(*want), by_key);
	assert_int_equal(radix_sort(&list, count), 0);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(list[i].key, want[i].key);
		assert_int_equal(list[i].value, want[i].value);
	}
	free(list);
	free(want);
}

static void sorts_as_comparing_does_and_keeps_the_order_of_equals(void **state)
{
	static const uint64_t masks[] = { UINT64_MAX,
					  0,
					  7,
					  (uint64_t)1 << 63,
					  0x7ff0000000000000u,
					  0x00000000ffffffffu,
					  0xff00000000000f0fu };
	static const size_t counts[] = { 0, 1, 2, 3, 1000, 5000 };

	srand(1);
	for (size_t m = 0; m < sizeof(masks) / sizeof(masks[0]); m++)
		for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++)
			check(counts[c], masks[m]);
}

struct record {
	uint32_t order;
	uint64_t key;
	char text[5];
};

static int by_record_key(const void *va, const void *vb)
{
	const struct record *a = va, *b = vb;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static void records_move_with_their_keys(void **state)
{
	enum { COUNT = 3000 };
	struct record *list = calloc(COUNT, sizeof(*list)), *want = calloc(COUNT, sizeof(*want));
	void *records = list;

	assert_non_null(list);
	assert_non_null(want);
	srand(2);
	for (uint32_t i = 0; i < COUNT; i++) {
		list[i].order = i;
		list[i].key = (uint64_t)rand() << 20 & 0x7ff00000; /* some are equal */
		(void)snprintf(list[i].text, sizeof(list[i].text), "%u", i);
	}
	memcpy(want, list, COUNT * sizeof(*want));
	qsort(want, COUNT, sizeof(*want), by_record_key);
	assert_int_equal(
		radix_sort_records(&records, COUNT, sizeof(*list), offsetof(struct record, key)),
		0);
	assert_memory_equal(records, want, COUNT * sizeof(*want));
	assert_int_equal(
		radix_sort_records(&records, 0, sizeof(*list), offsetof(struct record, key)), 0);
	free(records);
	free(want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sorts_as_comparing_does_and_keeps_the_order_of_equals),
		cmocka_unit_test(records_move_with_their_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
