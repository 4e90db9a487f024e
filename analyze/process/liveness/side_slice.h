/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * side_slice - of the side-band only what a slice of the samples needs
 *
 * A second of a long capture has samples of a few processes, and the side-band is of all there ever
 * were; most programs that live for milliseconds have no sample at all.  So the samples of the
 * slice, or all of them, are looked through for their threads, by a thread beside the one that
 * reads the side-band.  The side-band is read from its last block to its first, in the order of
 * time: blocks have their first and last time, so a record's turn has come when no block before can
 * have a later one.  It is stored if it matters to the samples (liveness), and dropped else; so
 * memory is as large as what the slice needs, however long the side-band.  In the end the stored
 * events are given out in the order of time. Where the samples are few, they are stored as well, to
 * be counted.
 */
#ifndef EBPREC_ANALYZE_PROCESS_LIVENESS_SIDE_SLICE_H
#define EBPREC_ANALYZE_PROCESS_LIVENESS_SIDE_SLICE_H

#include <linux/perf_event.h>
#include <stdbool.h>

#include "analyze/input/event/block_cache.h"
#include "analyze/process/liveness/side_events.h"
#include "analyze/input/event/time_span.h"
#include "format/reader/capture.h"

struct side_slice; /* opaque */

/* Whether the slice has so few samples that this saves time. */
bool side_slice_is_worth(const struct capture *c, const struct time_span *span);
/* Begins to look through the samples.  c and span are borrowed.  -ENOMEM. */
int side_slice_new(const struct capture *c, const struct time_span *span, struct side_slice **out);
void side_slice_free(struct side_slice *s); /* NULL is fine */

/* Before reading: all records of this process are needed, whenever they were.  -ENOMEM, -EOVERFLOW. */
int side_slice_keep(struct side_slice *s, uint32_t pid);
/* The events that are needed are given out to these, until one fails. */
struct side_slice_calls {
	void *ctx;
	/* Whether the record makes no event, whatever comes before it: a broken one does not. */
	bool (*is_void)(void *ctx, const struct record *rec);
	/* A record that only counts something, or is void: in no order. */
	int (*see)(void *ctx, const struct record *rec);
	/*
	 * Makes the event of another record; it is borrowed.  -ENOENT: none.  Those of no process
	 * come in the order of the file.
	 */
	int (*make)(void *ctx, const struct record *rec, struct side_event *out);
	side_events_choose_fn choose;
	/* Gets the events, after all records, by time and in the order of the file. */
	side_queue_fn give;
};

/*
 * Call it once.  The error of a call, -ENOMEM, -EOVERFLOW; -ESTALE: a block has wrong times, so
 * that the entire side-band has to be read anew.
 */
int side_slice_read(struct side_slice *s, const struct side_slice_calls *calls);
uint32_t side_slice_damage(const struct side_slice *s); /* blocks of the side-band */
/* After side_slice_read(): moves the samples to *out, block_cache_done(); none where they are many. */
void side_slice_take_samples(struct side_slice *s, struct block_cache *out);

#endif
