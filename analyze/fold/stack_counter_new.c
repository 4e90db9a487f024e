/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* stack_counter_new - makes and frees a stack_counter */
#include <assert.h>

#include "format/base/saturate.h"
#include "analyze/fold/stack_counter_priv.h"
#include "format/base/vec.h"

#define FEW_SHRINK 3 /* the cache for few samples has an eighth of the slots */

int stack_counter_new(const struct process_model *model, struct groups *groups,
		      struct symbol_buckets_set *parts, bool few, struct stack_counter **out)
{
	struct stack_counter *s = calloc(1, sizeof(*s));
	int err = -ENOMEM;

	if (!s)
		return -ENOMEM;
	s->shrink = few ? FEW_SHRINK : 0;
	s->stack_slots = mmap_array_zeroed((STACK_COUNTER_STACK_SLOTS >> s->shrink) *
					   sizeof(*s->stack_slots));
	s->items = calloc(STACK_COUNTER_BATCH, sizeof(*s->items));
	s->runs = calloc(STACK_COUNTER_BATCH * CALLCHAIN_RUNS, sizeof(*s->runs));
	if (s->stack_slots && s->items && s->runs)
		err = mapping_cache_new(model, parts, &s->maps);
	if (!err)
		err = prefix_cache_new(&s->prefixes);
	if (!err)
		err = thread_cache_new(model, groups, &s->whose);
	if (!err)
		err = stack_table_init(&s->stacks, process_model_hash_key(model));
	if (err) {
		stack_counter_free(s);
		return err;
	}
	s->places.key = s->stacks.key;
	*out = s;
	return 0;
}

int stack_counter_add_to_sum(struct stack_counter *s, uint32_t group,
			     const struct stack_counter_sum *sum)
{
	int err;

	if (group >= s->sum_count) {
		err = vec_reserve(&s->sums, &s->sum_capacity, (size_t)group + 1);
		if (err)
			return err;
		memset(s->sums + s->sum_count, 0, (group + 1 - s->sum_count) * sizeof(*s->sums));
		s->sum_count = (size_t)group + 1;
	}
	s->sums[group].sample_count += sum->sample_count;
	s->sums[group].period_sum = saturate_add(s->sums[group].period_sum, sum->period_sum);
	return 0;
}

void stack_counter_sum_groups(struct stack_counter *s)
{
	assert(!s->counts.samples);
	s->sums_groups = true;
}

void stack_counter_keep_samples(struct stack_counter *s)
{
	assert(!s->counts.samples);
	s->keeps_samples = true;
}

const struct stack_counter_sum *stack_counter_sums(const struct stack_counter *s, size_t *count)
{
	*count = s->sum_count;
	return s->sums;
}

void stack_counter_free_caches(struct stack_counter *s)
{
	mapping_cache_free(s->maps);
	thread_cache_free(s->whose);
	free(s->stack_slots);
	free(s->items);
	free(s->runs);
	prefix_cache_free(s->prefixes);
	free(s->steps);
	free(s->paths);
	free(s->wants);
	s->maps = NULL;
	s->whose = NULL;
	s->prefixes = NULL;
	s->stack_slots = NULL;
	s->items = NULL;
	s->runs = NULL;
	s->steps = NULL;
	s->paths = NULL;
	s->wants = NULL;
}

void stack_counter_free(struct stack_counter *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->joined_count; i++)
		stack_counter_free(s->joined[i]);
	free(s->joined);
	free(s->numbers);
	stack_table_done(&s->stacks);
	free(s->sums);
	locations_done(&s->places);
	stack_counter_free_caches(s);
	free(s);
}

void stack_counter_take_stacks(struct stack_counter *s, struct stack_table *out)
{
	assert(!s->joined_count && !s->numbers);
	*out = s->stacks;
	s->stacks = (struct stack_table){ 0 };
}

const struct stack_table *stack_counter_stacks(const struct stack_counter *s)
{
	assert(!s->joined_count && !s->numbers);
	return &s->stacks;
}

bool stack_counter_make_exact(struct stack_counter *s, size_t place)
{
	struct location *p = &s->places.list[place];

	if (p->kind != LOCATION_FILE || !p->is_return)
		return false;
	p->is_return = false;
	return true;
}

const struct locations *stack_counter_places(const struct stack_counter *s)
{
	return &s->places;
}

const struct stack_counter_counts *stack_counter_counts(const struct stack_counter *s)
{
	return &s->counts;
}
