/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "format/reader/pipe_spool.h"

#include <errno.h>
#include <unistd.h>

#include "format/base/full_io.h"
#include "format/base/crc32c.h"
#include "format/base/cursor.h"
#include "format/reader/ebx_records.h"
#include "format/perf/perffile.h"

#define PATCH_MAGIC       "EBS1"
#define PATCH_HEAD_BYTES  32
#define PATCH_MAX_BYTES   (PERFFILE_RECORD_MAX - PATCH_HEAD_BYTES)
#define PATCH_MIN_BYTES   (EBX_PRIVATE_MIN_BYTES - PATCH_HEAD_BYTES) /* rule 5 of FORMAT.md 9 */
#define TABLE_ENTRY_BYTES 16
#define ATTRS_OFF         24 /* in the file header: attrs, data, feature bits */
#define DATA_OFF          40
#define FEATURES_OFF      72
#define AHEAD_BYTES       (256 << 10)

/* ---- writing ---- */

static int add_head(struct buf *out, uint32_t type, size_t size_bytes)
{
	uint8_t h[8] = { 0 };

	le32_store(h, type);
	le16_store(h + 6, (uint16_t)size_bytes);
	return buf_add(out, h, sizeof(h));
}

static int add_patch(struct buf *out, const uint8_t *data, size_t size_bytes, uint64_t off_bytes)
{
	size_t room = size_bytes < PATCH_MIN_BYTES ? PATCH_MIN_BYTES
						   : (size_bytes + 7) & ~(size_t)7;
	uint8_t h[PATCH_HEAD_BYTES - 8] = { 0 };
	int err = buf_reserve(out, PATCH_HEAD_BYTES + room);

	memcpy(h, PATCH_MAGIC, 4);
	le32_store(h + 4, (uint32_t)size_bytes);
	le64_store(h + 8, off_bytes);
	le32_store(h + 16, crc32c(crc32c(0, h, 16), data, size_bytes));
	if (!err)
		err = add_head(out, PERFFILE_RECORD_PRIVATE, PATCH_HEAD_BYTES + room);
	if (!err)
		err = buf_add(out, h, sizeof(h));
	if (!err)
		err = buf_add(out, data, size_bytes);
	return err ? err : buf_add(out, NULL, room - size_bytes);
}

int pipe_spool_patch(struct buf *out, const uint8_t *data, size_t size_bytes, uint64_t off_bytes)
{
	int err = 0;

	while (!err && size_bytes) {
		size_t part = size_bytes < PATCH_MAX_BYTES ? size_bytes : PATCH_MAX_BYTES;

		err = add_patch(out, data, part, off_bytes);
		data += part;
		off_bytes += part;
		size_bytes -= part;
	}
	return err;
}

/* An attr and its ids, from their place in the head. */
static int add_attr(struct buf *out, const uint8_t *head, const uint8_t *entry, size_t attr_bytes)
{
	uint64_t ids_off = le64_load(entry + attr_bytes),
		 ids_bytes = le64_load(entry + attr_bytes + 8);
	size_t size = 8 + attr_bytes + (size_t)ids_bytes;
	int err;

	if (size > PERFFILE_RECORD_MAX)
		return -EOVERFLOW;
	err = add_head(out, PERFFILE_RECORD_HEADER_ATTR, size);
	if (!err)
		err = buf_add(out, entry, attr_bytes);
	return err ? err : buf_add(out, head + ids_off, ids_bytes);
}

/* The section's bytes follow the record, and are not part of it. */
static int add_tracing(struct buf *out, const uint8_t *data, size_t size_bytes)
{
	uint8_t padded_bytes[8] = { 0 };
	int err = add_head(out, PERFFILE_RECORD_TRACING_DATA, 16);

	le32_store(padded_bytes, (uint32_t)((size_bytes + 7) & ~(size_t)7));
	if (!err)
		err = buf_add(out, padded_bytes, sizeof(padded_bytes));
	if (!err)
		err = buf_add(out, data, size_bytes);
	return err ? err : buf_pad(out, 8);
}

static int add_feature(struct buf *out, unsigned bit, const uint8_t *data, size_t size_bytes)
{
	uint8_t number[8];
	int err;

	if (bit == PERFFILE_TRACING_DATA)
		return add_tracing(out, data, size_bytes);
	/*
	 * The file gets the final contents of the first two; perf reads the zeroes that pad the
	 * topology to a multiple of 8 as a list of dies.
	 */
	if (bit == PERFFILE_BUILD_ID || bit == PERFFILE_SAMPLE_TIME ||
	    bit == PERFFILE_CPU_TOPOLOGY || size_bytes > PERFFILE_RECORD_MAX - 24)
		return 0;
	err = add_head(out, PERFFILE_RECORD_HEADER_FEATURE, 16 + ((size_bytes + 7) & ~(size_t)7));
	le64_store(number, bit);
	if (!err)
		err = buf_add(out, number, sizeof(number));
	if (!err)
		err = buf_add(out, data, size_bytes);
	return err ? err : buf_pad(out, 8);
}

