/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * pipe_reader - what a recorder writes into a pipe, as it comes (FORMAT.md 11)
 *
 * For who wants the records of some streams now and no file at the end.  Bytes may be pushed in any
 * pieces; of them only the beginning, up to the first record of the data section, and one record are
 * kept.
 */
#ifndef EBPREC_FORMAT_READER_PIPE_READER_H
#define EBPREC_FORMAT_READER_PIPE_READER_H

#include "format/reader/capture.h"

struct pipe_reader; /* opaque */

/* A negative return of one ends the push, and is returned. */
struct pipe_reader_calls {
	/* First: a capture without data, with its events and features.  Borrowed until the feed is freed. */
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
/* -EBADMSG: this is no such stream, or broken: nothing of it is read any more.  -ENOMEM, errno. */
int pipe_reader_push(struct pipe_reader *f, const void *data, size_t size_bytes);

#endif
