/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * Walks records, block by block, with two buffers: the block as stored, and what came out of zstd.
 *
 * Blocks of ours are decompressed completely.  Those of perf -z are pieces of one stream whose
 * records may begin in one piece and end in the next; so the decompressor keeps its state from
 * block to block, works in steps of at most 256 KiB, and the rest of a record stays in front of the
 * buffer until the next step.  A hostile block can therefore cost time, but no memory.
 */
#include "format/reader/capture_priv.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <zstd.h>

#include "format/base/crc32c.h"
#include "format/base/cursor.h"

#define RECORD_ROOM (64 << 10)
#define STORED_ROOM (EBX_RAW_MAX + RECORD_ROOM) /* the longest run of plain records */
#define RAW_ROOM    (EBX_RAW_MAX + RECORD_ROOM)
#define FOREIGN_MAX (64ULL << 20) /* most that one COMPRESSED record may decompress to */

struct record_iter {
	const struct capture *c; /* borrowed */
	uint32_t stream_mask;
	size_t next_block, end_block;
	size_t block; /* the block that the records come from */

	uint8_t *stored, *raw, *aligned; /* owned */
	const uint8_t *data;             /* the records of this step: in stored or raw */
	size_t data_bytes, off_bytes;

	/* A foreign stream. */
	ZSTD_DCtx *zstd;
	ZSTD_inBuffer in;    /* what is left of the block */
	size_t carry_bytes;  /* in front of raw: the beginning of a record */
	uint64_t made_bytes; /* by this block */
	bool streaming;      /* `in` is not used up */
	bool broken;         /* the stream ended inside of this step */
	bool ended;
	bool in_place; /* the record given last is in data, not in aligned */

	uint32_t damage_count;
};

static void set_range(struct record_iter *it, size_t first, size_t count)
{
	size_t all = it->c->block_count;

	if (first > all)
		first = all;
	it->next_block = first;
	it->end_block = count < all - first ? first + count : all;
}

void record_iter_seek(struct record_iter *it, size_t first, size_t count)
{
	assert(it->c->divisible);
	set_range(it, first, count);
	it->data_bytes = it->off_bytes = it->carry_bytes = 0;
	it->streaming = it->broken = it->ended = false;
}

int record_iter_new(const struct capture *c, uint32_t stream_mask, size_t first, size_t count,
		    struct record_iter **out)
{
	struct record_iter *it;

	if (!c->divisible && (first || count < c->block_count))
		return -EINVAL;
	it = calloc(1, sizeof(*it));
	if (!it)
		return -ENOMEM;
	it->c = c;
	it->stream_mask = stream_mask;
	set_range(it, first, count);
	it->stored = malloc(STORED_ROOM);
	it->raw = malloc(RAW_ROOM);
	it->aligned = malloc(RECORD_ROOM);
	it->zstd = ZSTD_createDCtx();
	if (!it->stored || !it->raw || !it->aligned || !it->zstd) {
		record_iter_free(it);
		return -ENOMEM;
	}
	it->data = it->raw;
	*out = it;
	return 0;
}

void record_iter_free(struct record_iter *it)
{
	if (!it)
		return;
	ZSTD_freeDCtx(it->zstd);
	free(it->stored);
	free(it->raw);
	free(it->aligned);
	free(it);
}

uint32_t record_iter_damage(const struct record_iter *it)
{
	return it->damage_count;
}

static bool wanted(const struct record_iter *it, const struct capture_block *f)
{
	if (f->stream == CAPTURE_STREAM_MIXED)
		return true;
	return f->stream < 32 && it->stream_mask >> f->stream & 1;
}

/* Reads the block's bytes into stored. */
static int load_stored(struct record_iter *it, const struct capture_block *f)
{
	__atomic_fetch_add(it->c->blocks_read, 1, __ATOMIC_RELAXED);
	if (f->file_bytes > STORED_ROOM ||
	    source_read(&it->c->source, f->off_bytes, it->stored, f->file_bytes) != f->file_bytes)
		return -ENODATA;
	return 0;
}

/* Decompresses a block of ours: all its records are in raw. */
static int load_ours(struct record_iter *it, const struct capture_block *f)
{
	const uint8_t *rec = it->stored;
	struct capture_bytes data;
	struct ebx_block head;
	size_t n;

	if (f->file_bytes < 8 || le32_load(rec) != PERFFILE_RECORD_COMPRESSED ||
	    le16_load(rec + 6) != f->file_bytes ||
	    block_record_decode(rec, f->file_bytes, &head, &data, NULL))
		return -EBADMSG;
	if (crc32c(0, data.data, data.size_bytes) != head.crc32c)
		return -EBADMSG;
	n = ZSTD_decompressDCtx(it->zstd, it->raw, RAW_ROOM, data.data, data.size_bytes);
	if (ZSTD_isError(n) || n != head.raw_bytes)
		return -EBADMSG;
	it->data = it->raw;
	it->data_bytes = n;
	return 0;
}

