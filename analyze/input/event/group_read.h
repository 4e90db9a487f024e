/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * group_read - the counts of each event in a sample of a group
 *
 * In a group that is sampled together (perf record -e '{cycles,instructions}:S') only the leader
 * has samples, and each carries the counts of all members (PERF_SAMPLE_READ).  A member's sample is
 * what its count has grown by since the one before, and none where it has not: perf shows them in
 * this way, too.  Counts are stored by id, a member on one CPU or of one thread; of events that
 * threads inherit (perf since 6.12) by thread, too, as each counts from 0 under the same id.
 * Samples must come in the order of the file, or of time, from its beginning.
 */
#ifndef EBPREC_ANALYZE_INPUT_EVENT_GROUP_READ_H
#define EBPREC_ANALYZE_INPUT_EVENT_GROUP_READ_H

#include <stdbool.h>

#include "format/reader/capture.h"
#include "format/perf/perfrec.h"

struct group_read; /* opaque */

/* Whether samples of the event carry counts that have names. */
static inline bool group_read_are_in(const struct capture_attr *attr)
{
	return attr->attr.sample_type & PERF_SAMPLE_READ && attr->attr.read_format & PERF_FORMAT_ID;
}

/* Whether any event's do. */
bool group_read_any(const struct capture *c);

/* c is borrowed.  -ENOMEM. */
int group_read_new(const struct capture *c, struct group_read **out);
void group_read_free(struct group_read *m); /* NULL is fine */

/* Not 0: stop, and return it. */
typedef int (*group_read_fn)(void *ctx, const struct perf_sample *sample,
			     const struct capture_attr *attr);
/*
 * Calls fn with a copy of the sample for each event that it counts something of, its id and period set.
 * Counts under an id that no event has are passed over.  -ENOMEM.
 */
int group_read_each(struct group_read *m, const struct perf_sample *sample, group_read_fn fn,
		    void *ctx);

/*
 * For a copy of the file that leaves samples out: counts of a sample that stays become what they
 * would be if those left out had never counted.  Changes its bytes, which must be the caller's.
 * -ENOMEM.
 */
int group_read_rebase(struct group_read *m, const struct perf_sample *sample, bool stays);

#endif
