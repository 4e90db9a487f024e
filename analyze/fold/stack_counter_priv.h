/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* stack_counter_priv - shared by counting (stack_counter.c) and set-up (stack_counter_new.c) */
#ifndef EBPREC_ANALYZE_FOLD_STACK_COUNTER_PRIV_H
#define EBPREC_ANALYZE_FOLD_STACK_COUNTER_PRIV_H

#include "analyze/fold/location/mapping_cache.h"
#include "analyze/fold/stack_counter.h"
#include "analyze/fold/location/prefix_cache.h"
#include "analyze/fold/thread_cache.h"

#define STACK_COUNTER_BATCH 128u

#define STACK_COUNTER_STACK_SLOTS (1u << 17)

/*
 * An entire stack of a group that was seen, by 64 bits of hash, as nodes are distinguished by those
 * of their paths.  The hash has the key of the stacks (stack_table.h), so that no file can be made
 * in which two are taken for one.
 */
struct stack_slot {
	uint64_t hash;
	uint32_t entry; /* + 1; 0: free */
};

/* Frames of one context of a sample, and what is known of them. */
struct run {
	struct callchain_run cut;
	const struct run *outer; /* that it was called from, in the same tree; NULL: the root */
	bool is_user;
	struct prefix *prefix; /* NULL: none */
	size_t followed;       /* outermost frames that are the prefix's */
	size_t step;           /* the first of the others' */
	size_t path;           /* where its frames' paths are, outermost first */
	uint32_t known;        /* outermost frames that have a node */
	uint32_t node;         /* of the innermost frame that has one */
};

/* A frame, before its place is folded. */
struct step {
	struct location place;
	struct symbol_buckets_range range;
};

/* A frame that has no node yet. */
struct want {
	struct location place;
	uint64_t hash; /* of the place */
	uint32_t run;
	uint32_t depth; /* in its run; 0: outermost */
};

/* A sample of the batch. */
struct item {
	const uint8_t *chain; /* borrowed until the batch is counted */
	size_t chain_count;
	uint8_t ip[8]; /* in place of a chain */
	uint64_t period, hash;
	uint64_t time_ns; /* with keeps_samples */
	int32_t cpu;      /* likewise */
	struct stack_table_key key;
	struct stack_slot *slot; /* NULL: no entire stack to look for */
	struct callchain_context context;
	uint32_t entry; /* + 1; 0: not known yet */
	uint64_t hash_of_entry;
	uint32_t same;                /* + 1: the sample of the batch with the same stack */
	uint32_t first_run, last_run; /* of a stack that is looked up: [first, last) */
	bool bare;
};

struct stack_counter {
	unsigned shrink; /* caches have 1 / 2^shrink of their slots */
	bool sums_groups, keeps_samples;
	struct stack_counter_sum *sums; /* by group */
	size_t sum_count, sum_capacity;
	struct stack_table stacks;
	struct locations places;
	struct stack_counter **joined; /* whose stacks are still to be added; owned */
	size_t joined_count, joined_capacity;
	uint32_t *numbers;   /* what the places of its stacks are now; NULL: the same */
	size_t number_count; /* of the counter that is joined */
	struct stack_counter_counts counts;
	struct mapping_cache *maps;
	struct thread_cache *whose;
	struct prefix_cache *prefixes;
	struct stack_slot *stack_slots; /* NULL: it counts no more */
	struct item *items;
	size_t item_count;
	uint8_t missed[STACK_COUNTER_BATCH]; /* items whose stack no look-up has found so far */
	size_t missed_count;
	struct run *runs; /* STACK_COUNTER_BATCH * CALLCHAIN_RUNS */
	size_t run_count;
	struct step *steps;
	size_t step_count, step_capacity;
	uint64_t *paths;
	size_t path_count, path_capacity;
	struct want *wants;
	size_t want_count, want_capacity;
};

/* To what a group has.  -ENOMEM. */
int stack_counter_add_to_sum(struct stack_counter *s, uint32_t group,
			     const struct stack_counter_sum *sum);

/* Frees the memory that only counting needs. */
void stack_counter_free_caches(struct stack_counter *s);

#endif
