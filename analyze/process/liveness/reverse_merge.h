/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * reverse_merge - records of the side-band from the last to the first
 *
 * Blocks come by their latest time, the last one first, and the records of each in the order of the file.  A
 * record's turn has come when no block that is still to come can have a later one.  With equal
 * times the one that stands later in the file is the later one; those without a time are before all
 * others.  Records that wait are in memory, and are dropped after their turn: for a recording that
 * is about a flush.
 */
#ifndef EBPREC_ANALYZE_PROCESS_LIVENESS_REVERSE_MERGE_H
#define EBPREC_ANALYZE_PROCESS_LIVENESS_REVERSE_MERGE_H

#include <linux/perf_event.h>

#include "analyze/base/merge_runs.h"
#include "format/reader/capture.h"

/* A record that is held. */
struct held {
	uint64_t time_ns;
	uint64_t place; /* in the file: of two the larger one comes later */
	size_t word;    /* where it is */
};

struct held_list {
	struct held *list;
	size_t count, capacity;
};

/* Records, one behind the other. */
struct record_pile {
	uint64_t *words;
	size_t count, capacity; /* words */
};

/* Embedded by the owner; all zero is an empty one. */
struct reverse_merge {
	struct record_pile pile;
	struct held_list turn;    /* whose turn has come, from the last: read freely */
	struct held_list ready;   /* of the block read last */
	struct held_list waiting; /* a heap: that blocks still to come may have later ones than */
	struct held_list undated;
	struct record_pile moved;
	struct time_key *keys, *room;
	size_t key_capacity, room_capacity;
};

/* Room for as many bytes of records, which may turn out to be too little.  -ENOMEM. */
int reverse_merge_reserve(struct reverse_merge *t, size_t size_bytes);
/* Takes a copy of the next record of the block.  -ENOMEM. */
int reverse_merge_hold(struct reverse_merge *t, const struct record *rec, uint64_t time_ns);
/* The block has no more; no block still to come has a time later than earlier_ns, 0: nor any.  -ENOMEM. */
int reverse_merge_end_block(struct reverse_merge *t, uint64_t earlier_ns);
/* No block is to come: the turn of those without a time.  -ENOMEM. */
int reverse_merge_end(struct reverse_merge *t);
/* All whose turn had come have been seen.  -ENOMEM. */
int reverse_merge_forget(struct reverse_merge *t);
void reverse_merge_done(struct reverse_merge *t);

/* Behind the others.  -ENOMEM. */
int held_list_add(struct held_list *l, const struct held *h);
/* Copies the record; *word is where.  -ENOMEM. */
int record_pile_add(struct record_pile *p, const struct perf_event_header *header, size_t *word);

static inline const struct perf_event_header *record_pile_at(const struct record_pile *p,
							     size_t word)
{
	return (const struct perf_event_header *)(p->words + word);
}

/* For qsort(). */
int held_by_place(const void *a, const void *b);

#endif
