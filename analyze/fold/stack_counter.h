/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * stack_counter - turns samples into counted stacks of places
 *
 * The hot path: everything here is done once a sample.  Addresses become places at once (so that
 * short-lived processes, each with its own address layout, share their stacks), names come later.
 *
 * A stack that was seen before in the same address space and group, address by address, is one
 * look-up.  Else its places are found by the last mappings of its space, and hashed from the root
 * on.  A location of another process with the same program is found by these hashes at once,
 * however its addresses differ.  So are the nodes of a stack that is new: only the innermost frame
 * is looked up, its caller if that is new, and so on as long as callers are new.
 *
 * One sampler is used by one thread; they share the sealed model.
 */
#ifndef EBPREC_ANALYZE_FOLD_STACK_COUNTER_H
#define EBPREC_ANALYZE_FOLD_STACK_COUNTER_H

#include <stdint.h>

#include "analyze/fold/location/symbol_buckets.h"
#include "analyze/fold/groups.h"
#include "analyze/process/process_model.h"
#include "analyze/fold/location/locations.h"
#include "analyze/fold/stack_table.h"
#include "format/perf/perfrec.h"
#include "format/unwind/stack_result.h"

/* A comm that is not known is this bit and the thread id. */
#define STACK_COUNTER_TID_GROUP 0x80000000u

/* The end of a stack is its enum unwind_why and 1, or this where it is not recorded; */
#define STACK_COUNTER_END_UNKNOWN 0u
/* from bit 8 on, the enum runtime_why of the frames that an interpreted program lacks. */
#define STACK_COUNTER_END_BITS 8
#define STACK_COUNTER_END_MASK 255u

static inline uint32_t stack_counter_end(const struct stack_result *info)
{
	uint32_t runtime = info->flags >> STACK_RESULT_RUNTIME_SHIFT & STACK_RESULT_RUNTIME_MASK;

	return (1u + info->why) | runtime << STACK_COUNTER_END_BITS;
}

struct stack_counter_counts {
	uint64_t samples;
	uint64_t without_chain;   /* one frame, made from the sample's ip */
	uint64_t deferred;        /* the user part was to come later (PERF_CONTEXT_USER_DEFERRED) */
	uint64_t frames_left_out; /* of chains that change context more than eight times */
	uint64_t unknown_contexts; /* markers that we do not know, stepped over */
};

/* The sum of the samples of a group. */
struct stack_counter_sum {
	uint64_t sample_count, period_sum;
};

struct stack_counter; /* opaque */

/*
 * model must be sealed, and outlive the sampler, as must groups and parts, which may be shared; without
 * groups (NULL) the group of a stack is its comm.  parts: see mapping_cache_new().  few: for some 10 000 samples, so that clearing the
 * caches would take longer than they save.  -ENOMEM.
 */
int stack_counter_new(const struct process_model *model, struct groups *groups,
		      struct symbol_buckets_set *parts, bool few, struct stack_counter **out);
/*
 * From the first sample on: stacks are those of all groups together, and what each group has is only
 * summed up.  Many groups of few samples each so need no room for their stacks.
 */
void stack_counter_sum_groups(struct stack_counter *s);
/* From the first sample on: the stacks have each sample besides. */
void stack_counter_keep_samples(struct stack_counter *s);
void stack_counter_free(struct stack_counter *s); /* NULL is fine */

/*
 * The answer of process_model_thread() for the sample's thread; to be given to stack_counter_put().
 */
void stack_counter_where(struct stack_counter *s, const struct perf_sample *sample,
			 struct process_model_where *out);
/*
 * Takes one sample, to be counted with others by stack_counter_flush() at the latest; until then its chain
 * must stay where it is.  info: how its stack was found; NULL: not known.  -ENOMEM, -EOVERFLOW.
 */
int stack_counter_put(struct stack_counter *s, const struct perf_sample *sample,
		      const struct process_model_where *where, const struct stack_result *info);
/* Counts all that were taken; to be called before any table is read.  After a failure s is unusable. */
int stack_counter_flush(struct stack_counter *s);
/* Counts one at once, as so many samples: a stack that need not have frames, whose end is the caller's. */
int stack_counter_add_wait(struct stack_counter *s, const struct perf_sample *sample,
			   const struct process_model_where *where, uint32_t end, uint64_t count);
/*
 * Takes from, and adds all that it has counted to s: its places at once, its stacks by stack_counter_settle().
 * Neither may be finished, nor count any more.  -ENOMEM, -EOVERFLOW.
 */
int stack_counter_join(struct stack_counter *s, struct stack_counter *from);
/*
 * Once all were joined: gives back what only counting needs, and orders the places: locations_sort().  From here
 * on they are only read.  -ENOMEM: in no order.
 */
int stack_counter_finish(struct stack_counter *s);
/*
 * Makes one table of the stacks of all that were joined, in several threads; before that they may not be asked
 * for.  Data that is not the stacks' may be read meanwhile.  -ENOMEM, -EOVERFLOW: some are missing.
 */
int stack_counter_settle(struct stack_counter *s);

/* Moves them to *out, stack_table_done(); in s they are none then. */
void stack_counter_take_stacks(struct stack_counter *s, struct stack_table *out);
/* Borrowed; valid until the sampler changes. */
const struct stack_table *stack_counter_stacks(const struct stack_counter *s);
const struct locations *stack_counter_places(const struct stack_counter *s);
/*
 * Marks in a finished one that the location is no return address, in whatever stack.  false: it was
 * none, or not in a file.
 */
bool stack_counter_make_exact(struct stack_counter *s, size_t place);
/* By number of the group; count: 0 without stack_counter_sum_groups(), and groups beyond it have nothing. */
const struct stack_counter_sum *stack_counter_sums(const struct stack_counter *s, size_t *count);
const struct stack_counter_counts *stack_counter_counts(const struct stack_counter *s);

#endif
