/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * event_stream - events of many blocks in the order of their times
 *
 * Rings are per CPU and streams are apart, so a file has its events in no order.  A batch takes those of one
 * block, or round, as they come; batches are sorted and merged.  The caller reads blocks in the order of their
 * beginnings, and passes on what no block that follows can precede, so that only what overlaps is in memory.
 */
#ifndef EBPREC_ANALYZE_INPUT_EVENT_EVENT_STREAM_H
#define EBPREC_ANALYZE_INPUT_EVENT_EVENT_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/input/event/time_span.h"
#include "format/reader/capture.h"

/* A block that is to be read, and when it begins; 0: it may have events of any time. */
struct event_part {
	uint64_t time_ns;
	size_t block;
};

/*
 * The blocks of the mask's streams that can have events of the span, by their beginnings; those without an
 * index (CAPTURE_STREAM_MIXED) among them.  *out: free().  -ENOMEM.
 */
int event_parts_list(const struct capture *c, uint32_t stream_mask, const struct time_span *span,
		     struct event_part **out, size_t *count);
/* For qsort(): by time, then by block. */
int event_part_by_time(const void *a, const void *b);

struct event_batch;  /* opaque */
struct event_stream; /* opaque */

int event_stream_new(struct event_stream **out); /* -ENOMEM */
void event_stream_free(struct event_stream *s);  /* NULL is fine */

/* An empty batch; of events of one time those of the batch with the lowest number come first.  -ENOMEM. */
int event_stream_begin(struct event_stream *s, uint64_t number, struct event_batch **out);
/* Copies an event into it.  -ENOMEM. */
int event_batch_add(struct event_batch *b, uint64_t time_ns, const void *event, size_t size_bytes);
size_t event_batch_count(const struct event_batch *b);
/* Nothing more is added to it: its events wait for their turn.  The stream owns it again.  -ENOMEM. */
int event_stream_end(struct event_stream *s, struct event_batch *b);

/*
 * Calls fn for each event until then that waits, in order of time; those of one batch and time as they were
 * added.  Not 0 ends it, and is returned.  The event is valid, and aligned to 8 bytes, during the call.
 */
int event_stream_pass(struct event_stream *s, uint64_t until_ns,
		      int (*fn)(void *ctx, const void *event), void *ctx);

#endif
