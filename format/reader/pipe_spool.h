/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * pipe_spool - a capture that goes through a pipe, and becomes a file again (FORMAT.md 11)
 *
 * A writer changes places that it has written before; a pipe cannot do that.  So what a file would
 * have at its end goes into the pipe as it is, and each change of another place goes in between as a
 * record that perf steps over: these bytes belong there.  In front are the records by which perf
 * knows a pipe.  Who puts all that into a file has, byte for byte, what the writer would have written.
 */
#ifndef EBPREC_FORMAT_READER_PIPE_SPOOL_H
#define EBPREC_FORMAT_READER_PIPE_SPOOL_H

#include <stdbool.h>

#include "format/base/buf.h"
#include "format/reader/source.h"

/* Adds what a pipe begins with; head: the capture's first bytes, up to its data, and the table.  -ENOMEM. */
int pipe_spool_begin(struct buf *out, const uint8_t *head, size_t head_bytes);
/* Adds records that put these bytes at off_bytes of the file.  -ENOMEM. */
int pipe_spool_patch(struct buf *out, const uint8_t *data, size_t size_bytes, uint64_t off_bytes);

/* Are these bytes a capture that went through a pipe? */
bool pipe_spool_is(const struct source *s);
/*
 * Writes the file into fd, which is empty; *size_bytes how long it became, never more than s has.
 * A stream that was cut, or is broken, gives the file up to there: one of an unfinished capture.
 * The errno of a write.
 */
int pipe_spool_rebuild(const struct source *s, int fd, uint64_t *size_bytes);

#endif
