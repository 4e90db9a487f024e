/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * collector - ends an interval of the tables, in a thread of its own
 *
 * On a busy machine that takes a second and more, nearly all of it waiting: for the kernel's grace
 * period, and for a CPU after each of hundreds of system calls.  Meanwhile the rings have to be emptied.
 * So the thread puts the rows into a queue, and the recording's own thread writes them.
 */
#ifndef EBPREC_RECORD_METRIC_INTERVAL_COLLECTOR_H
#define EBPREC_RECORD_METRIC_INTERVAL_COLLECTOR_H

#include "record/metric/proc_counters.h"
#include "record/metric/bpf_object.h"

struct collector; /* opaque */

/* Where rows come from; borrowed, and left alone while the thread collects. */
struct collector_sources {
	struct metrictabs *tabs;
	const struct metricobj *objs;
	size_t obj_count;
	struct counters *counters; /* NULL: none */
	bool no_thread;            /* without BPF there is nothing to wait for */
};

struct collected {
	struct rowqueue rows;
	uint64_t end_ns; /* of their interval */
};

/* The first interval begins at since_ns.  errno of the maps that it needs.  *out: collector_free(). */
int collector_new(const struct collector_sources *sources, uint64_t since_ns,
		  struct collector **out);
void collector_free(struct collector *c); /* NULL is fine; waits for the thread */

/* When the interval that is not ended yet began. */
uint64_t collector_since_ns(struct collector *c);
/* Ends it.  False: the one before has not been taken yet. */
bool collector_start(struct collector *c);
/*
 * What was collected, to be written and given back; NULL: nothing yet.  wait: until what was started
 * is there.  *err is the thread's; the rows are whole only if it is 0.
 */
struct collected *collector_take(struct collector *c, bool wait, int *err);
void collector_give_back(struct collector *c);

#endif