/* Points the stream at the compressed bytes of a COMPRESSED or COMPRESSED2 record. */
static int begin_foreign(struct record_iter *it, const struct capture_block *f)
{
	const uint8_t *rec = it->stored;
	size_t from = 8, size;
	uint64_t data_bytes;

	if (f->file_bytes < 8)
		return -EBADMSG;
	size = f->file_bytes - 8;
	if (le32_load(rec) == PERFFILE_RECORD_COMPRESSED2) {
		if (size < 8)
			return -EBADMSG;
		from = 16;
		size -= 8;
		data_bytes = le64_load(rec + 8);
		if (data_bytes > size)
			return -EBADMSG;
		size = (size_t)data_bytes;
	}
	it->in = (ZSTD_inBuffer){ .src = rec + from, .size = size };
	it->made_bytes = 0;
	it->streaming = true;
	return 0;
}

/* Gives up the foreign stream: it can go on only where a new zstd frame begins. */
static void drop_stream(struct record_iter *it)
{
	ZSTD_DCtx_reset(it->zstd, ZSTD_reset_session_only);
	it->streaming = false;
	it->broken = true;
	it->carry_bytes = 0;
	it->damage_count++;
}

/* One step of the foreign stream: raw is filled as far as it goes. */
static void step_foreign(struct record_iter *it)
{
	ZSTD_outBuffer out = { .dst = it->raw, .size = RAW_ROOM, .pos = it->carry_bytes };
	size_t before = it->carry_bytes;

	it->broken = false;
	while (out.pos < out.size) {
		size_t in_before = it->in.pos, out_before = out.pos;
		size_t n = ZSTD_decompressStream(it->zstd, &out, &it->in);

		if (ZSTD_isError(n)) {
			drop_stream(it);
			break;
		}
		if (it->in.pos == in_before && out.pos == out_before)
			break;
	}
	it->made_bytes += out.pos - before;
	if (it->streaming && it->made_bytes > FOREIGN_MAX)
		drop_stream(it);
	if (it->streaming && out.pos < out.size)
		it->streaming = false; /* the output did not fill up: all input is used */
	it->data = it->raw;
	it->data_bytes = out.pos;
	it->off_bytes = 0;
	it->carry_bytes = 0;
}

/* Makes the next run of records available.  False: there is none. */
static bool next_step(struct record_iter *it)
{
	const struct capture *c = it->c;

	it->off_bytes = it->data_bytes = 0;
	if (it->streaming) {
		step_foreign(it);
		return true;
	}
	while (it->next_block < it->end_block) {
		const struct capture_block *f = &c->blocks[it->next_block];
		int err;

		it->block = it->next_block++;
		if (!wanted(it, f))
			continue;
		err = load_stored(it, f);
		if (!err && !f->compressed) {
			it->data = it->stored;
			it->data_bytes = f->file_bytes;
			return true;
		}
		if (!err && c->kind == CAPTURE_EBX)
			err = load_ours(it, f);
		else if (!err)
			err = begin_foreign(it, f);
		if (err) {
			it->damage_count++;
			continue;
		}
		if (it->streaming)
			step_foreign(it);
		return true;
	}
	/* A record whose end never came. */
	if (!it->ended && it->carry_bytes)
		it->damage_count++;
	it->ended = true;
	return false;
}

/* The rest of the step is no complete record: it is saved for the next step, or given up. */
static void end_step(struct record_iter *it)
{
	size_t left = it->data_bytes - it->off_bytes;
	const uint8_t *p = it->data + it->off_bytes;

	it->data_bytes = it->off_bytes = 0;
	if (!left)
		return;
	if (!it->c->blocks[it->block].compressed || it->c->kind == CAPTURE_EBX) {
		it->damage_count++;
	} else if (left < 8 || le16_load(p + 6) >= 8) {
		/* The end of a broken stream has been counted, and nothing will follow. */
		if (it->broken)
			return;
		memmove(it->raw, p, left);
		it->carry_bytes = left;
	} else if (!it->broken) {
		drop_stream(it);
	}
}

/* Not handed out: COMPRESSED and private records, and those that only perf's header reader uses. */
static bool is_container(uint32_t type)
{
	return type == PERFFILE_RECORD_PRIVATE || type == PERFFILE_RECORD_COMPRESSED ||
	       type == PERFFILE_RECORD_COMPRESSED2;
}

int record_iter_next(struct record_iter *it, struct record *out)
{
	for (;;) {
		size_t left = it->data_bytes - it->off_bytes;
		const uint8_t *p = it->data + it->off_bytes;
		uint16_t size = left >= 8 ? le16_load(p + 6) : 0;

		if (size < 8 || size > left) {
			if (it->data_bytes)
				end_step(it);
			if (!next_step(it))
				return 0;
			continue;
		}
		it->off_bytes += size;
		if (is_container(le32_load(p)))
			continue;
		it->in_place = (uintptr_t)p % 8 == 0;
		if (!it->in_place) {
			memcpy(it->aligned, p, size);
			p = it->aligned;
		}
		out->header = (const struct perf_event_header *)p;
		out->file_off_bytes = it->c->blocks[it->block].off_bytes;
		out->block = (uint32_t)it->block;
		return 1;
	}
}

bool record_iter_keeps(const struct record_iter *it)
{
	size_t left = it->data_bytes - it->off_bytes;
	const uint8_t *p = it->data + it->off_bytes;

	return it->in_place && left >= 8 && le16_load(p + 6) >= 8 && le16_load(p + 6) <= left &&
	       !is_container(le32_load(p));
}
