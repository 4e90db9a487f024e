/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * sideslice - of the side-band only what a slice of the samples needs
 *
 * A second of a long capture has samples of a few processes, and the side-band is of all there ever
 * were.  So the samples of the slice are looked through for their processes, by a thread beside the
 * one that reads the side-band; meanwhile records that speak of a process are held.  Then those are
 * given out, in the order they came, that are of such a process, or of one it descends from (kin).
 * All others would change nothing that is asked about.  The samples are kept, to be counted.
 */
#ifndef EBPREC_ANALYZE_SIDESLICE_H
#define EBPREC_ANALYZE_SIDESLICE_H

#include <linux/perf_event.h>
#include <stdbool.h>

#include "analyze/keptframes.h"
#include "analyze/timespan.h"
#include "format/capture.h"

struct sideslice; /* opaque */

/* Whether the slice is so small, and the side-band not too large, that this saves time. */
bool sideslice_is_worth(const struct capture *c, const struct timespan *span);
/* Begins to look through the samples.  c and span are borrowed.  -ENOMEM. */
int sideslice_new(const struct capture *c, const struct timespan *span, struct sideslice **out);
void sideslice_free(struct sideslice *s); /* NULL is fine */
/* After sideslice_each_wanted(): moves the samples to *out, keptframes_done(). */
void sideslice_take_samples(struct sideslice *s, struct keptframes *out);

/* Whether a record of the side-band says something of one process, and nothing else. */
bool sideslice_is_of_process(const struct perf_event_header *header);
/* Takes a copy of such a record.  -ENOMEM, -EOVERFLOW. */
int sideslice_hold(struct sideslice *s, const struct record *rec);
/*
 * When all are held: gives out those that are needed, until see() fails.  What see() returned, -ENOMEM,
 * -EOVERFLOW, or what failed when samples were looked through.
 */
int sideslice_each_wanted(struct sideslice *s,
			  int (*see)(void *ctx, const struct perf_event_header *header), void *ctx);

#endif
