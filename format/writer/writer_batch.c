/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * Packed records between two files: taken out of one writer, held in memory, put into another.  The
 * fields that depend on the file (offset, number, the block before) are filled in by a flush, so
 * nothing is compressed twice.
 */
#include "format/writer/writer_priv.h"

#include "format/base/cursor.h"

struct writer_batch {
	struct queue queues[EBX_STREAM_END]; /* packed, pieces and lost_count alone */
	uint64_t first_ns, last_ns;          /* of samples; 0: none */
	struct writer_stats stats;           /* what went into it, without file_bytes */
};

int writer_batch_new(struct writer_batch **out)
{
	struct writer_batch *b = calloc(1, sizeof(*b));

	if (!b)
		return -ENOMEM;
	*out = b;
	return 0;
}

void writer_batch_free(struct writer_batch *b)
{
	if (!b)
		return;
	for (unsigned i = 0; i < EBX_STREAM_END; i++) {
		buf_done(&b->queues[i].packed);
		free(b->queues[i].pieces);
	}
	free(b);
}

size_t writer_batch_bytes(const struct writer_batch *b)
{
	size_t bytes = sizeof(*b);

	for (unsigned i = 0; i < EBX_STREAM_END; i++)
		bytes += b->queues[i].packed.room_bytes +
			 b->queues[i].piece_room * sizeof(*b->queues[i].pieces);
	return bytes;
}

uint64_t writer_batch_first_ns(const struct writer_batch *b)
{
	uint64_t first_ns = 0;

	for (unsigned i = EBX_STREAM_CPU; i < EBX_STREAM_END; i++) {
		for (size_t k = 0; k < b->queues[i].piece_count; k++) {
			const struct directory_item *item = &b->queues[i].pieces[k].item;

			if (item->type == DIRECTORY_BLOCK && item->block.t_min_ns &&
			    (!first_ns || item->block.t_min_ns < first_ns))
				first_ns = item->block.t_min_ns;
		}
	}
	return first_ns;
}

/* Appends packed records and their descriptions to those of `to`; -ENOMEM leaves `to` as it was. */
static int add_packed(struct queue *to, const struct queue *from)
{
	size_t base = to->packed.size_bytes, count = to->piece_count;
	int err = buf_add(&to->packed, from->packed.data, from->packed.size_bytes);

	for (size_t i = 0; !err && i < from->piece_count; i++)
		err = queue_add_piece(to, &from->pieces[i].item, base + from->pieces[i].off_bytes);
	if (err) {
		to->packed.size_bytes = base;
		to->piece_count = count;
		return err;
	}
	to->lost_count += from->lost_count;
	return 0;
}

int writer_batch_join(struct writer_batch *to, const struct writer_batch *from)
{
	int err = 0;

	for (unsigned i = 0; !err && i < EBX_STREAM_END; i++)
		err = add_packed(&to->queues[i], &from->queues[i]);
	to->stats.raw_bytes += from->stats.raw_bytes;
	return err;
}

/* Frees the capacity that growing by doubling left unused: batches live for long. */
static void trim(struct queue *q)
{
	void *less;

	if (!q->packed.size_bytes) {
		buf_done(&q->packed);
		return;
	}
	less = realloc(q->packed.data, q->packed.size_bytes);
	if (less) {
		q->packed.data = less;
		q->packed.room_bytes = q->packed.size_bytes;
	}
}

int writer_take_objects(struct writer *w, struct writer_batch *into)
{
	struct queue *q = &w->queues[0];
	int err;

	if (w->err)
		return w->err;
	err = add_packed(&into->queues[0], q);
	if (err)
		return w->err = err;
	q->packed.size_bytes = 0;
	q->piece_count = 0;
	return 0;
}

