/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "analyze/process/mappings.h"

enum { SPAN = 200, VERSIONS = 64 }; /* addresses and versions of the comparison */

static uint32_t put(struct mappings *t, uint32_t root, uint64_t start, uint64_t end, uint32_t value,
		    uint32_t token)
{
	struct mappings_range range = { start, end, value };
	uint32_t out = UINT32_MAX;

	assert_int_equal(mappings_put(t, root, &range, token, &out), 0);
	return out;
}

static uint32_t range_count(const struct mappings *t, uint32_t root)
{
	const struct mappings_range *range;
	uint32_t count = 0;

	for (uint64_t at = 0; (range = mappings_after(t, root, at)); at = range->end)
		count++;
	return count;
}

static uint32_t value_at(const struct mappings *t, uint32_t root, uint64_t addr)
{
	const struct mappings_range *range = mappings_find(t, root, addr);

	return range ? range->value : 0;
}

static void empty_version_covers_nothing(void **state)
{
	struct mappings t = { 0 };

	assert_null(mappings_find(&t, 0, 0));
	assert_null(mappings_overlap(&t, 0, 0, UINT64_MAX));
	mappings_done(&t);
}

static void range_ends_before_its_end(void **state)
{
	struct mappings t = { 0 };
	uint32_t root = put(&t, 0, 100, 200, 7, 1);

	assert_int_equal(value_at(&t, root, 99), 0);
	assert_int_equal(value_at(&t, root, 100), 7);
	assert_int_equal(value_at(&t, root, 199), 7);
	assert_int_equal(value_at(&t, root, 200), 0);
	mappings_done(&t);
}

static void later_range_cuts_a_hole(void **state)
{
	struct mappings t = { 0 };
	uint32_t root = put(&t, 0, 100, 200, 1, 1);

	root = put(&t, root, 140, 160, 2, 1);
	assert_int_equal(value_at(&t, root, 139), 1);
	assert_int_equal(value_at(&t, root, 140), 2);
	assert_int_equal(value_at(&t, root, 159), 2);
	assert_int_equal(value_at(&t, root, 160), 1);
	assert_int_equal(range_count(&t, root), 3);
	mappings_done(&t);
}

static void old_version_stays_as_it_was(void **state)
{
	struct mappings t = { 0 };
	uint32_t old = put(&t, put(&t, 0, 0, 10, 1, 1), 10, 20, 2, 1);
	uint32_t new = put(&t, old, 5, 15, 3, 2);

	assert_int_equal(value_at(&t, old, 7), 1);
	assert_int_equal(value_at(&t, old, 12), 2);
	assert_int_equal(value_at(&t, new, 4), 1);
	assert_int_equal(value_at(&t, new, 7), 3);
	assert_int_equal(value_at(&t, new, 12), 3);
	assert_int_equal(value_at(&t, new, 15), 2);
	mappings_done(&t);
}

static void walk_goes_up_through_all_ranges(void **state)
{
	struct mappings t = { 0 };
	const struct mappings_range *range;
	uint32_t root = 0, count = 0;
	uint64_t at = 0;

	for (uint32_t i = 0; i < 100; i++) /* in no order */
		root = put(&t, root, (i * 37 % 100) * 10, (i * 37 % 100) * 10 + 5, 1 + i * 37 % 100,
			   1);
	for (; (range = mappings_after(&t, root, at)); at = range->end)
		assert_int_equal(range->value, ++count);
	assert_int_equal(count, 100);
	assert_int_equal(mappings_after(&t, root, 12)->value, 2);
	assert_int_equal(mappings_after(&t, root, 15)->value, 3);
	assert_null(mappings_after(&t, root, 995));
	assert_null(mappings_after(&t, 0, 0));
	mappings_done(&t);
}

static void backward_or_empty_range_is_refused(void **state)
{
	struct mappings t = { 0 };
	struct mappings_range backward = { 20, 10, 1 }, empty = { 10, 10, 1 };
	uint32_t out = 77;

	assert_int_equal(mappings_put(&t, 0, &backward, 1, &out), -EINVAL);
	assert_int_equal(mappings_put(&t, 0, &empty, 1, &out), -EINVAL);
	assert_int_equal(mappings_cut(&t, 0, 20, 10, 1, &out), -EINVAL);
	assert_int_equal(out, 77);
	mappings_done(&t);
}

static void last_address_can_be_covered(void **state)
{
	struct mappings t = { 0 };
	uint32_t root = put(&t, 0, UINT64_MAX - 10, UINT64_MAX, 1, 1);

	assert_int_equal(value_at(&t, root, UINT64_MAX - 1), 1);
	assert_int_equal(value_at(&t, root, UINT64_MAX), 0);
	mappings_done(&t);
}

/* Rising addresses make an unbalanced tree a list. */
static void tree_stays_flat_when_filled_in_order(void **state)
{
	struct mappings t = { 0 };
	uint32_t root = 0;

	for (uint32_t i = 0; i < 100000; i++)
		root = put(&t, root, i * 10ULL, i * 10ULL + 10, i + 1, 1);
	assert_int_equal(range_count(&t, root), 100000);
	assert_true(mappings_depth(&t, root) <= 34); /* 2 * log2(n) */
	assert_true(t.count <= 100001);              /* one token: nothing was copied */
	mappings_done(&t);
}

/* Against a plain array of addresses, version by version. */
static void agrees_with_an_array_in_all_versions(void **state)
{
	static uint32_t truth[VERSIONS][SPAN];
	uint32_t roots[VERSIONS] = { 0 };

	for (unsigned seed = 1; seed <= 200; seed++) {
		struct mappings t = { 0 };

		srand(seed);
		for (uint32_t v = 1; v < VERSIONS; v++) {
			uint32_t from = (uint32_t)rand() % v, start = (uint32_t)rand() % SPAN;
			uint32_t end = start + 1 + (uint32_t)rand() % (SPAN - start);
			uint32_t value = rand() % 4 ? v : 0;

			if (value)
				roots[v] = put(&t, roots[from], start, end, value, v);
			else
				assert_int_equal(
					mappings_cut(&t, roots[from], start, end, v, &roots[v]), 0);
			for (uint32_t a = 0; a < SPAN; a++)
				truth[v][a] = a >= start && a < end ? value : truth[from][a];
		}
		for (uint32_t v = 0; v < VERSIONS; v++)
			for (uint32_t a = 0; a < SPAN; a++)
				assert_int_equal(value_at(&t, roots[v], a), truth[v][a]);
		mappings_done(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_version_covers_nothing),
		cmocka_unit_test(range_ends_before_its_end),
		cmocka_unit_test(later_range_cuts_a_hole),
		cmocka_unit_test(old_version_stays_as_it_was),
		cmocka_unit_test(walk_goes_up_through_all_ranges),
		cmocka_unit_test(backward_or_empty_range_is_refused),
		cmocka_unit_test(last_address_can_be_covered),
		cmocka_unit_test(tree_stays_flat_when_filled_in_order),
		cmocka_unit_test(agrees_with_an_array_in_all_versions),
	};

	return cmocka_run_group_tests_name("maptree", tests, NULL, NULL);
}
