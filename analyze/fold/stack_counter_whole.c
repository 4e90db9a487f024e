/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* sampler_whole - how a sampler is made and taken apart */
#include <assert.h>

#include "format/base/saturate.h"
#include "analyze/fold/stack_counter_priv.h"
#include "format/base/vec.h"

#define FEW_SHRINK 3 /* the cache for few samples has an eighth of the slots */

int sampler_new(const struct model *model, struct groups *groups, struct codeparts_set *parts,
		bool few, struct sampler **out)
{
	struct sampler *s = calloc(1, sizeof(*s));
	int err = -ENOMEM;

	if (!s)
		return -ENOMEM;
	s->shrink = few ? FEW_SHRINK : 0;
	s->whole = bigmem_zeroed((SAMPLER_STACK_SLOTS >> s->shrink) * sizeof(*s->whole));
	s->items = calloc(SAMPLER_BATCH, sizeof(*s->items));
	s->runs = calloc(SAMPLER_BATCH * CHAINCUT_RUNS, sizeof(*s->runs));
	if (s->whole && s->items && s->runs)
		err = mapcache_new(model, parts, &s->maps);
	if (!err)
		err = trails_new(&s->trails);
	if (!err)
		err = whose_new(model, groups, &s->whose);
	if (!err)
		err = stacks_init(&s->stacks, model_hash_key(model));
	if (err) {
		sampler_free(s);
		return err;
	}
	s->places.key = s->stacks.key;
	*out = s;
	return 0;
}

int sampler_add_to_sum(struct sampler *s, uint32_t group, const struct sampler_sum *sum)
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
	s->sums[group].period_sum = bounded_add(s->sums[group].period_sum, sum->period_sum);
	return 0;
}

void sampler_sum_groups(struct sampler *s)
{
	assert(!s->counts.samples);
	s->sums_groups = true;
}

const struct sampler_sum *sampler_sums(const struct sampler *s, size_t *count)
{
	*count = s->sum_count;
	return s->sums;
}

void sampler_free_caches(struct sampler *s)
{
	mapcache_free(s->maps);
	whose_free(s->whose);
	free(s->whole);
	free(s->items);
	free(s->runs);
	trails_free(s->trails);
	free(s->steps);
	free(s->paths);
	free(s->wants);
	s->maps = NULL;
	s->whose = NULL;
	s->trails = NULL;
	s->whole = NULL;
	s->items = NULL;
	s->runs = NULL;
	s->steps = NULL;
	s->paths = NULL;
	s->wants = NULL;
}

void sampler_free(struct sampler *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->joined_count; i++)
		sampler_free(s->joined[i]);
	free(s->joined);
	free(s->numbers);
	stacks_done(&s->stacks);
	free(s->sums);
	places_done(&s->places);
	sampler_free_caches(s);
	free(s);
}

void sampler_take_stacks(struct sampler *s, struct stacks *out)
{
	assert(!s->joined_count && !s->numbers);
	*out = s->stacks;
	s->stacks = (struct stacks){ 0 };
}

const struct stacks *sampler_stacks(const struct sampler *s)
{
	assert(!s->joined_count && !s->numbers);
	return &s->stacks;
}

bool sampler_make_exact(struct sampler *s, size_t place)
{
	struct place *p = &s->places.list[place];

	if (p->kind != PLACE_FILE || !p->is_return)
		return false;
	p->is_return = false;
	return true;
}

const struct places *sampler_places(const struct sampler *s)
{
	return &s->places;
}

const struct sampler_counts *sampler_counts(const struct sampler *s)
{
	return &s->counts;
}
