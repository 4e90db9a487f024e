/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * pipe_spool - a capture that goes through a pipe, and becomes a file again (FORMAT.md 11)
 *
 * A writer overwrites parts of its file; in a pipe it cannot.  So the bytes that a file gets at its
 * end go into the pipe as they are, and each change of an earlier part goes in between, as a record
 * that perf skips: an offset and the bytes for it.  In front are the records with which perf's pipe
 * format begins.  A reader that applies all changes gets, byte for byte, the file that the writer
 * would have written.
 */
#ifndef EBPREC_FORMAT_READER_PIPE_SPOOL_H
#define EBPREC_FORMAT_READER_PIPE_SPOOL_H

#include <stdbool.h>

#include "format/base/buf.h"
#include "format/reader/source.h"

/* Adds the records with which a pipe begins; head: the capture's first bytes, up to its data, and
 * the table.  -ENOMEM. */
int pipe_spool_begin(struct buf *out, const uint8_t *head, size_t head_bytes);
/* Adds records that put these bytes at off_bytes of the file.  -ENOMEM. */
int pipe_spool_patch(struct buf *out, const uint8_t *data, size_t size_bytes, uint64_t off_bytes);

/* Are these bytes a capture that went through a pipe? */
bool pipe_spool_is(const struct source *s);
/*
 * Writes the file into fd, which is empty; *size_bytes how long it became, never more than s has.
 * A stream that was truncated, or is broken, gives an unfinished capture up to there.  The errno of
 * a write.
 */
int pipe_spool_rebuild(const struct source *s, int fd, uint64_t *size_bytes);

#endif
