/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * finished - a finished capture, and where things are in it
 *
 * Needs cmocka's headers before it.
 */
#ifndef EBPREC_TESTS_FINISHED_H
#define EBPREC_TESTS_FINISHED_H

#include "tests/lib/gen/captures.h"

static struct maker maker; /* too large for a stack */

/* A finished capture of flush_count flushes, an object, and 10 samples a flush. */
static inline struct bytes make(unsigned flush_count)
{
	struct bytes b;

	maker_begin(&maker, false);
	assert_int_equal(writer_object(maker.w, EBX_NOTE, 1, "a note", 6), 0);
	for (unsigned i = 0; i < flush_count; i++) {
		maker_comm(&maker, i, "name", 1000 + 100 * i);
		for (unsigned k = 0; k < 10; k++)
			maker_sample(&maker, i, 1000 + 100 * i + k, k % 4);
		assert_int_equal(writer_flush(maker.w, true), 0);
	}
	assert_int_equal(writer_finish(maker.w, NULL, 0), 0);
	b = maker_bytes(&maker);
	maker_end(&maker);
	return b;
}

static inline size_t data_start(const struct bytes *b)
{
	return le64_load(b->data + 40);
}

static inline size_t data_end(const struct bytes *b)
{
	return data_start(b) + le64_load(b->data + 48);
}

static inline struct capture *open_bytes(const struct bytes *b)
{
	struct capture *c = NULL;

	assert_int_equal(capture_from_bytes(b->data, b->size, &c, NULL), 0);
	return c;
}

/* The offset of record number n of a type in the data section. */
static inline size_t find_record(const struct bytes *b, uint32_t type, unsigned n)
{
	for (size_t off = data_start(b); off < data_end(b); off += le16_load(b->data + off + 6))
		if (le32_load(b->data + off) == type && !n--)
			return off;
	fail();
	return 0;
}

#endif
