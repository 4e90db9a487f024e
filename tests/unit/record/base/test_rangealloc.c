/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "record/base/rangealloc.h"

static void extents_have_nothing_at_first(void **state)
{
	struct rangealloc e = { 0 };
	uint32_t at = 7;

	assert_int_equal(rangealloc_take(&e, 1, &at), -ENOSPC);
	assert_int_equal(rangealloc_take(&e, 0, &at), -EINVAL);
	assert_int_equal(at, 7);
	rangealloc_done(&e);
}

static void extents_give_each_number_once(void **state)
{
	struct rangealloc e = { 0 };
	uint32_t a = 0, b = 0, c = 0;

	assert_int_equal(rangealloc_give(&e, 100, 50), 0);
	assert_int_equal(rangealloc_take(&e, 20, &a), 0);
	assert_int_equal(rangealloc_take(&e, 30, &b), 0);
	assert_int_equal(rangealloc_take(&e, 1, &c), -ENOSPC);
	assert_int_equal(a, 100);
	assert_int_equal(b, 120);
	assert_int_equal(e.free_total, 0);
	rangealloc_done(&e);
}

static void extents_join_what_touches(void **state)
{
	struct rangealloc e = { 0 };
	uint32_t at;

	assert_int_equal(rangealloc_give(&e, 0, 10), 0);
	assert_int_equal(rangealloc_give(&e, 20, 10), 0);
	assert_int_equal(rangealloc_take(&e, 11, &at), -ENOSPC);
	assert_int_equal(rangealloc_give(&e, 10, 10), 0);
	assert_int_equal(e.count, 1);
	assert_int_equal(rangealloc_take(&e, 30, &at), 0);
	assert_int_equal(at, 0);
	rangealloc_done(&e);
}

static void extents_refuse_what_is_free_already(void **state)
{
	static const struct {
		uint32_t at, count;
	} wrong[] = {
		{ 10, 10 }, { 5, 6 },   { 19, 1 }, { 12, 3 },
		{ 0, 100 }, { 15, 20 }, { 5, 0 },  { UINT32_MAX, 2 },
	};
	struct rangealloc e = { 0 };
	size_t i;

	assert_int_equal(rangealloc_give(&e, 10, 10), 0);
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		if (rangealloc_give(&e, wrong[i].at, wrong[i].count) != -EINVAL)
			fail_msg("%u of %u was taken back", wrong[i].count, wrong[i].at);
	}
	assert_int_equal(e.free_total, 10);
	rangealloc_done(&e);
}

/* Against a bitmap: any order of takes and gives. */
static void extents_agree_with_a_bitmap(void **state)
{
	enum { N = 500 };
	struct rangealloc e = { 0 };
	bool used[N];
	struct extent held[N];
	uint32_t i, k, at, count, holding = 0, free_total, seed = 1;

	memset(used, 0, sizeof(used));
	assert_int_equal(rangealloc_give(&e, 0, N), 0);
	for (i = 0; i < 20000; i++) {
		seed = seed * 1103515245 + 12345;
		count = (seed >> 16) % 20 + 1;
		if (seed & 1 << 30 && !rangealloc_take(&e, count, &at)) {
			for (k = at; k < at + count; k++) {
				assert_true(k < N && !used[k]);
				used[k] = true;
			}
			held[holding++] = (struct extent){ at, count };
		} else if (holding) {
			k = (seed >> 8) % holding;
			memset(used + held[k].at, 0, held[k].count);
			assert_int_equal(rangealloc_give(&e, held[k].at, held[k].count), 0);
			held[k] = held[--holding];
		}
		for (k = 0, free_total = 0; k < N; k++)
			free_total += !used[k];
		assert_int_equal(e.free_total, free_total);
		for (k = 1; k < e.count; k++)
			assert_true(e.free[k - 1].at + e.free[k - 1].count < e.free[k].at);
	}
	rangealloc_done(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(extents_have_nothing_at_first),
		cmocka_unit_test(extents_give_each_number_once),
		cmocka_unit_test(extents_join_what_touches),
		cmocka_unit_test(extents_refuse_what_is_free_already),
		cmocka_unit_test(extents_agree_with_a_bitmap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
