/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * time_span - a part of a capture's time, as people write it: --time FROM,TO
 *
 *	970.25,971.5	seconds on the capture's clock, as `perf script` prints and takes them
 *	+1.5,+2.75	seconds since the first sample; with a unit: +1500ms,+2.75s
 *	970.25,		open at the end; `,+3` is open at the start
 *	10%-20%		of the time between the first and the last sample
 *	13:05:10.5,13:05:11	by the wall clock, in UTC, on the day of the first sample;
 *			with a date in front on another: 2026-11-21T13:05:10
 *
 * Both ends belong to the span, as in perf, so that `perf script --time` shows the same samples.
 */
#ifndef EBPREC_ANALYZE_INPUT_EVENT_TIME_SPAN_H
#define EBPREC_ANALYZE_INPUT_EVENT_TIME_SPAN_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "format/reader/capture.h"

struct time_span {
	uint64_t from_ns, to_ns; /* both included */
};

/* Everything. */
#define TIME_SPAN_ALL ((struct time_span){ .from_ns = 0, .to_ns = UINT64_MAX })

/*
 * recorded: first and last sample; NULL: not known, then only absolute seconds are understood.
 * -EBADMSG: not a span (err's offset is into text); -ENODATA: needs `recorded`; -EINVAL: ends
 * before it starts.
 */
int time_span_parse(const char *text, const struct time_span *recorded, struct time_span *out,
		    struct parse_err *err);

/* One moment on both clocks (capture_clock()). */
struct time_span_clock {
	uint64_t sample_ns, wall_ns;
};

/* Whether text speaks of the wall clock: then time_span_parse_wall() is to be asked. */
static inline bool time_span_is_wall(const char *text)
{
	return strchr(text, ':');
}
/* As time_span_parse().  clock NULL: not known, -ENODATA. */
int time_span_parse_wall(const char *text, const struct time_span *recorded,
			 const struct time_span_clock *clock, struct time_span *out,
			 struct parse_err *err);

/* From the SAMPLE_TIME feature, else from the frames.  -ENODATA: the file does not have it. */
int time_span_of_capture(const struct capture *c, struct time_span *out);

static inline bool time_span_has(const struct time_span *span, uint64_t time_ns)
{
	return time_ns >= span->from_ns && time_ns <= span->to_ns;
}

/* Whether the block can have records of the span. */
static inline bool time_span_meets(const struct time_span *span, const struct capture_block *block)
{
	return block->t_min_ns <= span->to_ns && block->t_max_ns >= span->from_ns;
}

#endif
