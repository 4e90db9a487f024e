/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * filter - which samples are asked for: by comm, pid, tid, cpu and time
 *
 * The lists are as users type them: comma-separated, cpus also as ranges (0-3).  A sample must be
 * in each list that is not empty, and within the time span and its parts.  A list that starts with '!' is of what
 * is not asked for.
 */
#ifndef EBPREC_ANALYZE_INPUT_EVENT_FILTER_H
#define EBPREC_ANALYZE_INPUT_EVENT_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/input/event/time_span.h"

struct filter {
	uint32_t *pids, *tids, *cpus; /* cpus as pairs: first, last */
	size_t pid_count, tid_count, cpu_pair_count;
	char **comms;
	size_t comm_count;
	bool not_pids, not_tids, not_cpus, not_comms; /* the list is of what is not wanted */
	bool no_idle, no_kernel_threads;
	struct time_span span;
	/*
	 * Only these parts of the span, rising and apart; none: all of it.  Set by
	 * filter_set_parts().
	 */
	struct time_span *parts;
	size_t part_count;
	uint32_t span_tid; /* the thread whose spans they are; 0: those of several, or none */
};

struct filter_error {
	char text[160]; /* one line: what was wrong with which word */
};

void filter_init(struct filter *f); /* passes everything */
void filter_done(struct filter *f);

/* Each adds to what is there, and to what is not wanted if it was so before.  -EINVAL with *error filled, -ENOMEM. */
int filter_add_pids(struct filter *f, const char *text, struct filter_error *error);
int filter_add_tids(struct filter *f, const char *text, struct filter_error *error);
int filter_add_cpus(struct filter *f, const char *text, struct filter_error *error);
int filter_add_comms(struct filter *f, const char *text, struct filter_error *error);

/*
 * Takes parts (malloc()ed, rising and apart): what of them is within the span is asked for, and the
 * span shrinks to that.  -ENOENT: nothing is.
 */
int filter_set_parts(struct filter *f, struct time_span *parts, size_t count);
bool filter_has_time(const struct filter *f, uint64_t time_ns);
/* Whether only a part of the time is asked for. */
bool filter_has_window(const struct filter *f);
/* How much of [from_ns, to_ns) is asked for. */
uint64_t filter_overlap_ns(const struct filter *f, uint64_t from_ns, uint64_t to_ns);

/* Whether nothing is asked for, so that everything passes. */
bool filter_is_empty(const struct filter *f);
/* Everything but the comm. */
bool filter_passes(const struct filter *f, uint32_t pid, uint32_t tid, int32_t cpu,
		   uint64_t time_ns);
bool filter_passes_comm(const struct filter *f, const char *comm);

#endif
