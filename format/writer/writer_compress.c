/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * From records to blocks, and from objects to parts (FORMAT.md 4 and 5).
 *
 * A block must fit into one record of 65528 bytes.  256 KiB of ordinary records compress to 20-40
 * KiB; where they do not fit, the range is cut in two at a record boundary and each half is
 * compressed anew.  A record that does not fit alone is written as it is.
 */
#include "format/writer/writer_priv.h"

#include "format/base/crc32c.h"
#include "format/base/cursor.h"
#include "format/base/vec.h"

#define SKIPPABLE_BYTES 8 /* magic and length in front of the block header */
#define PREFIX_BYTES    (8 + SKIPPABLE_BYTES + EBX_BLOCK_BYTES)
#define BLOCK_ROOM      (PERFFILE_RECORD_MAX - PREFIX_BYTES)
#define PART_ROOM       (PERFFILE_RECORD_MAX - EBX_PRIVATE_HEADER_BYTES)

int queue_add_piece(struct queue *q, const struct directory_item *item, size_t off_bytes)
{
	if (vec_reserve(&q->pieces, &q->piece_room, q->piece_count + 1))
		return -ENOMEM;
	q->pieces[q->piece_count++] = (struct piece){ .item = *item, .off_bytes = off_bytes };
	return 0;
}

/* One zstd frame with size and checksum into w->scratch.  -ENOMEM is the only way to fail. */
static int compress(struct writer *w, const uint8_t *data, size_t size_bytes)
{
	size_t n;
	int err;

	w->scratch.size_bytes = 0;
	err = buf_reserve(&w->scratch, ZSTD_compressBound(size_bytes));
	if (err)
		return err;
	n = ZSTD_compress2(w->zstd, w->scratch.data, w->scratch.room_bytes, data, size_bytes);
	if (ZSTD_isError(n))
		return -ENOMEM;
	w->scratch.size_bytes = n;
	return 0;
}

/* ---- records ---- */

/* The offset of record i in the stream; one past the last is the end. */
static size_t note_off(const struct queue *q, size_t i)
{
	return i < q->note_count ? q->notes[i].off_bytes : q->raw.size_bytes;
}

static void describe(const struct queue *q, size_t first, size_t last, struct ebx_block *f)
{
	f->raw_bytes = (uint32_t)(note_off(q, last) - note_off(q, first));
	f->record_count = (uint32_t)(last - first);
	for (size_t i = first; i < last; i++) {
		const struct record_note *n = &q->notes[i];

		f->sample_count += n->sample;
		if (n->cpu >= 0)
			f->cpu_mask |= 1ULL << (n->cpu % 64);
		if (!n->time_ns)
			continue;
		if (!f->t_min_ns || n->time_ns < f->t_min_ns)
			f->t_min_ns = n->time_ns;
		if (n->time_ns > f->t_max_ns)
			f->t_max_ns = n->time_ns;
	}
}

/* Puts the block in w->scratch behind its record header; the block header stays empty. */
static int add_block(struct writer *w, struct queue *q, struct directory_item *item)
{
	const struct buf *z = &w->scratch;
	size_t pad = -z->size_bytes & 7;
	size_t off = q->packed.size_bytes;
	uint8_t *p;
	int err;

	item->file_bytes = (uint32_t)(PREFIX_BYTES + pad + z->size_bytes);
	err = buf_reserve(&q->packed, item->file_bytes);
	if (err)
		return err;
	err = queue_add_piece(q, item, off);
	if (err)
		return err;
	p = q->packed.data + off;
	memset(p, 0, PREFIX_BYTES + pad);
	le32_store(p, PERFFILE_RECORD_COMPRESSED);
	le16_store(p + 6, (uint16_t)item->file_bytes);
	le32_store(p + 8, EBX_SKIPPABLE_MAGIC);
	le32_store(p + 12, (uint32_t)(EBX_BLOCK_BYTES + pad));
	memcpy(p + PREFIX_BYTES + pad, z->data, z->size_bytes);
	q->packed.size_bytes += item->file_bytes;
	return 0;
}

/* A record that does not fit into a block even alone. */
static int add_plain(struct queue *q, size_t i)
{
	const uint8_t *rec = q->raw.data + note_off(q, i);
	size_t size = note_off(q, i + 1) - note_off(q, i);
	struct directory_item item = {
		.type = DIRECTORY_PLAIN,
		.file_bytes = (uint32_t)size,
		.plain.type = le32_load(rec),
	};
	int err = buf_reserve(&q->packed, size);

	if (!err)
		err = queue_add_piece(q, &item, q->packed.size_bytes);
	return err ? err : buf_add(&q->packed, rec, size);
}

