/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * The order of writes (FORMAT.md 2.2) keeps the file complete:
 *	flush	one pwrite of blocks and feature table at the old end; then one pwrite of the head
 *	finish	post area behind the table; then the table's BUILD_ID entry, in place; then the head
 * A flush counts from the moment its head is written; a reader of ebprec that finds the head older
 * than the data walks on past its end.
 */
#include "format/writer/writer_priv.h"

#include <unistd.h>

#include "format/base/full_io.h"
#include "format/base/crc32c.h"
#include "format/base/cursor.h"
#include "format/base/vec.h"
#include "format/reader/pipe_spool.h"

#define PIPE_STEP_BYTES 4096 /* a write of at most this size into a pipe is atomic */

static int write_pipe(struct writer *w, const uint8_t *data, size_t size_bytes)
{
	int err = 0;

	while (!err && size_bytes) {
		size_t step = size_bytes < PIPE_STEP_BYTES ? size_bytes : PIPE_STEP_BYTES;
		ssize_t n;

		err = w->wait ? w->wait(w->wait_arg) : 0;
		n = err ? 0 : write(w->fd, data, step);
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			err = -errno;
		if (n > 0) {
			data += n;
			size_bytes -= (size_t)n;
		}
	}
	return err;
}

int writer_put_at(struct writer *w, const uint8_t *data, size_t size_bytes, uint64_t off_bytes)
{
	int err;

	if (!w->pipe)
		return full_write_at(w->fd, data, size_bytes, off_bytes);
	w->patch.size_bytes = 0;
	err = pipe_spool_patch(&w->patch, data, size_bytes, off_bytes);
	return err ? err : write_pipe(w, w->patch.data, w->patch.size_bytes);
}

/* New data and the table behind it. */
static int put_data(struct writer *w, size_t data_bytes)
{
	int err;

	if (!w->pipe)
		return full_write_at(w->fd, w->out.data, w->out.size_bytes, w->end_bytes);
	err = write_pipe(w, w->out.data, data_bytes);
	return err ? err
		   : writer_put_at(w, w->out.data + data_bytes, w->out.size_bytes - data_bytes,
				   w->end_bytes + data_bytes);
}

static int put_first_head(struct writer *w)
{
	int err;

	if (!w->pipe)
		return full_write_at(w->fd, w->head.data, w->head.size_bytes, 0);
	err = pipe_spool_begin(&w->patch, w->head.data, w->head.size_bytes);
	return err ? err : write_pipe(w, w->patch.data, w->patch.size_bytes);
}

static int make_zstd(int level, ZSTD_CCtx **out)
{
	ZSTD_CCtx *z = ZSTD_createCCtx();

	if (!z)
		return -ENOMEM;
	if (ZSTD_isError(ZSTD_CCtx_setParameter(z, ZSTD_c_compressionLevel, level)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, 1))) {
		ZSTD_freeCCtx(z);
		return -EINVAL;
	}
	*out = z;
	return 0;
}

/* Writes the complete head with an empty table behind it, then keeps only the part that changes. */
static int write_first_head(struct writer *w)
{
	size_t changing = w->plain ? w->sample_time_off_bytes + 16 : w->compressed_off_bytes + 20;
	int err;

	w->end_bytes = w->dir.state.end_bytes = w->data_off_bytes;
	writer_update_head(w);
	err = buf_add(&w->head, w->table.data, w->table.size_bytes);
	if (!err && w->fd >= 0)
		err = put_first_head(w);
	w->stats.file_bytes = w->head.size_bytes;
	w->head.size_bytes = changing; /* the rest stays behind it, for writer_like() */
	return err;
}

