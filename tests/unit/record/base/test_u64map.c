/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/base/u64map.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void keymap_keeps_many_keys_apart(void **state)
{
	struct u64map m = { 0 };
	uint32_t i, *value;

	assert_null(u64map_get(&m, 0, 0));
	for (i = 0; i < 10000; i++)
		assert_int_equal(u64map_put(&m, i % 100, i / 100, i), 0);
	for (i = 0; i < 10000; i++) {
		value = u64map_get(&m, i % 100, i / 100);
		assert_non_null(value);
		assert_int_equal(*value, i);
	}
	assert_null(u64map_get(&m, 100, 0));
	assert_null(u64map_get(&m, 0, 100));
	u64map_done(&m);
}

static void keymap_put_replaces(void **state)
{
	struct u64map m = { 0 };

	assert_int_equal(u64map_put(&m, 1, 2, 3), 0);
	assert_int_equal(u64map_put(&m, 1, 2, 4), 0);
	assert_int_equal(*u64map_get(&m, 1, 2), 4);
	u64map_done(&m);
}

static void keymap_finds_the_others_after_a_removal(void **state)
{
	struct u64map m = { 0 };
	uint32_t i;

	for (i = 0; i < 1000; i++)
		assert_int_equal(u64map_put(&m, i, 0, i), 0);
	for (i = 0; i < 1000; i += 2)
		u64map_remove(&m, i, 0);
	u64map_remove(&m, 5000, 0);
	for (i = 0; i < 1000; i++)
		assert_int_equal(u64map_get(&m, i, 0) != NULL, i % 2);
	assert_int_equal(u64map_put(&m, 0, 0, 7), 0);
	assert_int_equal(*u64map_get(&m, 0, 0), 7);
	u64map_done(&m);
}

static void keymap_survives_endless_coming_and_going(void **state)
{
	struct u64map m = { 0 };
	uint32_t i;

	for (i = 0; i < 100000; i++) {
		assert_int_equal(u64map_put(&m, i, 0, i), 0);
		u64map_remove(&m, i, 0);
	}
	assert_null(u64map_get(&m, 5, 0));
	assert_true(m.slot_count < 1024); /* holes do not stay for ever */
	u64map_done(&m);
}

static void maps_of_the_same_keys_have_orders_of_their_own(void **state)
{
	struct u64map a = { 0 }, b = { 0 };
	size_t at = 0, other = 0, equal = 0;

	for (uint32_t i = 0; i < 1000; i++) {
		assert_int_equal(u64map_put(&a, i, 0, i), 0);
		assert_int_equal(u64map_put(&b, i, 0, i), 0);
	}
	for (uint32_t i = 0; i < 1000; i++)
		equal += u64map_next(&a, &at)->a == u64map_next(&b, &other)->a;
	assert_true(equal < 100);
	u64map_done(&a);
	u64map_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keymap_keeps_many_keys_apart),
		cmocka_unit_test(keymap_put_replaces),
		cmocka_unit_test(keymap_finds_the_others_after_a_removal),
		cmocka_unit_test(keymap_survives_endless_coming_and_going),
		cmocka_unit_test(maps_of_the_same_keys_have_orders_of_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
