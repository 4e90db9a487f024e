/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * samples_by_time - the samples of a capture in the order of their times
 *
 * An event_stream of samples.  In our captures each block has its first and last time, and only blocks
 * that the span needs are read.  In perf's files the ends of rounds do the same, as in perf itself.  A
 * second or so of records is held meanwhile, unless the file has no information about its order.
 */
#ifndef EBPREC_ANALYZE_INPUT_EVENT_SAMPLES_BY_TIME_H
#define EBPREC_ANALYZE_INPUT_EVENT_SAMPLES_BY_TIME_H

#include <stdint.h>

#include "analyze/input/event/time_span.h"
#include "format/reader/capture.h"

struct samples_by_time_stats {
	uint64_t sample_count, broken; /* passed on; left out, since they fit no attr */
	uint32_t damaged_blocks;
};

/* Not 0: stop, and return it. */
typedef int (*samples_by_time_fn)(void *ctx, const struct perf_event_header *header);

/* Calls fn for each sample within the span; equal times in the order of the file.  -ENOMEM. */
int samples_by_time_run(const struct capture *c, const struct time_span *span,
			samples_by_time_fn fn, void *ctx, struct samples_by_time_stats *stats);

#endif
