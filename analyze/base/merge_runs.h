/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * merge_runs - the order of records by time
 *
 * Each CPU has a ring of its own, so a file has runs of records, and each run is in order.  Runs
 * are merged, pair by pair, until all is one run.
 */
#ifndef EBPREC_ANALYZE_BASE_MERGE_RUNS_H
#define EBPREC_ANALYZE_BASE_MERGE_RUNS_H

#include <stddef.h>
#include <stdint.h>

struct time_key {
	uint64_t time_ns;
	uint64_t index; /* the caller's */
};

/* Sorts by time, equal times as they are.  room is as large.  Either keys or room: where it ended. */
struct time_key *merge_runs(struct time_key *keys, struct time_key *room, size_t count);

#endif
