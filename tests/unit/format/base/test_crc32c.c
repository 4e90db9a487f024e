/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "format/base/crc32c.h"

/* One bit at a time, as it is defined. */
static uint32_t crc32c_by_definition(const uint8_t *p, size_t size)
{
	uint32_t crc = ~0u;

	while (size--) {
		crc ^= *p++;
		for (int i = 0; i < 8; i++)
			crc = crc & 1 ? crc >> 1 ^ 0x82f63b78u : crc >> 1;
	}
	return ~crc;
}

/* The vectors of RFC 3720 B.4, and the check value of the catalogues. */
static void crc32c_matches_the_published_vectors(void **state)
{
	uint8_t zeros[32] = { 0 }, ones[32], up[32], down[32];

	memset(ones, 0xff, sizeof(ones));
	for (int i = 0; i < 32; i++) {
		up[i] = (uint8_t)i;
		down[i] = (uint8_t)(31 - i);
	}
	assert_int_equal(crc32c(0, zeros, 32), 0x8a9136aau);
	assert_int_equal(crc32c(0, ones, 32), 0x62a8ab43u);
	assert_int_equal(crc32c(0, up, 32), 0x46dd794eu);
	assert_int_equal(crc32c(0, down, 32), 0x113fdb5cu);
	assert_int_equal(crc32c(0, "123456789", 9), 0xe3069283u);
	assert_int_equal(crc32c(0, "", 0), 0);
}

static void crc32c_is_right_at_any_length_and_alignment(void **state)
{
	uint8_t bytes[64];

	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 37 + 11);
	for (unsigned from = 0; from < 16; from++)
		for (unsigned size = 0; size <= sizeof(bytes) - from; size++)
			assert_int_equal(crc32c(0, bytes + from, size),
					 crc32c_by_definition(bytes + from, size));
}

static void crc32c_goes_on_from_a_result(void **state)
{
	const char text[] = "what the frame holds";

	for (size_t cut = 0; cut <= sizeof(text); cut++) {
		uint32_t crc = crc32c(0, text, cut);

		assert_int_equal(crc32c(crc, text + cut, sizeof(text) - cut),
				 crc32c(0, text, sizeof(text)));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(crc32c_matches_the_published_vectors),
		cmocka_unit_test(crc32c_is_right_at_any_length_and_alignment),
		cmocka_unit_test(crc32c_goes_on_from_a_result),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
