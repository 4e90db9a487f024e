/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * event_iter - the records of one event, in the order of the file
 *
 * For lists that are made of few records of a capture.  Samples are count_samples.h's business.
 */
#ifndef EBPREC_ANALYZE_INPUT_EVENT_EVENT_ITER_H
#define EBPREC_ANALYZE_INPUT_EVENT_EVENT_ITER_H

#include "format/reader/capture.h"
#include "format/perf/perfrec.h"

/*
 * The streams of the mask that can have samples: without the side-band, where its blocks are marked
 * to have none.
 */
uint32_t event_iter_streams(const struct capture *c, uint32_t stream_mask);

/* The event of this tracepoint; NULL: the capture has none. */
const struct capture_attr *event_iter_find(const struct capture *c, uint64_t tracepoint_id);

/*
 * Calls fn for each sample of the event in frames of stream_mask; not 0 ends the walk and is returned.
 * lost, if not NULL, is increased by the event's LOST records in these blocks; they are in the
 * side-band, which else is left out where it has no samples.
 */
int event_iter_samples(const struct capture *c, uint32_t stream_mask, const struct capture_attr *of,
		       int (*fn)(void *ctx, const struct perf_event_header *sample), void *ctx,
		       uint64_t *lost);

/* How many records of the event are lost, by this record; 0 when it is no LOST record or of another. */
uint64_t event_iter_lost(const struct capture *c, const struct perf_event_header *record,
			 const struct capture_attr *of);

#endif
