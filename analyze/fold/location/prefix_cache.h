/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * prefix_cache - the callers that the last stack of a space had, and their paths
 *
 * The next stack of a process mostly begins alike, and an address means the same place there at all
 * times.  So the paths (stack_table.h) of outermost callers that did not change are taken over, and only those
 * further in have to be found.
 *
 * Its size is fixed; it only saves time.  Used by one thread.
 */
#ifndef EBPREC_ANALYZE_FOLD_LOCATION_PREFIX_CACHE_H
#define EBPREC_ANALYZE_FOLD_LOCATION_PREFIX_CACHE_H

#include "analyze/fold/location/callchain.h"

#define PREFIX_CACHE_FRAMES 128u /* the outermost ones, of longer stacks */

struct prefix {
	uint32_t space, root;
	enum location_kind kind;
	uint32_t count;                      /* 0: free */
	uint64_t addrs[PREFIX_CACHE_FRAMES]; /* as in a chain, at the end: the last is outermost */
	uint64_t paths[PREFIX_CACHE_FRAMES]; /* at the beginning, outermost first */
};

struct prefix_cache; /* opaque */

/* -ENOMEM. */
int prefix_cache_new(struct prefix_cache **out);
void prefix_cache_free(struct prefix_cache *t); /* NULL is fine */

/*
 * The prefix of the run's address space, below this root of the stacks; NULL: it has none.  Until
 * another one is asked for.
 */
struct prefix *prefix_cache_of(struct prefix_cache *t, const struct callchain_run *run,
			       uint32_t root);
/*
 * Returns how many of the outermost callers are those of the prefix, which is this run's from now
 * on.  The innermost frame is never among them: it is no return address, and so another place.
 */
size_t prefix_follow(struct prefix *prefix, const struct callchain_run *run);
/*
 * Puts the paths of these callers to paths[0] and on, and afterwards takes those of the others from there.
 * Each run that followed a prefix must do both, before or after others follow it, in the same order
 * as they.
 */
void prefix_take(const struct prefix *prefix, size_t known, uint64_t *paths);
void prefix_leave(struct prefix *prefix, const struct callchain_run *run, const uint64_t *paths,
		  size_t known);

#endif
