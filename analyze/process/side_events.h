/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * sidekept - what records of the side-band said, in numbered places, until it is given out by time
 *
 * Who reads from the last record to the first makes events of those that may matter, and the numbers of files
 * in the order of that.  In the end what did not matter is dropped, files are numbered as if only the rest had
 * been read, from the first on, and the events are given out; they get fewer while what is made of them grows.
 */
#ifndef EBPREC_ANALYZE_PROCESS_SIDE_EVENTS_H
#define EBPREC_ANALYZE_PROCESS_SIDE_EVENTS_H

#include "analyze/process/side_queue.h"

struct sidekept_event {
	struct side_event event;
	uint64_t place; /* in the file: of two the larger one comes later */
};

/* Embedded by the owner; all zero is an empty one. */
struct sidekept {
	struct sidekept_event *list;
	size_t count, capacity;
};

/* In the place of another, or with the next number behind all.  event: NULL for none; copied.  -ENOMEM. */
int sidekept_put(struct sidekept *l, uint32_t number, const struct side_event *event,
		 uint64_t place);
/* These numbers did not matter; the others are not what they were from here on. */
void sidekept_drop(struct sidekept *l, const uint32_t *numbers, size_t count);

/* As filetab_choose(). */
typedef int (*sidekept_choose_fn)(void *ctx, const uint32_t *order, size_t count,
				  uint32_t *numbers);
/* Files by the first place where they are mapped.  -ENOMEM, or what choose() returned. */
int sidekept_number_files(struct sidekept *l, sidekept_choose_fn choose, void *ctx);
/* All by time, equal times by place, and forgets them.  What give() returned. */
int sidekept_give(struct sidekept *l, sidelog_fn give, void *ctx);
void sidekept_done(struct sidekept *l);

#endif