int writer_new(int fd, const struct writer_opts *opts, struct writer **out)
{
	struct writer *w;
	int err = writer_check_opts(opts);

	if (err)
		return err;
	w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	w->fd = fd;
	w->spill_fd = -1;
	w->plain = opts->plain;
	w->pipe = opts->pipe;
	w->wait = opts->wait;
	w->wait_arg = opts->wait_arg;
	w->level = opts->level;
	err = make_zstd(opts->level, &w->zstd);
	if (err)
		goto out;
	err = writer_build_head(w, opts);
	if (err)
		goto out;
	err = write_first_head(w);
	if (err)
		goto out;
	*out = w;
	w = NULL;
out:
	writer_free(w);
	return err;
}

int writer_like(int fd, const struct writer *like, const uint8_t uuid[16], struct writer **out)
{
	struct writer *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return -ENOMEM;
	w->fd = fd;
	w->spill_fd = -1;
	w->plain = like->plain;
	w->level = like->level;
	w->super = like->super;
	memcpy(w->super.uuid, uuid, sizeof(w->super.uuid));
	w->super.state = EBX_LIVE;
	w->super.dir_off_bytes = w->super.dir_size_bytes = 0;
	w->super.build_id_crc32c = 0;
	w->data_off_bytes = like->data_off_bytes;
	w->build_id_entry_off_bytes = like->build_id_entry_off_bytes;
	w->sample_time_off_bytes = like->sample_time_off_bytes;
	w->compressed_off_bytes = like->compressed_off_bytes;
	err = make_zstd(w->level, &w->zstd);
	if (!err)
		err = buf_add(&w->table, like->table.data, like->table.size_bytes);
	if (!err)
		err = buf_add(&w->head, like->head.data, like->data_off_bytes);
	if (err)
		goto out;
	le64_store(w->table.data + w->build_id_entry_off_bytes, w->data_off_bytes);
	le64_store(w->table.data + w->build_id_entry_off_bytes + 8, 0);
	err = write_first_head(w);
	if (err)
		goto out;
	*out = w;
	w = NULL;
out:
	writer_free(w);
	return err;
}

void writer_free(struct writer *w)
{
	if (!w)
		return;
	for (unsigned i = 0; i < EBX_STREAM_END; i++) {
		struct queue *q = &w->queues[i];

		buf_done(&q->raw);
		buf_done(&q->packed);
		free(q->notes);
		free(q->pieces);
	}
	directory_encoder_done(&w->dir);
	if (w->spill_fd >= 0)
		close(w->spill_fd);
	buf_done(&w->head);
	buf_done(&w->table);
	buf_done(&w->scratch);
	buf_done(&w->out);
	buf_done(&w->patch);
	ZSTD_freeCCtx(w->zstd);
	free(w);
}

static int add_note(struct queue *q, const struct record_note *note)
{
	if (vec_reserve(&q->notes, &q->note_room, q->note_count + 1))
		return -ENOMEM;
	q->notes[q->note_count++] = *note;
	return 0;
}

/* Puts the record into its stream; a full stream goes into a block first. */
static int queue_record(struct writer *w, enum ebx_stream stream, const void *record,
			size_t size_bytes, struct record_note *note)
{
	struct queue *q = &w->queues[stream];
	int err;

	if (q->raw.size_bytes + size_bytes > EBX_RAW_MAX) {
		err = writer_pack(w, stream);
		if (err)
			return err;
	}
	note->off_bytes = (uint32_t)q->raw.size_bytes;
	err = buf_reserve(&q->raw, size_bytes);
	if (err)
		return err;
	err = add_note(q, note);
	return err ? err : buf_add(&q->raw, record, size_bytes);
}

