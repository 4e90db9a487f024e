/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * interval_collector - ends an interval of the tables, in a thread of its own
 *
 * On a busy machine that takes a second and more, nearly all of it waiting: for the kernel's grace
 * period, and for a CPU after each of hundreds of system calls.  Meanwhile the rings have to be emptied.
 * So the thread puts the rows into a queue, and the recording's own thread writes them.
 */
#ifndef EBPREC_RECORD_METRIC_INTERVAL_COLLECTOR_H
#define EBPREC_RECORD_METRIC_INTERVAL_COLLECTOR_H

#include "record/metric/proc_counters.h"
#include "record/metric/bpf_object.h"

struct interval_collector; /* opaque */

/* Where rows come from; borrowed, and left alone while the thread collects. */
struct interval_collector_sources {
	struct metric_tables *tabs;
	const struct metric_object *objs;
	size_t obj_count;
	struct proc_counters *counters; /* NULL: none */
	bool no_thread;                 /* without BPF there is nothing to wait for */
};

/* A failure at the end of an interval.  All of `rows` is right nevertheless. */
struct collect_error {
	char what[80];
	int err;
};

#define COLLECT_ERRORS_MAX 8

struct collected {
	struct row_queue rows;
	uint64_t end_ns; /* of their interval */
	struct collect_error errors[COLLECT_ERRORS_MAX];
	size_t error_count;
};

/* The first interval begins at since_ns.  errno of the maps that it needs.  *out: interval_collector_free(). */
int interval_collector_new(const struct interval_collector_sources *sources, uint64_t since_ns,
			   struct interval_collector **out);
void interval_collector_free(struct interval_collector *c); /* NULL is fine; waits for the thread */

/* When the interval that is not ended yet began. */
uint64_t interval_collector_since_ns(struct interval_collector *c);
/* Ends it.  False: the one before has not been taken yet. */
bool interval_collector_start(struct interval_collector *c);
/*
 * The collected rows, to be written and given back; NULL: none yet.  wait: until a started
 * collection ends.
 */
struct collected *interval_collector_take(struct interval_collector *c, bool wait);
void interval_collector_give_back(struct interval_collector *c);

#endif
