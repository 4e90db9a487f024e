/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * order - the scheduler events of a capture, in order of time
 *
 * Blocks of ours have their first and last time, so they are read in the order of their beginnings,
 * and an event is passed on when no block can bring an earlier one: the blocks that overlap are
 * held meanwhile.  When the recording's switches began and ended has to be known before the first
 * event; the blocks at both ends have it.  All that is compared with the events that follow: where
 * a block has an event of another time, or one that cannot be read, the walk ends with -EAGAIN.
 * The caller begins anew with `all`: all events are read before the first is passed on, as is
 * always done with perf's own files, which have no information about their order.
 *
 * A slice has events around it in an object of its own (analyze/input/slice_border.h): they come with the others.
 *
 * Stacks stay in the capture.  Each has a number, by which sched_order_stacks() passes it later.
 */
#ifndef EBPREC_ANALYZE_SCHED_ORDER_H
#define EBPREC_ANALYZE_SCHED_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/input/event/time_span.h"
#include "analyze/sched/event.h"
#include "analyze/base/string_table.h"
#include "format/reader/capture.h"
#include "format/perf/perfrec.h"

struct sched_order_facts {
	uint64_t start_ns,
		end_ns; /* of the recording's beginning, or its first switch, and of the last one; of a slice, those of its source */
	bool has_switches, has_wakeups;
	bool has_all; /* these are of all events: */
	/* Events outside of it are there only as far as they decide about states in it: a slice; else all. */
	struct time_span complete;
	uint64_t lost;   /* missing, as the capture has it */
	uint64_t broken; /* records that do not fit their format: left out */
};

struct sched_order; /* opaque */
struct slice_border;

/* The names are borrowed until sched_order_free().  all: see above.  -ENOMEM, -EOVERFLOW. */
int sched_order_open(const struct capture *c, struct string_table *names, bool all,
		     struct sched_order **out);
void sched_order_free(struct sched_order *f); /* NULL is fine */

/* NULL: no slice. */
const struct slice_border *sched_order_border(const struct sched_order *f);
const struct sched_order_facts *sched_order_facts(const struct sched_order *f);
/* How many events are missing, when so many are of each event of the capture. */
uint64_t sched_order_lost_of(const struct sched_order *f, const uint64_t *lost_by_attr);

/*
 * Passes on each event, once; equal times as they are in the file.  number: 0, 1, 2...  What fn returns
 * ends the walk when it is not 0.  -EAGAIN: see above; -ENOMEM, -EOVERFLOW.
 */
int sched_order_walk(struct sched_order *f,
		     int (*fn)(void *ctx, const struct sched_event *e, uint32_t number), void *ctx);

/*
 * How many samples of each event of the capture are in blocks of scheduler events, whatever they are of; the
 * last one beyond the events: of none.  After the walk; NULL: they were read with others.
 */
const uint64_t *sched_order_samples(const struct sched_order *f);
/* How many stacks were met so far: their numbers are smaller. */
uint32_t sched_order_stack_count(const struct sched_order *f);

/* The callbacks that take stacks. */
struct sched_order_taker {
	/* Whether one of these is wanted: else they may be left out. */
	bool (*wants)(void *ctx, uint32_t first, uint32_t count);
	/* A switch that has one, as it is in the file, of that event; not 0 ends all and is returned. */
	int (*take)(void *ctx, const struct sched_event *e, struct perf_sample *sample,
		    const struct capture_attr *attr);
	void *ctx;
};

/* After the walk, in the order of the file. */
int sched_order_stacks(struct sched_order *f, const struct sched_order_taker *taker);

#endif