int writer_record(struct writer *w, enum ebx_stream stream, const void *record, size_t size_bytes,
		  uint64_t time_ns, int cpu)
{
	struct record_note note = { .time_ns = time_ns, .cpu = (int16_t)cpu };
	uint32_t type;
	int err;

	if (w->err)
		return w->err;
	if (w->finished || stream < EBX_STREAM_SIDE || stream >= EBX_STREAM_END || size_bytes < 8 ||
	    size_bytes % 8 || size_bytes > PERFFILE_RECORD_MAX ||
	    le16_load((const uint8_t *)record + 6) != size_bytes)
		return -EINVAL;
	type = le32_load(record);
	if (!w->plain && (!type || type >= PERFFILE_RECORD_HEADER_ATTR))
		return -EINVAL;
	note.sample = type == PERF_RECORD_SAMPLE;
	if (w->plain)
		err = buf_add(&w->queues[0].packed, record, size_bytes);
	else
		err = queue_record(w, stream, record, size_bytes, &note);
	if (err)
		return w->err = err;
	if (note.sample && time_ns) {
		if (!w->first_ns || time_ns < w->first_ns)
			w->first_ns = time_ns;
		if (time_ns > w->last_ns)
			w->last_ns = time_ns;
	}
	w->pending_bytes += size_bytes;
	w->stats.raw_bytes += size_bytes;
	return 0;
}

void writer_lost(struct writer *w, enum ebx_stream stream, uint64_t count)
{
	if (stream >= EBX_STREAM_SIDE && stream < EBX_STREAM_END)
		w->queues[stream].lost_count += count;
}

int writer_object(struct writer *w, enum ebx_kind kind, uint64_t object, const void *data,
		  size_t size_bytes)
{
	int err;

	if (w->err)
		return w->err;
	if (w->finished)
		return -EINVAL;
	if (w->plain)
		return 0;
	err = writer_pack_object(w, kind, object, data, size_bytes);
	if (err)
		return w->err = err;
	w->pending_bytes += size_bytes;
	return 0;
}

size_t writer_pending_bytes(const struct writer *w)
{
	return w->pending_bytes;
}

void writer_spill_to(struct writer *w, int fd)
{
	if (w->spill_fd >= 0)
		close(w->spill_fd);
	w->spill_fd = fd;
}

void writer_get_stats(const struct writer *w, struct writer_stats *out)
{
	*out = w->stats;
}

/* ---- flush ---- */

/* When the disk is full they stay in memory, and are tried again. */
static void spill(struct writer *w)
{
	if (w->spill_fd >= 0 && w->dir.items.size_bytes >= DIRECTORY_SPILL_BYTES)
		(void)directory_encoder_spill(&w->dir, w->spill_fd);
}

/* Gives a piece its offset in the file and fills in the header that depends on it. */
static int place_piece(struct writer *w, struct queue *q, struct piece *p, uint64_t off_bytes)
{
	uint8_t *rec = q->packed.data + p->off_bytes;
	struct directory_item *item = &p->item;

	item->off_bytes = off_bytes;
	if (item->type == DIRECTORY_BLOCK) {
		struct ebx_block *f = &item->block;

		f->seq = w->seq++;
		f->prev_off_bytes = q->prev_off_bytes;
		f->lost_count = q->lost_count > UINT32_MAX ? UINT32_MAX : (uint32_t)q->lost_count;
		q->lost_count -= f->lost_count;
		q->prev_off_bytes = off_bytes;
		ebx_block_encode(f, rec + 16);
	} else if (item->type == DIRECTORY_PRIVATE) {
		item->part.seq = w->seq++;
		ebx_private_encode(&item->part, (uint16_t)item->file_bytes, rec);
	}
	return directory_encoder_add(&w->dir, item);
}

/* Moves a queue's finished records to the end of w->out. */
static int collect_queue(struct writer *w, struct queue *q)
{
	uint64_t base = w->end_bytes + w->out.size_bytes;
	int err;

	for (size_t i = 0; i < q->piece_count; i++) {
		err = place_piece(w, q, &q->pieces[i], base + q->pieces[i].off_bytes);
		if (err)
			return err;
	}
	err = buf_add(&w->out, q->packed.data, q->packed.size_bytes);
	if (err)
		return err;
	q->packed.size_bytes = 0;
	q->piece_count = 0;
	return 0;
}

