/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * source - bytes with an offset: a file, a pipe, or memory
 *
 * Reading is by copy (pread), never by mmap: a file that is truncated while it is mapped ends the
 * process with SIGBUS, and captures come from network mounts and from recorders that are still
 * running.  Copying costs nothing that can be measured: the copied bytes are compressed, 40 KiB for
 * each 256 KiB of records.  A source without offsets or without a size (a pipe, a device, a file of
 * /proc) is first copied to a temporary file without a name; so is a capture that went through a pipe
 * (pipe_spool.h), and one that a page carries (page_spool.h).  Another source is copied no further than
 * its beginning, by which the reader refuses it: a device may have no end.
 *
 * A source is read-only after opening; any number of threads may read it.
 */
#ifndef EBPREC_FORMAT_READER_SOURCE_H
#define EBPREC_FORMAT_READER_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/base/err.h"

struct source {
	int fd;              /* -1: memory */
	const uint8_t *data; /* borrowed; memory only */
	uint64_t size_bytes; /* when it was opened, or refreshed */
	uint64_t dev, ino;   /* of the file, also when a temporary copy is read; 0: none */
};

/*
 * "-" is standard input.  -EISDIR for a directory, -EBADMSG for a page without a capture or a damaged one (then where, which may
 * be NULL, is filled), else errno.
 */
int source_open(const char *path, struct source *out, struct parse_err *where);
void source_of_bytes(const void *data, size_t size_bytes, struct source *out);
void source_done(struct source *s);
/* Updates the file's size; not while other threads read the source. */
void source_refresh(struct source *s);

/* Copies up to size_bytes from off_bytes; returns how many there were (fewer: the end, or an I/O
 * error, which readers of damaged files treat alike). */
size_t source_read(const struct source *s, uint64_t off_bytes, void *out, size_t size_bytes);

/* Reads a source from front to back with few system calls. */
struct window {
	const struct source *source; /* borrowed */
	uint8_t *buf;                /* owned */
	size_t room_bytes, have_bytes;
	size_t ahead_bytes; /* read at least this much at a time */
	uint64_t off_bytes; /* of buf[0] */
	bool no_memory;     /* the last NULL may be no end of the source */
};

void window_init(struct window *w, const struct source *s, size_t ahead_bytes);
void window_done(struct window *w);
/*
 * size_bytes bytes at off_bytes, borrowed until the next call.  NULL: the source ends before, or no_memory is set.  Not
 * aligned.
 */
const uint8_t *window_at(struct window *w, uint64_t off_bytes, size_t size_bytes);

#endif
