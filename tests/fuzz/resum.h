/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * resum - makes the checksums of a changed capture right again
 *
 * Checksums would stop nearly every mutation at the door.  These functions put right every sum they
 * find, and open a block, have its records changed, and pack it anew.  The reader knows nothing of
 * this.  All of it takes any bytes.
 */
#ifndef EBPREC_TESTS_RESUM_H
#define EBPREC_TESTS_RESUM_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <zstd.h>

#include "format/base/crc32c.h"
#include "format/base/cursor.h"
#include "format/reader/ebx_records.h"
#include "format/perf/perffile.h"

#define RESUM_BLOCK_OFF 16 /* of our block header in a COMPRESSED record */
#define RESUM_PREFIX    (RESUM_BLOCK_OFF + EBX_BLOCK_BYTES)
#define RESUM_RAW_ROOM  (64 << 10)
#define RESUM_PIPE_HEAD 16

/* Changes size_bytes of records, which may become up to max_bytes; returns how many they are now. */
typedef size_t (*resum_change_fn)(uint8_t *raw, size_t size_bytes, size_t max_bytes);

/* The sum of a feature's section, at its place in the copy of the table; 0: there is none. */
static inline uint32_t resum_section(const uint8_t *data, size_t size_bytes,
				     const struct ebx_super *s, unsigned wanted)
{
	const uint8_t *entry = data + EBX_SUPER_OFF + EBX_SUPER_BYTES;

	for (unsigned bit = 0; bit < wanted; bit++)
		entry += s->feature_bits[bit / 64] >> bit % 64 & 1 ? 16 : 0;
	if (!(s->feature_bits[wanted / 64] >> wanted % 64 & 1) ||
	    (size_t)(entry - data) + 16 > size_bytes || le64_load(entry) > size_bytes ||
	    le64_load(entry + 8) > size_bytes - le64_load(entry))
		return 0;
	return crc32c(0, data + le64_load(entry), le64_load(entry + 8));
}

static inline void resum_super(uint8_t *data, size_t size_bytes)
{
	struct ebx_super s = { .version = EBX_VERSION };
	uint8_t *p = data + EBX_SUPER_OFF;
	size_t table = 0;

	if (size_bytes < EBX_SUPER_OFF + EBX_SUPER_BYTES || memcmp(p, "EBPREC1\n", 8) != 0)
		return;
	memcpy(s.uuid, p + 16, sizeof(s.uuid));
	s.data_off_bytes = le64_load(p + 32);
	s.state = le32_load(p + 40);
	for (unsigned i = 0; i < 4; i++) {
		s.feature_bits[i] = le64_load(p + 48 + 8 * i);
		table += 16 * (size_t)__builtin_popcountll(s.feature_bits[i]);
	}
	s.clock_mono_ns = le64_load(p + 80);
	s.clock_wall_ns = le64_load(p + 88);
	s.dir_off_bytes = le64_load(p + 96);
	s.dir_size_bytes = le64_load(p + 104);
	s.static_off_bytes = le64_load(p + 120);
	s.head_crc32c = le32_load(p + 132);
	s.build_id_crc32c = resum_section(data, size_bytes, &s, PERFFILE_BUILD_ID);
	if (table <= size_bytes - EBX_SUPER_OFF - EBX_SUPER_BYTES)
		s.table_crc32c = crc32c(0, p + EBX_SUPER_BYTES, table);
	if (s.static_off_bytes <= s.data_off_bytes && s.data_off_bytes <= size_bytes)
		s.static_crc32c = crc32c(0, data + s.static_off_bytes,
					 s.data_off_bytes - s.static_off_bytes);
	ebx_super_encode(&s, p);
}

static inline void resum_block(uint8_t *rec, size_t size)
{
	uint32_t skip = le32_load(rec + 12);

	if (size < RESUM_PREFIX || memcmp(rec + RESUM_BLOCK_OFF, "EBF1", 4))
		return;
	if (skip >= EBX_BLOCK_BYTES && skip < size - RESUM_BLOCK_OFF)
		le32_store(rec + RESUM_BLOCK_OFF + 64,
			   crc32c(0, rec + RESUM_BLOCK_OFF + skip, size - RESUM_BLOCK_OFF - skip));
	le32_store(rec + RESUM_BLOCK_OFF + 68, crc32c(0, rec + RESUM_BLOCK_OFF, 68));
}

