/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * side_events - events from side-band records, in numbered slots, until they are given out by time
 *
 * A caller that reads from the last record to the first makes events of those that may matter, and
 * numbers files in that order.  In the end events that did not matter are dropped, files are
 * numbered as if only the rest had been read, from the first on, and the events are given out; they
 * get fewer while what is made of them grows.
 */
#ifndef EBPREC_ANALYZE_PROCESS_LIVENESS_SIDE_EVENTS_H
#define EBPREC_ANALYZE_PROCESS_LIVENESS_SIDE_EVENTS_H

#include "analyze/process/side_queue.h"

struct side_events_event {
	struct side_event event;
	uint64_t place; /* in the file: of two the larger one comes later */
};

/* Embedded by the owner; all zero is an empty one. */
struct side_events {
	struct side_events_event *list;
	size_t count, capacity;
};

/* In the place of another, or with the next number behind all.  event: NULL for none; copied.  -ENOMEM. */
int side_events_put(struct side_events *l, uint32_t number, const struct side_event *event,
		    uint64_t place);
/* These numbers did not matter; the others are not what they were from here on. */
void side_events_drop(struct side_events *l, const uint32_t *numbers, size_t count);

/* As file_table_choose(). */
typedef int (*side_events_choose_fn)(void *ctx, const uint32_t *order, size_t count,
				     uint32_t *numbers);
/* Files by the first place where they are mapped.  -ENOMEM, or what choose() returned. */
int side_events_number_files(struct side_events *l, side_events_choose_fn choose, void *ctx);
/*
 * Gives out all by time, equal times by slot, and drops them.  Returns the last result of give().
 */
int side_events_give(struct side_events *l, side_queue_fn give, void *ctx);
void side_events_done(struct side_events *l);

#endif
