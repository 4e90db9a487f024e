/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "record/base/packed.h"
#include "tests/unit/random.h"

#define BLOCK (64u << 10) /* as there */

/* Bytes that repeat, or never do. */
static uint8_t *some_bytes(size_t size_bytes, bool text)
{
	uint8_t *bytes = malloc(size_bytes + 1);
	uint64_t x = 88172645463325252ULL;

	assert_non_null(bytes);
	for (size_t i = 0; i < size_bytes; i++) {
		next_random(&x);
		bytes[i] = text ? (uint8_t)('a' + i / 100 % 26) : (uint8_t)x;
	}
	return bytes;
}

static void packed_gives_every_byte_back(void **state)
{
	static const size_t sizes[] = { 1, 100, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 7 };
	uint8_t got[1000], *bytes;
	struct packed *p = NULL;
	size_t off, want;

	for (size_t i = 0; i < 2 * sizeof(sizes) / sizeof(sizes[0]); i++) {
		const size_t size = sizes[i / 2];

		bytes = some_bytes(size, i % 2);
		assert_int_equal(packed_new(bytes, size, &p), 0);
		for (off = 0; off < size; off += 331) {
			want = size - off < sizeof(got) ? size - off : sizeof(got);
			assert_int_equal(packed_read(p, off, got, sizeof(got)), want);
			assert_memory_equal(got, bytes + off, want);
		}
		while (off > 997) { /* and backwards */
			off -= 997;
			if (off >= size)
				continue;
			assert_int_equal(packed_read(p, off, got, 1), 1);
			assert_int_equal(got[0], bytes[off]);
		}
		free(bytes);
		packed_free(p);
	}
}

static void packed_ends_where_the_bytes_do(void **state)
{
	uint8_t *bytes = some_bytes(2 * BLOCK, true), got[8] = { 0 };
	struct packed *p = NULL;

	assert_int_equal(packed_new(bytes, 2 * BLOCK, &p), 0);
	assert_int_equal(packed_read(p, 2 * BLOCK - 3, got, 8), 3);
	assert_int_equal(packed_read(p, 2 * BLOCK, got, 8), 0);
	assert_int_equal(packed_read(p, SIZE_MAX, got, 8), 0);
	assert_int_equal(packed_read(p, SIZE_MAX - 7, got, 8), 0);
	assert_int_equal(packed_read(p, 0, got, 0), 0);
	packed_free(p);
	assert_int_equal(packed_new(bytes, 0, &p), 0);
	assert_int_equal(packed_read(p, 0, got, 8), 0);
	packed_free(p);
	packed_free(NULL);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packed_gives_every_byte_back),
		cmocka_unit_test(packed_ends_where_the_bytes_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
