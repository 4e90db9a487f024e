/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * fuzz_capture - any bytes as a capture: opened, and everything read that a reader can ask for
 *
 * The mutator makes the checksums right again after each mutation, and half of the time it mutates
 * the records inside a block: see resum.h.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "format/reader/capture.h"
#include "tests/fuzz/resum.h"

#define RECORDS_MAX 200000 /* an input is small; time is bounded elsewhere, this keeps runs short */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size_bytes, size_t max_bytes, unsigned seed);
/* libFuzzer's; not there when a corpus is replayed. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size_bytes, size_t max_bytes) __attribute__((weak));

static volatile uint8_t sink;

static void touch(const void *data, size_t size_bytes)
{
	const uint8_t *p = data;

	for (size_t i = 0; p && i < size_bytes; i++)
		sink ^= p[i];
}

/* ---- the target ---- */

static void ask_everything(const struct capture *c)
{
	const struct capture_attr *attrs;
	uint64_t a = 0, b = 0;
	size_t count;

	attrs = capture_attrs(c, &count);
	for (size_t i = 0; i < count; i++) {
		touch(attrs[i].ids, 8 * attrs[i].id_count);
		touch(attrs[i].name, strlen(attrs[i].name));
		if (attrs[i].id_count && !capture_attr_by_id(c, attrs[i].ids[0]))
			abort();
	}
	for (unsigned bit = 0; bit <= PERFFILE_FEATURE_BITS; bit++) {
		struct capture_bytes f = capture_feature(c, bit);
		const char *s = capture_feature_string(c, bit);

		touch(f.data, f.size_bytes);
		touch(s, s ? strlen(s) : 0);
	}
	(void)capture_attr_by_id(c, 0);
	(void)capture_clock(c, &a, &b);
	capture_data_range(c, &a, &b);
	if (capture_get_kind(c) == CAPTURE_EBX && b > capture_file_bytes(c) && b > a)
		abort();
}

static void read_objects(const struct capture *c)
{
	const struct capture_object *o;
	size_t count;

	o = capture_objects(c, &count);
	for (size_t i = 0; i < count; i++) {
		uint8_t *data = NULL;
		size_t size = 0;

		if (!capture_object_read(c, &o[i], &data, &size))
			touch(data, size);
		else if (data)
			abort();
		free(data);
	}
}

static void walk(const struct capture *c, uint32_t mask)
{
	struct record_iter *it = NULL;
	struct record rec;
	size_t blocks, count = 0;

	(void)capture_blocks(c, &blocks);
	if (record_iter_new(c, mask, 0, SIZE_MAX, &it))
		abort();
	while (count++ < RECORDS_MAX && record_iter_next(it, &rec) > 0) {
		if (rec.block >= blocks || rec.header->size < 8 || (uintptr_t)rec.header % 8)
			abort();
		touch(rec.header, rec.header->size);
	}
	record_iter_free(it);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct capture *c = NULL;
	struct parse_err err;

	if (capture_from_bytes(data, size_bytes, &c, &err)) {
		if (c)
			abort();
		return 0;
	}
	ask_everything(c);
	read_objects(c);
	walk(c, UINT32_MAX);
	capture_close(c);
	return 0;
}

/* ---- the mutator ---- */

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size_bytes, size_t max_bytes, unsigned seed)
{
	if (seed % 2 || !resum_change_inside(data, size_bytes, seed, LLVMFuzzerMutate))
		size_bytes = LLVMFuzzerMutate(data, size_bytes, max_bytes);
	if (seed % 16 != 3) /* wrong checksums are inputs too */
		resum_capture(data, size_bytes);
	return size_bytes;
}
