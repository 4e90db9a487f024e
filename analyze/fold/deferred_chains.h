/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * deferred_chains - user parts of stacks that came later than their samples
 *
 * With `perf record --call-graph fp,defer` (Linux 6.19) the kernel walks a user stack when the thread goes back to
 * user space, once for all samples until then.  Each of these has a marker (PERF_CONTEXT_USER_DEFERRED) and a cookie in
 * its chain; a record of its own (PERF_RECORD_CALLCHAIN_DEFERRED) brings the frames for the thread's cookie.
 *
 * Filled by one thread, then read by any.  Equal parts are stored once.
 */
#ifndef EBPREC_ANALYZE_FOLD_DEFERRED_CHAINS_H
#define EBPREC_ANALYZE_FOLD_DEFERRED_CHAINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/base/hash_index.h"
#include "format/reader/capture.h"
#include "format/perf/perfrec.h"

struct deferred_chains_part; /* the frames of some */
struct deferred_chains_key;  /* the thread and cookie that ask for them */

/* Embedded by the owner; all zero is an empty one. */
struct deferred_chains {
	uint64_t *words; /* the frames of all parts */
	size_t word_count, word_capacity;
	struct deferred_chains_part *parts;
	size_t part_count, part_capacity;
	struct deferred_chains_key *keys;
	size_t key_count, key_capacity;
	struct hash_index part_index, key_index;
};

/* Where a reader has its chain put together; all zero is an empty one, free(words) its end. */
struct deferred_chains_room {
	uint64_t *words;
	size_t capacity;
};

/*
 * Whether samples of any event can have such parts: then they are side-band, and all of them are
 * needed.
 */
bool deferred_chains_any(const struct capture *c);

/*
 * frames: u64 each, innermost first.  When two records have one cookie the first is right.
 * -ENOMEM, -EOVERFLOW.
 */
int deferred_chains_add(struct deferred_chains *l, uint32_t tid, const struct perfrec_later *later);
void deferred_chains_done(struct deferred_chains *l);

/*
 * Puts the frames in the place of marker and cookie; the new chain lives in the room until its next use.  A sample
 * without a marker, and one whose part is not there, stays as it is.  -ENOMEM.
 */
int deferred_chains_join(const struct deferred_chains *l, struct perf_sample *sample,
			 struct deferred_chains_room *room);

#endif
