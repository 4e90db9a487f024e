/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * slice_border - what a slice has of the time around it
 *
 * A wait that began before a slice, or ends behind it, has an event in the slice at one end or at none, as has a
 * span of marks.  So a slice has the scheduler events and marks that decide about them in an object of its own
 * (FORMAT.md 5.6), beside the span that it is a part of: readers of perf.data do not see them, and none of them is
 * counted.  A file of a recording that goes on in several (`record --rotate`, `--ring`) has those of the time before it.
 */
#ifndef EBPREC_ANALYZE_INPUT_SLICE_BORDER_H
#define EBPREC_ANALYZE_INPUT_SLICE_BORDER_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/input/event/time_span.h"
#include "format/base/buf.h"
#include "format/payload/border_head.h"
#include "format/reader/capture.h"

struct slice_border {
	struct border_head head;
	uint8_t *data; /* owned: the object */
	size_t size_bytes;
};

/* -ENOENT: the capture has none, or that object is broken; -ENOMEM.  *out: slice_border_done(). */
int slice_border_load(const struct capture *c, struct slice_border *out);
void slice_border_done(struct slice_border *b); /* all zero is fine */

/* The record at *at, which is 0 first, and moves behind it; NULL: the end. */
const struct perf_event_header *slice_border_next(const struct slice_border *b, size_t *at);

/* The object's beginning, into an empty buffer; records follow, by buf_add().  -ENOMEM. */
int slice_border_begin(struct buf *to, const struct border_head *head);

#endif
