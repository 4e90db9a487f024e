/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "format/reader/record_scan.h"

#include <errno.h>
#include <string.h>

#include "format/base/crc32c.h"
#include "format/base/cursor.h"
#include "format/perf/perffile.h"

#define WINDOW_BYTES 4096

void record_scan_init(struct record_scan *ch, const struct source *s)
{
	/* Enough for any file that is damaged by chance; a file that is made to cost more is given
	 * up. */
	ch->crc_budget_bytes = 4 * s->size_bytes + (1 << 20);
	window_init(&ch->window, s, WINDOW_BYTES);
}

void record_scan_done(struct record_scan *ch)
{
	window_done(&ch->window);
}

int block_record_decode(const uint8_t *rec, size_t size_bytes, struct ebx_block *out,
			struct capture_bytes *data, struct parse_err *err)
{
	uint32_t skip;
	int ret;

	if (size_bytes < BLOCK_PREFIX_MIN)
		return parse_fail(err, -EBADMSG, 0, "compressed record without a block header");
	skip = le32_load(rec + BLOCK_SKIP_OFF + 4);
	if (le32_load(rec + BLOCK_SKIP_OFF) != EBX_SKIPPABLE_MAGIC || skip < EBX_BLOCK_BYTES ||
	    skip > EBX_BLOCK_BYTES + 7)
		return parse_fail(err, -EBADMSG, BLOCK_SKIP_OFF,
				  "compressed record without a block header");
	ret = ebx_block_decode(rec + BLOCK_HEADER_OFF, EBX_BLOCK_BYTES, out, err);
	if (ret || !data)
		return ret;
	if (skip >= size_bytes - BLOCK_HEADER_OFF)
		return parse_fail(err, -EBADMSG, BLOCK_SKIP_OFF, "block without data");
	data->data = rec + BLOCK_HEADER_OFF + skip;
	data->size_bytes = size_bytes - BLOCK_HEADER_OFF - skip;
	return 0;
}

enum record_scan_found record_scan_look(struct record_scan *ch, uint64_t off_bytes,
					uint64_t end_bytes, struct directory_item *item,
					struct parse_err *err)
{
	const uint8_t *p = end_bytes - off_bytes >= 8 ? window_at(&ch->window, off_bytes, 8) : NULL;
	uint32_t type = p ? le32_load(p) : 0;
	uint16_t size = p ? le16_load(p + 6) : 0;

	*err = (struct parse_err){ .what = "broken record header" };
	if (size < 8 || size % 8 || size > end_bytes - off_bytes || !type)
		return RECORD_SCAN_NOTHING;
	*item = (struct directory_item){ .off_bytes = off_bytes, .file_bytes = size };
	if (type == PERFFILE_RECORD_COMPRESSED) {
		p = window_at(&ch->window, off_bytes,
			      size < BLOCK_PREFIX_MIN ? size : BLOCK_PREFIX_MIN);
		item->type = DIRECTORY_BLOCK;
		if (!p || block_record_decode(p, size, &item->block, NULL, err))
			return RECORD_SCAN_NOTHING;
		item->block.prev_off_bytes = 0;
		return RECORD_SCAN_ITEM;
	}
	if (type == PERFFILE_RECORD_PRIVATE) {
		p = window_at(&ch->window, off_bytes, size);
		item->type = DIRECTORY_PRIVATE;
		if (!p || size < EBX_PRIVATE_HEADER_BYTES || memcmp(p + 8, "EBX1", 4))
			return p ? RECORD_SCAN_OTHER : RECORD_SCAN_NOTHING;
		return ebx_private_decode(p, size, &item->part, err) ? RECORD_SCAN_NOTHING
								     : RECORD_SCAN_ITEM;
	}
	item->type = DIRECTORY_PLAIN;
	item->plain.type = type;
	if (type < PERFFILE_RECORD_HEADER_ATTR)
		return RECORD_SCAN_ITEM;
	if (type == PERFFILE_RECORD_FINISHED_ROUND || type == PERFFILE_RECORD_FINISHED_INIT)
		return size == 8 ? RECORD_SCAN_OTHER : RECORD_SCAN_NOTHING;
	return RECORD_SCAN_UNKNOWN;
}

bool record_scan_proves(struct record_scan *ch, const struct directory_item *item)
{
	struct capture_bytes data;
	struct ebx_block block;
	const uint8_t *p;

	if (item->type != DIRECTORY_BLOCK)
		return item->type == DIRECTORY_PRIVATE;
	p = window_at(&ch->window, item->off_bytes, item->file_bytes);
	return p && !block_record_decode(p, item->file_bytes, &block, &data, NULL) &&
	       crc32c(0, data.data, data.size_bytes) == block.crc32c;
}

/* Is there a record at off that can only be ours, or does the section end there? */
static bool anchored(struct record_scan *ch, uint64_t off, uint64_t end)
{
	struct parse_err err;
	struct directory_item item;

	if (off == end)
		return true;
	switch (record_scan_look(ch, off, end, &item, &err)) {
	case RECORD_SCAN_ITEM:
		return item.type != DIRECTORY_PLAIN;
	case RECORD_SCAN_OTHER:
		return true;
	default:
		return false;
	}
}

/* Could a block or a private record start here?  Cheap; p has 24 bytes. */
static bool smells_ours(const uint8_t *p)
{
	uint32_t type = le32_load(p);

	return (type == PERFFILE_RECORD_COMPRESSED && !memcmp(p + BLOCK_HEADER_OFF, "EBF1", 4)) ||
	       (type == PERFFILE_RECORD_PRIVATE && !memcmp(p + 8, "EBX1", 4));
}

/* The next place behind off where the chain of records can go on; else the end. */
static uint64_t resync(struct record_scan *ch, uint64_t off, uint64_t end)
{
	for (off += 8; off < end && end - off >= BLOCK_PREFIX_MIN - 8; off += 8) {
		const uint8_t *p = window_at(&ch->window, off, 24);
		struct parse_err err;
		struct directory_item item;

		if (!p)
			return end;
		if (!smells_ours(p))
			continue;
		if (ch->crc_budget_bytes < le16_load(p + 6))
			return end;
		ch->crc_budget_bytes -= le16_load(p + 6);
		if (record_scan_look(ch, off, end, &item, &err) == RECORD_SCAN_ITEM)
			return off;
	}
	return end;
}

uint64_t record_scan_step_over(struct record_scan *ch, uint64_t off_bytes, uint64_t end_bytes)
{
	const uint8_t *p = window_at(&ch->window, off_bytes, 8);
	uint16_t size = p ? le16_load(p + 6) : 0;

	if (size >= 8 && size % 8 == 0 && size <= end_bytes - off_bytes &&
	    anchored(ch, off_bytes + size, end_bytes))
		return off_bytes + size;
	return resync(ch, off_bytes, end_bytes);
}
