/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * pipe_reader - reads the stream that a recorder writes into a pipe (FORMAT.md 11)
 *
 * For callers that want the records of some streams at once and no file.  Bytes may be pushed in
 * any pieces; only the beginning, up to the first record of the data section, and one record are
 * held in memory.
 */
#ifndef EBPREC_FORMAT_READER_PIPE_READER_H
#define EBPREC_FORMAT_READER_PIPE_READER_H

#include "format/reader/capture.h"

struct pipe_reader; /* opaque */

/* A negative return value of a callback ends the push, which returns it. */
struct pipe_reader_calls {
	/* Called first: a capture without data, with its events and features.  Borrowed until the
	 * feed is freed. */
	int (*begin)(void *arg, const struct capture *c);
	/* A record of a stream that is wanted; valid during the call. */
	int (*record)(void *arg, const struct perf_event_header *rec);
	/* A flush is complete. */
	int (*round)(void *arg);
};

/* streams: bits 1 << enum ebx_stream.  -ENOMEM. */
int pipe_reader_new(const struct pipe_reader_calls *calls, void *arg, uint32_t streams,
		    struct pipe_reader **out);
void pipe_reader_free(struct pipe_reader *f); /* NULL is fine */
/* -EBADMSG: this is no such stream, or it is broken: the reader ignores the rest.  -ENOMEM, errno. */
int pipe_reader_push(struct pipe_reader *f, const void *data, size_t size_bytes);

#endif
