/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * fuzz_capture - any bytes as a capture: opened, and everything read that a reader can ask for
 *
 * Checksums would stop nearly every mutation at the door, so the mutator makes them right again
 * after each one, and half of the time it mutates the records inside a frame and packs them anew.
 * The reader itself knows nothing of this.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "format/capture.h"
#include "format/crc32c.h"
#include "format/cursor.h"

#define FRAME_OFF   16 /* of our frame header in a COMPRESSED record */
#define PREFIX      (FRAME_OFF + EBX_FRAME_BYTES)
#define RAW_ROOM    (64 << 10)
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
	size_t frames, count = 0;

	(void)capture_frames(c, &frames);
	if (record_iter_new(c, mask, 0, SIZE_MAX, &it))
		abort();
	while (count++ < RECORDS_MAX && record_iter_next(it, &rec) > 0) {
		if (rec.frame >= frames || rec.header->size < 8 || (uintptr_t)rec.header % 8)
			abort();
		touch(rec.header, rec.header->size);
	}
	record_iter_free(it);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct capture *c = NULL;
	struct parse_err err;
	size_t frames;

	if (capture_from_bytes(data, size_bytes, &c, &err)) {
		if (c)
			abort();
		return 0;
	}
	ask_everything(c);
	read_objects(c);
	walk(c, UINT32_MAX);
	(void)capture_frames(c, &frames);
	if (frames)
		(void)capture_check_frame(c, frames - 1);
	capture_close(c);
	return 0;
}

/* ---- the mutator ---- */

static void repair_super(uint8_t *data, size_t size_bytes)
{
	struct ebx_super s = { .version = EBX_VERSION };
	uint8_t *p = data + EBX_SUPER_OFF;
	size_t table = 0;

	if (size_bytes < EBX_SUPER_OFF + EBX_SUPER_BYTES)
		return;
	memcpy(s.uuid, p + 16, sizeof(s.uuid));
	s.data_off_bytes = le64_load(p + 32);
	s.state = le32_load(p + 40);
	for (unsigned i = 0; i < 4; i++) {
		s.feature_bits[i] = le64_load(p + 48 + 8 * i);
		table += 16 * (size_t)__builtin_popcountll(s.feature_bits[i]);
	}
	s.dir_off_bytes = le64_load(p + 96);
	s.dir_size_bytes = le64_load(p + 104);
	if (table <= size_bytes - EBX_SUPER_OFF - EBX_SUPER_BYTES)
		s.table_crc32c = crc32c(0, p + EBX_SUPER_BYTES, table);
	ebx_super_encode(&s, p);
}

static void repair_frame(uint8_t *rec, size_t size)
{
	uint32_t skip = le32_load(rec + 12);

	if (size < PREFIX || memcmp(rec + FRAME_OFF, "EBF1", 4))
		return;
	if (skip >= EBX_FRAME_BYTES && skip < size - FRAME_OFF)
		le32_store(rec + FRAME_OFF + 64,
			   crc32c(0, rec + FRAME_OFF + skip, size - FRAME_OFF - skip));
	le32_store(rec + FRAME_OFF + 68, crc32c(0, rec + FRAME_OFF, 68));
}

static void repair_private(uint8_t *rec, size_t size)
{
	uint32_t payload;

	if (size < EBX_PRIVATE_HEADER_BYTES || memcmp(rec + 8, "EBX1", 4))
		return;
	payload = le32_load(rec + 40);
	if (payload <= size - EBX_PRIVATE_HEADER_BYTES)
		le32_store(rec + 44,
			   crc32c(crc32c(0, rec + EBX_PRIVATE_HEADER_BYTES, payload), rec, 44));
}

static void repair_trailer(uint8_t *data, size_t size_bytes)
{
	uint64_t off = le64_load(data + EBX_SUPER_OFF + 96);
	uint64_t size = le64_load(data + EBX_SUPER_OFF + 104);
	struct ebx_trailer t = { .dir_off_bytes = off, .dir_size_bytes = size };

	if (off > size_bytes || size > size_bytes - off ||
	    size_bytes - off - size < EBX_TRAILER_BYTES)
		return;
	t.crc32c = crc32c(0, data + off, size);
	ebx_trailer_encode(&t, data + off + size);
}

static void repair(uint8_t *data, size_t size_bytes)
{
	uint64_t off;

	if (size_bytes < PERFFILE_HEADER_BYTES)
		return;
	for (off = le64_load(data + 40); off < size_bytes && size_bytes - off >= 8;) {
		uint16_t size = le16_load(data + off + 6);

		if (size < 8 || size > size_bytes - off)
			break;
		if (le32_load(data + off) == PERFFILE_RECORD_COMPRESSED)
			repair_frame(data + off, size);
		else if (le32_load(data + off) == PERFFILE_RECORD_PRIVATE)
			repair_private(data + off, size);
		off += size;
	}
	repair_super(data, size_bytes);
	if (size_bytes >= EBX_SUPER_OFF + EBX_SUPER_BYTES)
		repair_trailer(data, size_bytes);
}

/* Mutates the bytes inside zstd data that has `room` bytes; the new data must fit into it. */
static size_t mutate_packed(uint8_t *z, size_t room, size_t *raw_bytes)
{
	static uint8_t raw[RAW_ROOM], out[RAW_ROOM];
	size_t n = ZSTD_decompress(raw, sizeof(raw), z, room);

	if (ZSTD_isError(n))
		return 0;
	*raw_bytes = LLVMFuzzerMutate(raw, n, sizeof(raw));
	n = ZSTD_compress(out, sizeof(out), raw, *raw_bytes, 1);
	if (ZSTD_isError(n) || n > room)
		return 0;
	memcpy(z, out, n);
	return n;
}

/* Mutates the records in a frame; what becomes shorter is filled up by a skippable frame. */
static bool mutate_frame(uint8_t *rec, size_t size)
{
	uint32_t skip = size >= PREFIX ? le32_load(rec + 12) : 0;
	size_t room, raw_bytes, n;
	uint8_t *z;

	if (skip < EBX_FRAME_BYTES || skip >= size - FRAME_OFF)
		return false;
	room = size - FRAME_OFF - skip;
	z = rec + FRAME_OFF + skip;
	n = mutate_packed(z, room, &raw_bytes);
	if (!n)
		return false;
	le32_store(rec + FRAME_OFF + 32, (uint32_t)raw_bytes);
	if (room - n >= 8) {
		le32_store(z + n, EBX_SKIPPABLE_MAGIC);
		le32_store(z + n + 4, (uint32_t)(room - n - 8));
	}
	return true;
}

static bool mutate_inside(uint8_t *data, size_t size_bytes, unsigned seed)
{
	uint64_t off;

	if (size_bytes < PERFFILE_HEADER_BYTES)
		return false;
	for (off = le64_load(data + 40); off < size_bytes && size_bytes - off >= 8;) {
		uint16_t size = le16_load(data + off + 6);

		if (size < 8 || size > size_bytes - off)
			return false;
		if (le32_load(data + off) == PERFFILE_RECORD_COMPRESSED && (seed = seed / 2) % 2)
			return mutate_frame(data + off, size);
		off += size;
	}
	return false;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size_bytes, size_t max_bytes, unsigned seed)
{
	if (seed % 2 || !mutate_inside(data, size_bytes, seed))
		size_bytes = LLVMFuzzerMutate(data, size_bytes, max_bytes);
	if (seed % 16 != 3) /* wrong checksums are inputs too */
		repair(data, size_bytes);
	return size_bytes;
}
