/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* v8_lines: by tables of recurse() in tests/lab/v8/work.js, read in node, and what --print-bytecode prints of them */
#include "record/runtime/v8_lines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define V8_10 0x0a02 /* node 18 */
#define V8_13 0x0d06 /* node 24 */
#define V8_14 0x0e06 /* node 26 */

static const uint8_t with_signs[] = { 0x01, 0x80, 0x0d, 0x02, 0x18, 0x13, 0x54, 0x09, 0x27,
				      0x17, 0x44, 0x09, 0x07, 0x1b, 0x34, 0x08, 0x28 };
static const uint8_t with_bits[] = { 0x02, 0x80, 0x0d, 0x07, 0x18, 0x26, 0x54, 0x12, 0x27,
				     0x2e, 0x44, 0x12, 0x07, 0x36, 0x34, 0x13, 0x28 };

static const struct {
	uint32_t bytecode, place;
} truth[] = { { 0, 421 },  { 8, 421 },  { 9, 442 },  { 12, 442 }, { 13, 432 },  { 23, 432 },
	      { 24, 449 }, { 28, 447 }, { 41, 460 }, { 45, 470 }, { 1000, 470 } };

static void places_are_those_that_node_prints(void **state)
{
	uint32_t place;

	(void)state;
	for (size_t i = 0; i < sizeof(truth) / sizeof(truth[0]); i++) {
		assert_true(v8_lines_find(V8_10, with_signs, sizeof(with_signs), false,
					  truth[i].bytecode, &place));
		assert_int_equal(place, truth[i].place);
		assert_true(v8_lines_find(V8_13, with_signs, sizeof(with_signs), false,
					  truth[i].bytecode, &place));
		assert_int_equal(place, truth[i].place);
		assert_true(v8_lines_find(V8_14, with_bits, sizeof(with_bits), false,
					  truth[i].bytecode, &place));
		assert_int_equal(place, truth[i].place);
	}
}

static void versions_that_were_not_seen_have_no_places(void **state)
{
	static const uint32_t versions[] = { 0, 0x0a01, 0x0d07, 0x0e00, 0x0e07, 0x0f00 };
	uint32_t place;

	(void)state;
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		assert_false(v8_lines_find(versions[i], with_signs, sizeof(with_signs), false, 13,
					   &place));
		assert_false(v8_lines_find(versions[i], with_bits, sizeof(with_bits), false, 13,
					   &place));
	}
}

static void a_table_that_was_cut_has_the_places_before_its_last_one(void **state)
{
	uint32_t place;

	(void)state;
	/* The pair of 28 is the last one: what comes behind it may be of 41, which is not there. */
	assert_true(v8_lines_find(V8_13, with_signs, 13, true, 27, &place));
	assert_int_equal(place, 449);
	assert_false(v8_lines_find(V8_13, with_signs, 13, true, 28, &place));
	assert_false(v8_lines_find(V8_13, with_signs, 14, true, 41, &place)); /* half a pair */
}

static void a_broken_table_has_no_places(void **state)
{
	static const uint8_t endless[] = { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
					   0x80, 0x80, 0x80, 0x80, 0x80, 0x00 };
	static const uint8_t far[] = { 0x00, 0xfe, 0xff, 0xff, 0xff, 0xff, 0x7f };
	static const uint8_t negative[] = { 0x00, 0x03 };
	static const uint8_t outside[] = { 0x00, 0x06 }; /* in no script */
	uint8_t bytes[sizeof(with_signs)];
	uint32_t place;

	(void)state;
	assert_false(v8_lines_find(V8_13, with_signs, 0, false, 13, &place));
	assert_false(v8_lines_find(V8_13, endless, sizeof(endless), false, 13, &place));
	assert_false(v8_lines_find(V8_13, far, sizeof(far), false, 13, &place));
	assert_false(v8_lines_find(V8_13, negative, sizeof(negative), false, 13, &place));
	assert_false(v8_lines_find(V8_13, outside, sizeof(outside), false, 13, &place));
	for (size_t n = 0; n < sizeof(with_signs); n++) /* half a pair, or half a number */
		if (v8_lines_find(V8_13, with_signs, n, false, 1000, &place))
			assert_int_equal(n % 2, 1);
	srand(1);
	for (int i = 0; i < 100000; i++) {
		for (size_t k = 0; k < sizeof(bytes); k++)
			bytes[k] = (uint8_t)rand();
		if (v8_lines_find(i & 1 ? V8_13 : V8_14, bytes, sizeof(bytes), i & 2,
				  (uint32_t)rand() % 100, &place))
			assert_true(place < 1u << 30);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places_are_those_that_node_prints),
		cmocka_unit_test(versions_that_were_not_seen_have_no_places),
		cmocka_unit_test(a_table_that_was_cut_has_the_places_before_its_last_one),
		cmocka_unit_test(a_broken_table_has_no_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
