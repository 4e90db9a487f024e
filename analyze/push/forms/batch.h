/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * batch - what is sent of one interval of one host to one server, encoded once
 *
 * A batch is a file while it waits, so that what is sent again after a failure, or by a sender that was started anew, are
 * the same bytes.  It has parts, sent one after the other: each is the body of a request, and its name says which.
 * A body knows the ends of some of its rows, where it may be cut into two requests when a server finds one too large.
 */
#ifndef EBPREC_ANALYZE_PUSH_FORMS_BATCH_H
#define EBPREC_ANALYZE_PUSH_FORMS_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/base/outbuf.h"

#define PUSH_BATCH_MAX_BYTES (256u << 20)
#define PUSH_PARTS_MAX       4096
#define PUSH_TEXT_MAX        4096 /* of a host's name, and of a part's */

struct push_cut {
	uint32_t offset_bytes; /* in the body */
	uint32_t rows; /* before it; 0: here ends the head, which halves of the part both have */
};

struct push_part {
	char *name; /* owned */
	struct outbuf body;
	uint32_t rows;
	struct push_cut *cuts; /* owned; ascending, none at either end */
	size_t cut_count, cut_capacity;
};

struct push_batch {
	char *host; /* owned */
	uint64_t sender, seq;
	uint64_t from_s, to_s; /* Unix time of its interval */
	uint64_t samples;
	struct push_part *parts;
	size_t part_count, part_capacity;
	bool bad; /* no memory: not to be written */
};

/* A part at the end, or NULL and the batch is bad. */
struct push_part *push_batch_add(struct push_batch *b, const char *name);
/* What is in the body is what all its rows need, and stays with each half of them. */
void push_part_end_head(struct push_batch *b, struct push_part *part);
/* A row is at the end of the body: counts it, and remembers some of these ends. */
void push_part_end_row(struct push_batch *b, struct push_part *part);
/*
 * Makes two parts of one, of about half the bytes each, behind each other.  -ENOENT: it has one row, or the batch
 * PUSH_PARTS_MAX parts; -ENOMEM.
 */
int push_batch_halve(struct push_batch *b, size_t part);
void push_batch_done(struct push_batch *b);

/* The bytes of its file.  -ENOMEM, -EFBIG. */
int push_batch_encode(const struct push_batch *b, struct outbuf *out);
/* From such bytes.  -EBADMSG, -ENOMEM; *out untouched on failure. */
int push_batch_decode(const void *data, size_t size_bytes, struct push_batch *out);
/* Writes it to the disk, with its name; a file of that name is replaced.  The errno of the file. */
int push_batch_write(const struct push_batch *b, const char *path);
int push_batch_read(const char *path, struct push_batch *out);

#endif
