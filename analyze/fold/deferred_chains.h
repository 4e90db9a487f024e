/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * laterchains - user parts of stacks that came later than their samples
 *
 * With `perf record --call-graph fp,defer` (Linux 6.19) the kernel walks a user stack when the thread goes back to
 * user space, once for all samples until then.  Each of these has a marker (PERF_CONTEXT_USER_DEFERRED) and a cookie in
 * its chain; a record of its own (PERF_RECORD_CALLCHAIN_DEFERRED) brings the frames for the thread's cookie.
 *
 * Filled by one thread, then read by any.  Equal parts are kept once.
 */
#ifndef EBPREC_ANALYZE_FOLD_DEFERRED_CHAINS_H
#define EBPREC_ANALYZE_FOLD_DEFERRED_CHAINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/base/hash_index.h"
#include "format/reader/capture.h"
#include "format/perf/perfrec.h"

struct laterchains_part; /* the frames of some */
struct laterchains_key;  /* who asks for them */

/* Embedded by the owner; all zero is an empty one. */
struct laterchains {
	uint64_t *words; /* the frames of all parts */
	size_t word_count, word_capacity;
	struct laterchains_part *parts;
	size_t part_count, part_capacity;
	struct laterchains_key *keys;
	size_t key_count, key_capacity;
	struct hashidx part_index, key_index;
};

/* Where a reader has its chain put together; all zero is an empty one, free(words) its end. */
struct laterchains_room {
	uint64_t *words;
	size_t capacity;
};

/* Whether samples of any event can have such parts: then they are side-band, and needed as a whole. */
bool laterchains_any(const struct capture *c);

/* frames: u64 each, innermost first.  Of two records of one cookie the first is right.  -ENOMEM, -EOVERFLOW. */
int laterchains_add(struct laterchains *l, uint32_t tid, const struct perfrec_later *later);
void laterchains_done(struct laterchains *l);

/*
 * Puts the frames in the place of marker and cookie; the new chain lives in the room until its next use.  A sample
 * without a marker, and one whose part is not there, stays as it is.  -ENOMEM.
 */
int laterchains_join(const struct laterchains *l, struct perf_sample *sample,
		     struct laterchains_room *room);

#endif