static inline void resum_private(uint8_t *rec, size_t size)
{
	uint32_t payload;

	if (size < EBX_PRIVATE_HEADER_BYTES || memcmp(rec + 8, "EBX1", 4))
		return;
	payload = le32_load(rec + 40);
	if (payload <= size - EBX_PRIVATE_HEADER_BYTES)
		le32_store(rec + 44,
			   crc32c(crc32c(0, rec + EBX_PRIVATE_HEADER_BYTES, payload), rec, 44));
}

static inline void resum_trailer(uint8_t *data, size_t size_bytes)
{
	uint64_t off = le64_load(data + EBX_SUPER_OFF + 96);
	uint64_t size = le64_load(data + EBX_SUPER_OFF + 104);
	struct ebx_trailer t = { .dir_off_bytes = off, .dir_size_bytes = size };

	if (!off || off > size_bytes || size > size_bytes - off ||
	    size_bytes - off - size < EBX_TRAILER_BYTES)
		return;
	t.crc32c = crc32c(0, data + off, size);
	ebx_trailer_encode(&t, data + off + size);
}

/* Where records begin: a pipe has a short header. */
static inline uint64_t resum_begin(const uint8_t *data)
{
	return le64_load(data + 8) == RESUM_PIPE_HEAD ? RESUM_PIPE_HEAD : le64_load(data + 40);
}

static inline void resum_capture(uint8_t *data, size_t size_bytes)
{
	uint64_t off;

	if (size_bytes < PERFFILE_HEADER_BYTES)
		return;
	for (off = resum_begin(data); off < size_bytes && size_bytes - off >= 8;) {
		uint16_t size = le16_load(data + off + 6);

		if (size < 8 || size > size_bytes - off)
			break;
		if (le32_load(data + off) == PERFFILE_RECORD_COMPRESSED)
			resum_block(data + off, size);
		else if (le32_load(data + off) == PERFFILE_RECORD_PRIVATE)
			resum_private(data + off, size);
		off += size;
	}
	if (resum_begin(data) == RESUM_PIPE_HEAD)
		return;
	resum_super(data, size_bytes);
	if (size_bytes >= EBX_SUPER_OFF + EBX_SUPER_BYTES)
		resum_trailer(data, size_bytes);
}

/* Changes the bytes inside zstd data that has `room` bytes; the new data must fit into it. */
static inline size_t resum_packed(uint8_t *z, size_t room, size_t *raw_bytes,
				  resum_change_fn change)
{
	static uint8_t raw[RESUM_RAW_ROOM], out[RESUM_RAW_ROOM];
	size_t n = ZSTD_decompress(raw, sizeof(raw), z, room);

	if (ZSTD_isError(n))
		return 0;
	*raw_bytes = change(raw, n, sizeof(raw));
	n = ZSTD_compress(out, sizeof(out), raw, *raw_bytes, 1);
	if (ZSTD_isError(n) || n > room)
		return 0;
	memcpy(z, out, n);
	return n;
}

/* Changes the records in a block; what becomes shorter is filled up by a skippable frame. */
static inline bool resum_change_block(uint8_t *rec, size_t size, resum_change_fn change)
{
	uint32_t skip = size >= RESUM_PREFIX ? le32_load(rec + 12) : 0;
	size_t room, raw_bytes, n;
	uint8_t *z;

	if (skip < EBX_BLOCK_BYTES || skip >= size - RESUM_BLOCK_OFF)
		return false;
	room = size - RESUM_BLOCK_OFF - skip;
	z = rec + RESUM_BLOCK_OFF + skip;
	n = resum_packed(z, room, &raw_bytes, change);
	if (!n)
		return false;
	le32_store(rec + RESUM_BLOCK_OFF + 32, (uint32_t)raw_bytes);
	if (room - n >= 8) {
		le32_store(z + n, EBX_SKIPPABLE_MAGIC);
		le32_store(z + n + 4, (uint32_t)(room - n - 8));
	}
	return true;
}

/* Changes one block of the capture, chosen by the bits of seed; false: nothing was changed. */
static inline bool resum_change_inside(uint8_t *data, size_t size_bytes, unsigned seed,
				       resum_change_fn change)
{
	uint64_t off;

	if (size_bytes < PERFFILE_HEADER_BYTES)
		return false;
	for (off = resum_begin(data); off < size_bytes && size_bytes - off >= 8;) {
		uint16_t size = le16_load(data + off + 6);

		if (size < 8 || size > size_bytes - off)
			return false;
		if (le32_load(data + off) == PERFFILE_RECORD_COMPRESSED && (seed = seed / 2) % 2)
			return resum_change_block(data + off, size, change);
		off += size;
	}
	return false;
}

#endif