int pipe_spool_begin(struct buf *out, const uint8_t *head, size_t head_bytes)
{
	size_t attr_bytes = (size_t)le64_load(head + 16) - TABLE_ENTRY_BYTES;
	const uint8_t *attr = head + le64_load(head + ATTRS_OFF);
	const uint8_t *attrs_end = attr + le64_load(head + ATTRS_OFF + 8);
	const uint8_t *entry = head + le64_load(head + DATA_OFF); /* the table, behind no data */
	uint8_t begin[PERFFILE_PIPE_HEADER_BYTES];
	int err;

	le64_store(begin, PERFFILE_MAGIC);
	le64_store(begin + 8, PERFFILE_PIPE_HEADER_BYTES);
	err = buf_add(out, begin, sizeof(begin));
	if (!err)
		err = pipe_spool_patch(out, head, head_bytes, 0);
	for (; !err && attr < attrs_end; attr += attr_bytes + TABLE_ENTRY_BYTES)
		err = add_attr(out, head, attr, attr_bytes);
	for (unsigned bit = 0; !err && bit < PERFFILE_FEATURE_BITS; bit++) {
		if (!(le64_load(head + FEATURES_OFF + (size_t)bit / 64 * 8) >> (bit % 64) & 1))
			continue;
		err = add_feature(out, bit, head + le64_load(entry), le64_load(entry + 8));
		entry += TABLE_ENTRY_BYTES;
	}
	return err;
}

/* ---- reading ---- */

struct rebuild {
	struct window in;
	uint64_t at_bytes;
	int fd;
	uint64_t end_bytes;      /* of the file */
	uint64_t data_end_bytes; /* where the next record goes */
};

static int put_at(struct rebuild *b, const uint8_t *data, size_t size_bytes, uint64_t off_bytes)
{
	int err = full_write_at(b->fd, data, size_bytes, off_bytes);

	if (!err && off_bytes + size_bytes > b->end_bytes)
		b->end_bytes = off_bytes + size_bytes;
	return err;
}

static bool is_patch(const uint8_t *rec, size_t size_bytes)
{
	return le32_load(rec) == PERFFILE_RECORD_PRIVATE && size_bytes >= PATCH_HEAD_BYTES &&
	       !memcmp(rec + 8, PATCH_MAGIC, 4);
}

/* A file has no holes: a patch begins within the file, or at its end.  -EBADMSG. */
static int apply_patch(struct rebuild *b, const uint8_t *rec, size_t size_bytes)
{
	size_t bytes = le32_load(rec + 12);
	uint64_t off = le64_load(rec + 16);
	const uint8_t *data = rec + PATCH_HEAD_BYTES;

	if (bytes > size_bytes - PATCH_HEAD_BYTES || off > b->end_bytes ||
	    crc32c(crc32c(0, rec + 8, 16), data, bytes) != le32_load(rec + 24))
		return -EBADMSG;
	if (!b->end_bytes) {
		if (bytes < PERFFILE_HEADER_BYTES)
			return -EBADMSG;
		b->data_end_bytes = le64_load(data + DATA_OFF);
	}
	return put_at(b, data, bytes, off);
}

/* Handles one record; *taken_bytes includes the bytes that follow it. -EBADMSG: no record, or not
 * complete. */
static int take_record(struct rebuild *b, uint64_t *taken_bytes)
{
	const uint8_t *rec = window_at(&b->in, b->at_bytes, 8);
	size_t size = rec ? le16_load(rec + 6) : 0;
	int err;

	if (size < 8 || size % 8)
		return -EBADMSG;
	rec = window_at(&b->in, b->at_bytes, size);
	if (!rec)
		return -EBADMSG;
	*taken_bytes = size;
	if (is_patch(rec, size))
		return apply_patch(b, rec, size);
	switch (le32_load(rec)) {
	case PERFFILE_RECORD_HEADER_ATTR: /* these are for perf alone */
	case PERFFILE_RECORD_HEADER_FEATURE:
		return 0;
	case PERFFILE_RECORD_TRACING_DATA:
		*taken_bytes += size < 12 ? 0 : ((uint64_t)le32_load(rec + 8) + 7) & ~7ULL;
		return 0;
	default:
		if (!b->end_bytes || b->data_end_bytes > b->end_bytes)
			return -EBADMSG;
		err = put_at(b, rec, size, b->data_end_bytes);
		b->data_end_bytes += size;
		return err;
	}
}

bool pipe_spool_is(const struct source *s)
{
	uint8_t begin[PERFFILE_PIPE_HEADER_BYTES + PATCH_HEAD_BYTES];

	return source_read(s, 0, begin, sizeof(begin)) == sizeof(begin) &&
	       le64_load(begin) == PERFFILE_MAGIC &&
	       le64_load(begin + 8) == PERFFILE_PIPE_HEADER_BYTES &&
	       is_patch(begin + PERFFILE_PIPE_HEADER_BYTES, PATCH_HEAD_BYTES);
}

int pipe_spool_rebuild(const struct source *s, int fd, uint64_t *size_bytes)
{
	struct rebuild b = { .at_bytes = PERFFILE_PIPE_HEADER_BYTES, .fd = fd };
	uint64_t taken;
	int err = 0;

	window_init(&b.in, s, AHEAD_BYTES);
	while (!err && b.at_bytes < s->size_bytes) {
		taken = 0;
		err = take_record(&b, &taken);
		b.at_bytes += taken;
	}
	if (b.in.no_memory)
		err = -ENOMEM;
	window_done(&b.in);
	if (err && err != -EBADMSG)
		return err;
	*size_bytes = b.end_bytes;
	return 0;
}
