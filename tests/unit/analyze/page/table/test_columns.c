/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/page/table/columns.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

static unsigned digit(uint8_t c)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = memchr(digits, c, 64);

	assert_non_null(at);
	return (unsigned)(at - digits);
}

/* The bytes of a block, by the rules of docs/PAGE.md. */
static size_t unpack(const struct page_table *t, uint8_t *out, size_t room)
{
	const struct outbuf *b = &t->block;
	uint8_t *packed = malloc(b->size_bytes + 1);
	size_t n = 0;
	uLongf size = room;

	assert_int_equal(b->size_bytes % 4, 0);
	for (size_t i = 0; i < b->size_bytes && b->data[i] != '='; i++) {
		unsigned v = digit(b->data[i]);

		if (i % 4 == 0)
			packed[n] = (uint8_t)(v << 2);
		else if (i % 4 == 1)
			packed[n++] |= (uint8_t)(v >> 4), packed[n] = (uint8_t)(v << 4);
		else if (i % 4 == 2)
			packed[n++] |= (uint8_t)(v >> 2), packed[n] = (uint8_t)(v << 6);
		else
			packed[n++] |= (uint8_t)v;
	}
	assert_int_equal(uncompress(out, &size, packed, n), Z_OK);
	free(packed);
	return size;
}

static void numbers_and_texts_come_back(void **state)
{
	static const uint8_t
		want[] = {
			0,    0x7f, 0x80, 0xff, 0x01, 0xff, 0xff, 0xff, 0xff, 0xff,
			0xff, 0xff, 0xff, 0x01, 0,    1,    2,    0xff, 0xff, 0xff,
			0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, /* of the smallest number */
			'a',  0,    0,
		};
	struct page_columns p = { 0 };
	uint8_t got[64];

	page_columns_begin_table(&p, "t", 4);
	page_columns_begin(&p, "plain");
	page_columns_put(&p, 0);
	page_columns_put(&p, 127);
	page_columns_put(&p, 128);
	page_columns_put(&p, UINT64_MAX);
	page_columns_begin_signed(&p, "signed");
	page_columns_put_signed(&p, 0);
	page_columns_put_signed(&p, -1);
	page_columns_put_signed(&p, 1);
	page_columns_put_signed(&p, INT64_MIN);
	page_columns_begin_text(&p, "text");
	page_columns_put_text(&p, "a", 1);
	page_columns_put_text(&p, "", 0);
	page_columns_end_table(&p);

	assert_true(page_columns_ok(&p));
	assert_int_equal(p.tables[0].column_count, 3);
	assert_int_equal(p.tables[0].columns[0].bytes, 14);
	assert_int_equal(p.tables[0].columns[1].bytes, 13);
	assert_int_equal(p.tables[0].columns[2].bytes, 3);
	assert_int_equal(p.tables[0].raw_bytes, sizeof(want));
	assert_int_equal(unpack(&p.tables[0], got, sizeof(got)), sizeof(want));
	assert_memory_equal(got, want, sizeof(want));
	page_columns_done(&p);
}

static void blocks_of_every_length_end_as_base64_does(void **state)
{
	uint8_t got[300];

	for (size_t size = 0; size < 200; size++) {
		struct page_columns p = { 0 };

		page_columns_begin_table(&p, "t", size);
		page_columns_begin(&p, "c");
		for (size_t i = 0; i < size; i++)
			page_columns_put(&p, (i * 37 + size * 11) % 128);
		page_columns_end_table(&p);
		assert_true(page_columns_ok(&p));
		assert_int_equal(unpack(&p.tables[0], got, sizeof(got)), size);
		for (size_t i = 0; i < size; i++)
			assert_int_equal(got[i], (i * 37 + size * 11) % 128);
		page_columns_done(&p);
	}
}

static void more_columns_than_there_is_room_for_turn_bad(void **state)
{
	struct page_columns p = { 0 };

	page_columns_begin_table(&p, "t", 0);
	for (int i = 0; i < PAGE_TABLE_COLUMNS + 1; i++)
		page_columns_begin(&p, "c");
	page_columns_end_table(&p);
	assert_false(page_columns_ok(&p));
	page_columns_done(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_and_texts_come_back),
		cmocka_unit_test(blocks_of_every_length_end_as_base64_does),
		cmocka_unit_test(more_columns_than_there_is_room_for_turn_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
