/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * directory - the directory of a finished capture: every block and private record, without the walk
 *
 * The directory lists, in file order, what a walk over the data section would find: one item for
 * each block, each part of a private object, and each plain record (FORMAT.md 6.1).  It contains
 * nothing that the walk does not find, so a reader without it, or with a broken one, only loses
 * time.  The encoder is fed while writing; the decoder hands the items to a function one by one,
 * the same function that the walk feeds.
 */
#ifndef EBPREC_FORMAT_READER_DIRECTORY_H
#define EBPREC_FORMAT_READER_DIRECTORY_H

#include <stddef.h>
#include <stdint.h>

#include "format/base/buf.h"
#include "format/reader/ebx_records.h"

enum directory_type {
	DIRECTORY_PLAIN = 1,   /* one record that is not compressed: too big for a block */
	DIRECTORY_BLOCK = 2,   /* a COMPRESSED record with our block header */
	DIRECTORY_PRIVATE = 3, /* one part of a private object */
};

struct directory_plain {
	uint32_t type; /* perf_event_header.type */
};

struct directory_item {
	enum directory_type type;
	uint64_t off_bytes;  /* of the record in the file */
	uint32_t file_bytes; /* perf_event_header.size */
	union {
		struct directory_plain plain;
		struct ebx_block block;  /* prev_off_bytes and crc32c are not in the directory: 0 */
		struct ebx_private part; /* crc32c is not in the directory: 0 */
	};
};

/* The last item: numbers are stored as the distance to it. */
struct directory_state {
	uint64_t end_bytes, seq, time_ns;
};

/* All zero but state.end_bytes, which is where the data section starts. */
struct directory_encoder {
	struct buf items; /* those that are not spilled */
	uint64_t item_count, spilled_bytes;
	struct directory_state state;
};

#define DIRECTORY_SPILL_BYTES (64u << 10) /* in memory; above this they are moved to a file */

/* Items come in file order.  -ENOMEM. */
int directory_encoder_add(struct directory_encoder *e, const struct directory_item *item);
/*
 * Moves the items to the end of what the file has of them already, so that memory does not grow with the
 * time.  The encoder is as it was when that fails.  errno.
 */
int directory_encoder_spill(struct directory_encoder *e, int fd);
/*
 * The directory as stored: one zstd frame, owned by the caller (free()).  spill_fd: what was spilled
 * to, -1: nothing was.  -ENOMEM, or the errno of reading that.
 */
int directory_encoder_finish(const struct directory_encoder *e, int spill_fd, uint8_t **out,
			     size_t *size_bytes);
void directory_encoder_done(struct directory_encoder *e);

/*
 * Decodes a stored directory; each item has been checked to lie in [data_off, data_end), behind the
 * item before it, with a record's size.  Stops when on_item returns an error, and returns it.
 * -EBADMSG with items already handed out: the caller discards them.
 */
int directory_decode(const uint8_t *data, size_t size_bytes, uint64_t data_off, uint64_t data_end,
		     int (*on_item)(void *ctx, const struct directory_item *item), void *ctx,
		     struct parse_err *err);

#endif
