/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * aggregate - rows of a table, added up by what they are about
 *
 * The name of a field decides how it adds up: hist_* and plain numbers add, of max_* the largest
 * stays, now_* is the value of the last interval, is_* that of the last row.  Keys and texts that
 * are not part of the group keep the last value; the comm of a process is that of its first thread,
 * where there is a row of it.
 */
#ifndef EBPREC_ANALYZE_METRIC_AGGREGATE_H
#define EBPREC_ANALYZE_METRIC_AGGREGATE_H

#include "format/base/hash_index.h"
#include "analyze/metric/rows.h"

#define METRIC_AGGREGATE_KEYS_MAX 8

struct metric_group {
	uint64_t time_ns;      /* of the last row */
	uint64_t rows;         /* how many */
	uint64_t now_interval; /* that the now_* are of, and 1 */
	uint32_t pid, tid;     /* of the last row */
	bool comm_is_leaders;
};

/* Read freely. */
struct metric_aggregate {
	const struct metric_table *table;
	uint32_t keys[METRIC_AGGREGATE_KEYS_MAX]; /* slots that make the group */
	size_t key_count;
	bool each; /* every row is a group of its own */
	struct metric_group *groups;
	size_t count, capacity;
	uint64_t *slots; /* table->slot_count for each group */
	size_t slot_capacity;
	struct hash_index index;
	uint64_t from_ns, to_ns; /* that the rows cover; both 0: none */
	uint64_t last_interval;  /* and 1 */
};

/* keys: slots.  Done also after a failure. */
void metric_aggregate_init(struct metric_aggregate *s, const struct metric_table *t,
			   const uint32_t *keys, size_t key_count, bool each);
void metric_aggregate_done(struct metric_aggregate *s);
/* -ENOMEM, -EOVERFLOW. */
int metric_aggregate_add(struct metric_aggregate *s, const struct metric_row *r);
/* All rows are in: what no longer was in the last interval is no more. */
void metric_aggregate_finish(struct metric_aggregate *s);
const uint64_t *metric_aggregate_slots(const struct metric_aggregate *s, size_t group);
/* The group that slots of the table are of; HASH_INDEX_NONE: there is none. */
uint32_t metricsum_find(const struct metric_aggregate *s, const uint64_t *slots);
/* The same, coarser: groups of from by fewer keys.  -ENOMEM. */
int metric_aggregate_fold(const struct metric_aggregate *from, const uint32_t *keys,
			  size_t key_count, struct metric_aggregate *out);

#endif