/* The record boundary nearest to the middle of [first, last), not an end of it. */
static size_t middle(const struct queue *q, size_t first, size_t last)
{
	size_t half = (note_off(q, first) + note_off(q, last)) / 2;
	size_t mid = first + 1;

	while (mid + 1 < last && note_off(q, mid + 1) <= half)
		mid++;
	return mid;
}

/* Recursion: each level is shorter by a record at least, and by a quarter in practice. */
static int pack_range(struct writer *w, enum ebx_stream stream, size_t first, size_t last)
{
	struct queue *q = &w->queues[stream];
	struct directory_item item = { .type = DIRECTORY_BLOCK,
				       .block = { .stream = (uint8_t)stream } };
	size_t mid;
	int err;

	describe(q, first, last, &item.block);
	err = compress(w, q->raw.data + note_off(q, first), item.block.raw_bytes);
	if (err)
		return err;
	if (w->scratch.size_bytes <= BLOCK_ROOM) {
		item.block.crc32c = crc32c(0, w->scratch.data, w->scratch.size_bytes);
		return add_block(w, q, &item);
	}
	if (last - first == 1)
		return add_plain(q, first);
	mid = middle(q, first, last);
	err = pack_range(w, stream, first, mid);
	return err ? err : pack_range(w, stream, mid, last);
}

int writer_pack(struct writer *w, enum ebx_stream stream)
{
	struct queue *q = &w->queues[stream];
	int err;

	if (!q->note_count)
		return 0;
	err = pack_range(w, stream, 0, q->note_count);
	if (err)
		return err;
	q->note_count = 0;
	q->raw.size_bytes = 0;
	return 0;
}

/* ---- objects ---- */

static int add_part(struct queue *q, struct ebx_private *p, const uint8_t *payload)
{
	size_t size = EBX_PRIVATE_HEADER_BYTES + p->payload_bytes;
	struct directory_item item = { .type = DIRECTORY_PRIVATE };
	size_t off = q->packed.size_bytes;
	int err;

	if (size < EBX_PRIVATE_MIN_BYTES)
		size = EBX_PRIVATE_MIN_BYTES;
	size = (size + 7) & ~(size_t)7;
	p->crc32c = crc32c(0, payload, p->payload_bytes);
	item.file_bytes = (uint32_t)size;
	item.part = *p;
	err = buf_reserve(&q->packed, size);
	if (!err)
		err = queue_add_piece(q, &item, off);
	if (err)
		return err;
	memset(q->packed.data + off, 0, size);
	if (p->payload_bytes)
		memcpy(q->packed.data + off + EBX_PRIVATE_HEADER_BYTES, payload, p->payload_bytes);
	q->packed.size_bytes += size;
	return 0;
}

/* The next part of an object from data; *taken_bytes: the bytes of data in it. */
static int pack_part(struct writer *w, struct ebx_private *p, const uint8_t *data,
		     size_t size_bytes, size_t *taken_bytes)
{
	size_t take = size_bytes < EBX_RAW_MAX ? size_bytes : EBX_RAW_MAX;
	const uint8_t *payload = data;
	int err;

	for (;; take = take / 2 > PART_ROOM ? take / 2 : PART_ROOM) {
		err = compress(w, data, take);
		if (err)
			return err;
		if (w->scratch.size_bytes <= PART_ROOM || take <= PART_ROOM)
			break;
	}
	p->flags = take == size_bytes ? EBX_PRIVATE_LAST : 0;
	p->raw_bytes = (uint32_t)take;
	p->payload_bytes = (uint32_t)take;
	if (w->scratch.size_bytes < take) {
		p->flags |= EBX_PRIVATE_ZSTD;
		p->payload_bytes = (uint32_t)w->scratch.size_bytes;
		payload = w->scratch.data;
	}
	*taken_bytes = take;
	return add_part(&w->queues[0], p, payload);
}

int writer_pack_object(struct writer *w, enum ebx_kind kind, uint64_t object, const uint8_t *data,
		       size_t size_bytes)
{
	struct ebx_private p = { .kind = (uint16_t)kind, .object = object };
	size_t taken;
	int err;

	do {
		err = pack_part(w, &p, data, size_bytes, &taken);
		if (err)
			return err;
		data += taken;
		size_bytes -= taken;
		p.part++;
	} while (size_bytes);
	return 0;
}
