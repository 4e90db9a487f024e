/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * border - the events around a span that decide about the states of threads in it
 *
 * For each thread: the last switch from a CPU and the last to one before the span, and the first wakeup behind the
 * former; for each CPU: the last switch.  Behind the span, of each thread the first switch from a CPU, the first to one and
 * the first wakeup.  Besides, the end of a thread, or its fork, that would seem to be there by one of these
 * switches.  Other events of these times change no state within the span.
 */
#ifndef EBPREC_ANALYZE_SCHED_BORDER_H
#define EBPREC_ANALYZE_SCHED_BORDER_H

#include "analyze/input/event/time_span.h"
#include "format/base/buf.h"
#include "format/reader/capture.h"

/* The object of a slice of that span (analyze/input/slice_border.h), into an empty buffer.  -ENOMEM, -EOVERFLOW. */
int sched_border_make(const struct capture *c, const struct time_span *span, struct buf *out);

#endif
