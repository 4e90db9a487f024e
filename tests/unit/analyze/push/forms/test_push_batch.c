/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/push/forms/batch.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Rows of 1000 bytes, row i of bytes i. */
static struct push_batch make(uint32_t rows)
{
	struct push_batch b = { .host = strdup("web-1"),
				.sender = 7,
				.seq = 9,
				.from_s = 60,
				.to_s = 120,
				.samples = 5 };
	struct push_part *part = push_batch_add(&b, "samples");
	char row[1000];

	for (uint32_t i = 0; i < rows; i++) {
		memset(row, (int)i, sizeof(row));
		outbuf_add(&part->body, row, sizeof(row));
		push_part_end_row(&b, part);
	}
	assert_false(b.bad);
	return b;
}

static void its_file_has_all_of_a_batch(void **state)
{
	struct push_batch b = make(20), c;
	struct outbuf bytes = { 0 };

	assert_int_equal(push_batch_encode(&b, &bytes), 0);
	assert_int_equal(push_batch_decode(bytes.data, bytes.size_bytes, &c), 0);
	assert_string_equal(c.host, "web-1");
	assert_int_equal(c.sender, 7);
	assert_int_equal(c.seq, 9);
	assert_int_equal(c.samples, 5);
	assert_int_equal(c.part_count, 1);
	assert_string_equal(c.parts[0].name, "samples");
	assert_int_equal(c.parts[0].rows, 20);
	assert_int_equal(c.parts[0].cut_count, b.parts[0].cut_count);
	assert_int_equal(c.parts[0].body.size_bytes, 20000);
	assert_memory_equal(c.parts[0].body.data, b.parts[0].body.data, 20000);
	outbuf_done(&bytes);
	push_batch_done(&b);
	push_batch_done(&c);
}

static void a_file_that_is_cut_or_changed_is_none(void **state)
{
	struct push_batch b = make(20), c;
	struct outbuf bytes = { 0 };

	assert_int_equal(push_batch_encode(&b, &bytes), 0);
	for (size_t i = 0; i < bytes.size_bytes; i++)
		assert_int_equal(push_batch_decode(bytes.data, i, &c), -EBADMSG);
	for (size_t i = 0; i < bytes.size_bytes; i += 7) {
		bytes.data[i] ^= 1;
		assert_int_equal(push_batch_decode(bytes.data, bytes.size_bytes, &c), -EBADMSG);
		bytes.data[i] ^= 1;
	}
	outbuf_done(&bytes);
	push_batch_done(&b);
}

static void halves_have_the_rows_of_the_batch_in_order(void **state)
{
	struct push_batch b = make(200);
	uint32_t rows = 0, at = 0;

	push_batch_add(&b, "batches");
	assert_int_equal(push_batch_halve(&b, 0), 0);
	assert_int_equal(push_batch_halve(&b, 1), 0);
	assert_int_equal(b.part_count, 4);
	assert_string_equal(b.parts[3].name, "batches");
	for (size_t i = 0; i < 3; i++) {
		const struct push_part *p = &b.parts[i];

		assert_string_equal(p->name, "samples");
		assert_int_equal(p->body.size_bytes, p->rows * 1000);
		for (uint32_t r = 0; r < p->rows; r++, at++)
			assert_int_equal(p->body.data[r * 1000], (uint8_t)at);
		rows += p->rows;
	}
	assert_int_equal(rows, 200);
	assert_true(b.parts[0].rows > 90 && b.parts[0].rows < 110);
	push_batch_done(&b);
}

static void each_half_has_the_head(void **state)
{
	struct push_batch b = { .host = strdup("web-1") }, c;
	struct push_part *part = push_batch_add(&b, "profiles");
	struct outbuf bytes = { 0 };
	char row[1500];
	uint32_t rows = 0, at = 0;

	outbuf_add(&part->body, "dictionary", 10);
	push_part_end_head(&b, part);
	for (int i = 0; i < 50; i++) {
		memset(row, i, sizeof(row));
		outbuf_add(&part->body, row, sizeof(row));
		push_part_end_row(&b, part);
	}
	assert_int_equal(push_batch_halve(&b, 0), 0);
	assert_int_equal(push_batch_encode(&b, &bytes), 0);
	assert_int_equal(push_batch_decode(bytes.data, bytes.size_bytes, &c), 0);
	assert_int_equal(push_batch_halve(&c, 1), 0);
	assert_int_equal(c.part_count, 3);
	for (size_t i = 0; i < c.part_count; i++) {
		const struct push_part *p = &c.parts[i];

		assert_memory_equal(p->body.data, "dictionary", 10);
		assert_int_equal(p->body.size_bytes, 10 + p->rows * 1500);
		for (uint32_t r = 0; r < p->rows; r++, at++)
			assert_int_equal(p->body.data[10 + r * 1500], at);
		rows += p->rows;
	}
	assert_int_equal(rows, 50);
	outbuf_done(&bytes);
	push_batch_done(&b);
	push_batch_done(&c);
}

static void a_single_row_has_no_halves(void **state)
{
	struct push_batch b = make(1);

	assert_int_equal(push_batch_halve(&b, 0), -ENOENT);
	push_batch_done(&b);
}

/* More could not be read from its file. */
static void a_batch_has_no_more_parts_than_its_file_may(void **state)
{
	struct push_batch b = make(200);

	while (b.part_count < PUSH_PARTS_MAX - 1)
		assert_non_null(push_batch_add(&b, "x"));
	assert_int_equal(push_batch_halve(&b, 0), 0);
	assert_int_equal(push_batch_halve(&b, 0), -ENOENT);
	assert_int_equal(b.part_count, PUSH_PARTS_MAX);
	push_batch_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(its_file_has_all_of_a_batch),
		cmocka_unit_test(a_file_that_is_cut_or_changed_is_none),
		cmocka_unit_test(halves_have_the_rows_of_the_batch_in_order),
		cmocka_unit_test(each_half_has_the_head),
		cmocka_unit_test(a_single_row_has_no_halves),
		cmocka_unit_test(a_batch_has_no_more_parts_than_its_file_may),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
