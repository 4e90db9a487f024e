/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "format/base/outbuf.h"

#define MIB (1u << 20)

static void outbuf_relaxes_after_a_burst_and_keeps_what_is_in_it(void **state)
{
	struct outbuf b = { 0 };
	unsigned i;

	outbuf_zeros(&b, 3 * MIB);
	assert_int_equal(b.room_bytes, 4 * MIB);
	outbuf_relax(&b); /* it was needed */
	assert_int_equal(b.room_bytes, 4 * MIB);
	outbuf_clear(&b);
	outbuf_add(&b, "what is in it", 14);
	for (i = 0; i < 20; i++)
		outbuf_relax(&b);
	assert_in_range(b.room_bytes, 1, MIB / 4);
	assert_string_equal(b.data, "what is in it");
	outbuf_zeros(&b, 2 * MIB);
	assert_true(outbuf_ok(&b));
	assert_int_equal(b.size_bytes, 2 * MIB + 14);
	assert_string_equal(b.data, "what is in it");
	outbuf_done(&b);
}

static void outbuf_keeps_room_that_is_used(void **state)
{
	static const struct {
		size_t size, room, want;
	} cases[] = {
		{ 0, 0, 256 },           /* the least */
		{ 0, MIB / 4, MIB / 4 }, /* not worth it */
		{ 0, MIB / 2, MIB / 4 },
		{ MIB / 16, MIB / 2, MIB / 4 },
		{ MIB / 16 + 1, MIB / 2, MIB / 2 },
		{ MIB / 2, 4 * MIB, 2 * MIB },
		{ 4 * MIB, 4 * MIB, 4 * MIB },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct outbuf b = { 0 };

		if (cases[i].room)
			outbuf_reserve(&b, cases[i].room);
		outbuf_zeros(&b, cases[i].size);
		outbuf_relax(&b);
		if (b.room_bytes != cases[i].want || b.size_bytes != cases[i].size)
			fail_msg("%zu: room %zu", i, b.room_bytes);
		outbuf_done(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(outbuf_relaxes_after_a_burst_and_keeps_what_is_in_it),
		cmocka_unit_test(outbuf_keeps_room_that_is_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
