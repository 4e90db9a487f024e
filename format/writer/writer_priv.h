/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* writer_priv - shared by writer*.c and by recover.c, which finishes the file of another writer */
#ifndef EBPREC_FORMAT_WRITER_WRITER_PRIV_H
#define EBPREC_FORMAT_WRITER_WRITER_PRIV_H

#include <zstd.h>

#include "format/base/buf.h"
#include "format/reader/directory.h"
#include "format/writer/writer.h"

#define WRITER_ATTR_BYTES       128 /* PERF_ATTR_SIZE_VER7: what perf 6.1 knows */
#define WRITER_ATTR_ENTRY_BYTES (WRITER_ATTR_BYTES + 16)

/* The facts that a block header needs about a record that waits in a stream. */
struct record_note {
	uint64_t time_ns;
	uint32_t off_bytes; /* in the stream's raw bytes */
	int16_t cpu;
	bool sample;
};

/* A record that is complete except for its offset in the file. */
struct piece {
	struct directory_item item; /* off_bytes, seq and prev_off_bytes are set by the flush */
	size_t off_bytes;           /* in the queue's bytes */
};

/* Records of one stream (0: private and plain ones) on their way into the file. */
struct queue {
	struct buf raw; /* complete records, not yet in a block */
	struct record_note *notes;
	size_t note_count, note_room;
	struct buf packed; /* records as they go into the file */
	struct piece *pieces;
	size_t piece_count, piece_room;
	uint64_t lost_count;
	uint64_t prev_off_bytes;
};

/* The state that a flush changes before it is known whether it succeeds. */
struct flush_mark {
	size_t dir_bytes;
	uint64_t dir_count, seq;
	struct directory_state directory_state;
	uint64_t prev_off_bytes[EBX_STREAM_END];
};

struct writer {
	int fd; /* borrowed */
	int (*wait)(void *arg);
	void *wait_arg;
	int err; /* the first failure: sticky */
	bool plain, pipe, finished;
	int level;
	ZSTD_CCtx *zstd;
	struct buf scratch; /* what zstd writes to */
	struct buf out;     /* one flush */
	struct buf patch;   /* for a pipe: a change of bytes that were written before */

	/* The head that changes: file header, superblock, table copy, SAMPLE_TIME, COMPRESSED. */
	struct buf head;
	struct ebx_super super;
	struct buf table; /* the feature table, as it lies behind the data */
	size_t build_id_entry_off_bytes;
	size_t sample_time_off_bytes, compressed_off_bytes; /* in head */

	uint64_t data_off_bytes, end_bytes; /* the data section; its end as of the last flush */
	uint64_t seq;
	uint64_t first_ns, last_ns;                 /* of samples; 0: none yet */
	uint64_t flushed_first_ns, flushed_last_ns; /* the same, as of the last flush */
	size_t pending_bytes;
	struct queue queues[EBX_STREAM_END];
	struct directory_encoder dir;
	int spill_fd; /* where its items go when they are many; owned; -1: nowhere */
	struct writer_stats stats;
};

/* ---- writer.c ---- */

/* Writes all bytes at a place of w's file, or returns the error; in a pipe as a patch. */
int writer_put_at(struct writer *w, const uint8_t *data, size_t size_bytes, uint64_t off_bytes);
/* Restores the file as it was when its data ended there: truncated, with table and head. */
void writer_undo(struct writer *w, uint64_t old_end_bytes);

/* ---- writer_finish.c ---- */

/*
 * Writes the post area behind data and table, then the head with this state.  build_id: the BUILD_ID
 * section, NULL for none.  After a failure the file is as it was, unfinished.
 */
int writer_seal(struct writer *w, const struct writer_feature *build_id, enum ebx_state state);

/* ---- writer_head.c ---- */

/* The byte offset of a feature's entry in the table, which is in ascending bit order; for
 * PERFFILE_FEATURE_BITS, the size of the table. */
size_t writer_table_entry_off(const uint64_t bits[4], unsigned bit);

/* -EINVAL when the options break a rule of writer.h. */
int writer_check_opts(const struct writer_opts *opts);
/* Builds the complete head and table in memory: sets head, table, super, data_off_bytes. */
int writer_build_head(struct writer *w, const struct writer_opts *opts);
/* Brings w->head up to date: data.size, superblock, SAMPLE_TIME, ratio. */
void writer_update_head(struct writer *w);

/* ---- writer_compress.c ---- */

/* Puts the waiting records of a stream into blocks.  -ENOMEM. */
int writer_pack(struct writer *w, enum ebx_stream stream);
int writer_pack_object(struct writer *w, enum ebx_kind kind, uint64_t object, const uint8_t *data,
		       size_t size_bytes);
/* Remembers a record whose bytes have just been put at the end of q->packed.  -ENOMEM. */
int queue_add_piece(struct queue *q, const struct directory_item *item, size_t off_bytes);

#endif