void writer_batch_forget(struct writer_batch *b, enum ebx_kind kind)
{
	struct queue *q = &b->queues[0];
	size_t left = 0, at = 0;

	for (size_t i = 0; i < q->piece_count; i++) {
		struct piece p = q->pieces[i];

		if (p.item.type == DIRECTORY_PRIVATE && p.item.part.kind == kind)
			continue;
		memmove(q->packed.data + at, q->packed.data + p.off_bytes, p.item.file_bytes);
		p.off_bytes = at;
		at += p.item.file_bytes;
		q->pieces[left++] = p;
	}
	q->packed.size_bytes = at;
	q->piece_count = left;
}

int writer_take(struct writer *w, struct writer_batch **out)
{
	struct writer_batch *b = NULL;
	int err = w->err;

	for (unsigned i = EBX_STREAM_SIDE; !err && i < EBX_STREAM_END; i++)
		err = writer_pack(w, i);
	if (!err)
		err = writer_batch_new(&b);
	if (err)
		return w->err = err;
	for (unsigned i = EBX_STREAM_SIDE; i < EBX_STREAM_END; i++) {
		struct queue *q = &w->queues[i];

		b->queues[i] = (struct queue){ .packed = q->packed,
					       .pieces = q->pieces,
					       .piece_count = q->piece_count,
					       .piece_room = q->piece_room,
					       .lost_count = q->lost_count };
		q->packed = (struct buf){ 0 };
		q->pieces = NULL;
		q->piece_count = q->piece_room = 0;
		q->lost_count = 0;
		trim(&b->queues[i]);
	}
	b->first_ns = w->first_ns;
	b->last_ns = w->last_ns;
	b->stats = w->stats;
	w->first_ns = w->last_ns = 0;
	w->stats = (struct writer_stats){ 0 };
	w->pending_bytes = 0;
	*out = b;
	return 0;
}

int writer_put(struct writer *w, const struct writer_batch *b)
{
	int err;

	if (w->err)
		return w->err;
	if (w->finished || w->plain)
		return -EINVAL;
	for (unsigned i = 0; i < EBX_STREAM_END; i++) {
		err = add_packed(&w->queues[i], &b->queues[i]);
		if (err)
			return w->err = err;
		w->pending_bytes += b->queues[i].packed.size_bytes;
	}
	w->stats.raw_bytes += b->stats.raw_bytes;
	if (b->first_ns && (!w->first_ns || b->first_ns < w->first_ns))
		w->first_ns = b->first_ns;
	if (b->last_ns > w->last_ns)
		w->last_ns = b->last_ns;
	return 0;
}

/* ---- reading the records ---- */

static int each_record(const uint8_t *data, size_t size_bytes,
		       int (*on_record)(void *arg, const uint8_t *record, size_t size_bytes),
		       void *arg)
{
	int err = 0;

	while (!err && size_bytes >= 8) {
		size_t size = le16_load(data + 6);

		if (size < 8 || size > size_bytes)
			return -EBADMSG;
		err = on_record(arg, data, size);
		data += size;
		size_bytes -= size;
	}
	return err;
}

int writer_batch_records(const struct writer_batch *b, enum ebx_stream stream,
			 int (*on_record)(void *arg, const uint8_t *record, size_t size_bytes),
			 void *arg)
{
	const struct queue *q = &b->queues[stream];
	uint8_t *raw = malloc(EBX_RAW_MAX);
	int err = raw ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < q->piece_count; i++) {
		const struct directory_item *item = &q->pieces[i].item;
		const uint8_t *record = q->packed.data + q->pieces[i].off_bytes;
		size_t skip, n;

		if (item->type == DIRECTORY_PLAIN) {
			err = on_record(arg, record, item->file_bytes);
			continue;
		}
		/* The header of the record, then a skippable frame, then the data. */
		skip = 16 + (size_t)le32_load(record + 12);
		n = ZSTD_decompress(raw, EBX_RAW_MAX, record + skip, item->file_bytes - skip);
		err = n == item->block.raw_bytes ? each_record(raw, n, on_record, arg) : -EBADMSG;
	}
	free(raw);
	return err;
}