/* One flush as it goes into the file, in w->out, without the table: SIDE before the samples. */
static int collect(struct writer *w, bool round)
{
	struct perf_event_header h = { .type = PERFFILE_RECORD_FINISHED_ROUND, .size = sizeof(h) };
	int err = 0;

	w->out.size_bytes = 0;
	for (unsigned i = EBX_STREAM_SIDE; !err && i < EBX_STREAM_END; i++)
		err = writer_pack(w, i);
	for (unsigned i = 0; !err && i < EBX_STREAM_END; i++)
		err = collect_queue(w, &w->queues[i]);
	if (!err && round && w->out.size_bytes)
		err = buf_add(&w->out, &h, sizeof(h));
	return err;
}

/*
 * After a failed write: restores the old data and its table, as the head in the file still has
 * them.  The table's blocks are allocated, so this works on a full disk.
 */
void writer_undo(struct writer *w, uint64_t old_end_bytes)
{
	w->end_bytes = old_end_bytes;
	w->stats.file_bytes = old_end_bytes + w->table.size_bytes;
	if (w->pipe)
		return;
	(void)full_write_at(w->fd, w->table.data, w->table.size_bytes, old_end_bytes);
	(void)!ftruncate(w->fd, (off_t)w->stats.file_bytes);
	writer_update_head(w);
	(void)full_write_at(w->fd, w->head.data, w->head.size_bytes, 0);
}

static struct flush_mark flush_begin(const struct writer *w)
{
	struct flush_mark m = {
		.dir_bytes = w->dir.items.size_bytes,
		.dir_count = w->dir.item_count,
		.directory_state = w->dir.state,
		.seq = w->seq,
	};

	for (unsigned i = 0; i < EBX_STREAM_END; i++)
		m.prev_off_bytes[i] = w->queues[i].prev_off_bytes;
	return m;
}

/* Restores numbers and offsets, so that the file may still be finished without this flush. */
static void flush_undo(struct writer *w, const struct flush_mark *m, uint64_t old_end_bytes)
{
	w->dir.items.size_bytes = m->dir_bytes;
	w->dir.item_count = m->dir_count;
	w->dir.state = m->directory_state;
	w->seq = m->seq;
	for (unsigned i = 0; i < EBX_STREAM_END; i++)
		w->queues[i].prev_off_bytes = m->prev_off_bytes[i];
	writer_undo(w, old_end_bytes);
}

int writer_error(const struct writer *w)
{
	return w->err;
}

int writer_give_up(struct writer *w)
{
	if (!w->err || w->finished)
		return -EINVAL;
	if (w->err == -ENOMEM || w->pipe)
		return w->err;
	for (unsigned i = 0; i < EBX_STREAM_END; i++) {
		w->queues[i].note_count = w->queues[i].piece_count = 0;
		w->queues[i].raw.size_bytes = w->queues[i].packed.size_bytes = 0;
	}
	w->first_ns = w->flushed_first_ns;
	w->last_ns = w->flushed_last_ns;
	w->pending_bytes = 0;
	w->err = 0;
	return 0;
}

static int flush(struct writer *w, bool round)
{
	struct flush_mark mark = flush_begin(w);
	uint64_t old_end = w->end_bytes;
	size_t grown;
	int err;

	err = collect(w, round);
	if (err)
		return err;
	grown = w->out.size_bytes;
	w->pending_bytes = 0;
	if (!grown)
		return 0;
	err = buf_add(&w->out, w->table.data, w->table.size_bytes);
	if (err)
		return err;
	err = put_data(w, grown);
	if (!err) {
		w->end_bytes = old_end + grown;
		writer_update_head(w);
		err = writer_put_at(w, w->head.data, w->head.size_bytes, 0);
	}
	if (err) {
		flush_undo(w, &mark, old_end);
		return err;
	}
	w->stats.file_bytes = w->end_bytes + w->table.size_bytes;
	w->flushed_first_ns = w->first_ns;
	w->flushed_last_ns = w->last_ns;
	spill(w);
	return 0;
}

int writer_flush(struct writer *w, bool round)
{
	int err;

	if (w->err)
		return w->err;
	if (w->finished || w->fd < 0)
		return -EINVAL;
	err = flush(w, round);
	if (err)
		w->err = err;
	return err;
}
