/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * sampler - turns samples into counted stacks of places
 *
 * The hot path: everything here is done once a sample.  Addresses become places at once (so that
 * short-lived processes, each with its own address layout, share their stacks), names come later.
 *
 * A stack that was seen before in the same space and group, address by address, is one look-up.
 * Else its places are found by the last mappings of its space, and hashed from the root on.  What another
 * process with the same program was seen in is found by these hashes at once, however its addresses differ.
 * So are the nodes of a stack that is new: what has to be looked up is the innermost frame, its caller if
 * that is new, and so on as far out as there is anything new.
 *
 * One sampler is used by one thread; they share the sealed model.
 */
#ifndef EBPREC_ANALYZE_FOLD_STACK_COUNTER_H
#define EBPREC_ANALYZE_FOLD_STACK_COUNTER_H

#include <stdint.h>

#include "analyze/fold/symbol_buckets.h"
#include "analyze/fold/groups.h"
#include "analyze/process/process_model.h"
#include "analyze/fold/locations.h"
#include "analyze/fold/stack_table.h"
#include "format/perf/perfrec.h"
#include "format/unwind/stack_result.h"

/* A comm that is not known is this bit and the thread id. */
#define SAMPLER_TID_GROUP 0x80000000u

/* The end of a stack is its enum unwind_why and 1, or this where nobody told. */
#define SAMPLER_END_UNKNOWN 0u

struct sampler_counts {
	uint64_t samples;
	uint64_t without_chain;   /* one frame, made from the sample's ip */
	uint64_t deferred;        /* the user part was to come later (PERF_CONTEXT_USER_DEFERRED) */
	uint64_t frames_left_out; /* of chains that change context more than eight times */
	uint64_t unknown_contexts; /* markers that we do not know, stepped over */
};

/* What the samples of a group are worth together. */
struct sampler_sum {
	uint64_t sample_count, period_sum;
};

struct sampler; /* opaque */

/*
 * model must be sealed, and outlive the sampler, as must groups and parts, which may be shared; without
 * groups (NULL) the group of a stack is its comm.  parts: see mapcache_new().  few: for some 10 000 samples, so that clearing the
 * caches would take longer than they save.  -ENOMEM.
 */
int sampler_new(const struct model *model, struct groups *groups, struct codeparts_set *parts,
		bool few, struct sampler **out);
/*
 * From the first sample on: stacks are those of all groups together, and what each group has is only
 * summed up.  Many groups of few samples each so need no room for their stacks.
 */
void sampler_sum_groups(struct sampler *s);
void sampler_free(struct sampler *s); /* NULL is fine */

/* What model_thread() says of the sample's thread; to be given to sampler_put(). */
void sampler_where(struct sampler *s, const struct perf_sample *sample, struct model_where *out);
/*
 * Takes one sample, to be counted with others by sampler_flush() at the latest; until then its chain
 * must stay where it is.  info: how its stack was found; NULL: not known.  -ENOMEM, -EOVERFLOW.
 */
int sampler_put(struct sampler *s, const struct perf_sample *sample,
		const struct model_where *where, const struct stackinfo *info);
/* Counts all that were taken; to be called before any table is read.  After a failure s is unusable. */
int sampler_flush(struct sampler *s);
/* Counts one at once: a stack that need not have frames, and whose end means something to the caller. */
int sampler_add_wait(struct sampler *s, const struct perf_sample *sample,
		     const struct model_where *where, uint32_t end);
/*
 * Takes from, and adds all that it has counted to s: its places at once, its stacks by sampler_settle().
 * Neither may be finished, nor count any more.  -ENOMEM, -EOVERFLOW.
 */
int sampler_join(struct sampler *s, struct sampler *from);
/*
 * Once all were joined: gives back what only counting needs, and orders the places: places_sort().  From here
 * on they are only read.  -ENOMEM: in no order.
 */
int sampler_finish(struct sampler *s);
/*
 * Makes one table of the stacks of all that were joined, in several threads; before that they may not be asked
 * for.  What is not the stacks' may be read meanwhile.  -ENOMEM, -EOVERFLOW: some are missing.
 */
int sampler_settle(struct sampler *s);

/* Moves them to *out, stacks_done(); in s they are none then. */
void sampler_take_stacks(struct sampler *s, struct stacks *out);
/* Borrowed; valid until the sampler changes. */
const struct stacks *sampler_stacks(const struct sampler *s);
const struct places *sampler_places(const struct sampler *s);
/*
 * Of a finished one: says that the place is no return address, in whatever stack.  false: it was none, or
 * not in a file.
 */
bool sampler_make_exact(struct sampler *s, size_t place);
/* By number of the group; count: 0 without sampler_sum_groups(), and groups beyond it have nothing. */
const struct sampler_sum *sampler_sums(const struct sampler *s, size_t *count);
const struct sampler_counts *sampler_counts(const struct sampler *s);

#endif
