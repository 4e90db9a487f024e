/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/stacks.h"

#include "analyze/vec.h"

int stacks_init(struct stacks *s)
{
	struct stacks fresh = { 0 };
	int err;

	err = vec_reserve(&fresh.nodes, &fresh.node_capacity, 1024);
	if (err)
		return err;
	fresh.nodes[STACKS_USER_ROOT] = (struct stacks_node){ STACKS_USER_ROOT, UINT32_MAX };
	fresh.nodes[STACKS_KERNEL_ROOT] = (struct stacks_node){ STACKS_KERNEL_ROOT, UINT32_MAX };
	fresh.node_count = STACKS_FIRST_NODE;
	*s = fresh;
	return 0;
}

void stacks_done(struct stacks *s)
{
	free(s->nodes);
	free(s->entries);
	hashidx_done(&s->node_index);
	hashidx_done(&s->entry_index);
	*s = (struct stacks){ 0 };
}

void stacks_finish(struct stacks *s)
{
	hashidx_done(&s->node_index);
	hashidx_done(&s->entry_index);
}

int stacks_child(struct stacks *s, uint32_t parent, uint32_t frame, uint32_t *out)
{
	uint64_t hash = hash_pair((uint64_t)parent << 32 | frame, 0);
	uint32_t pos, id;
	int err;

	err = hashidx_reserve(&s->node_index);
	if (err)
		return err;
	pos = hashidx_start(&s->node_index, hash);
	while ((id = hashidx_match(&s->node_index, hash, &pos)) != HASHIDX_NONE) {
		if (s->nodes[id].parent == parent && s->nodes[id].frame == frame) {
			*out = id;
			return 0;
		}
	}
	if (s->node_count >= UINT32_MAX - 1)
		return -EOVERFLOW;
	err = vec_reserve(&s->nodes, &s->node_capacity, s->node_count + 1);
	if (err)
		return err;
	id = (uint32_t)s->node_count++;
	s->nodes[id] = (struct stacks_node){ parent, frame };
	hashidx_put(&s->node_index, hash, pos, id);
	*out = id;
	return 0;
}

static bool key_equal(const struct stacks_key *a, const struct stacks_key *b)
{
	return a->group == b->group && a->user == b->user && a->kernel == b->kernel &&
	       a->end == b->end;
}

int stacks_count(struct stacks *s, const struct stacks_key *key, uint64_t sample_count,
		 uint64_t period)
{
	uint32_t entry;

	return stacks_count_entry(s, key, sample_count, period, &entry);
}

int stacks_count_entry(struct stacks *s, const struct stacks_key *key, uint64_t sample_count,
		       uint64_t period, uint32_t *out)
{
	uint64_t hash = hash_pair((uint64_t)key->user << 32 | key->kernel,
				  (uint64_t)key->end << 32 | key->group);
	struct stacks_entry *e;
	uint32_t pos, id;
	int err;

	err = hashidx_reserve(&s->entry_index);
	if (err)
		return err;
	pos = hashidx_start(&s->entry_index, hash);
	while ((id = hashidx_match(&s->entry_index, hash, &pos)) != HASHIDX_NONE) {
		e = &s->entries[id];
		if (key_equal(&e->key, key)) {
			e->sample_count += sample_count;
			e->period_sum += period;
			*out = id;
			return 0;
		}
	}
	if (s->entry_count >= UINT32_MAX - 1)
		return -EOVERFLOW;
	err = vec_reserve(&s->entries, &s->entry_capacity, s->entry_count + 1);
	if (err)
		return err;
	hashidx_put(&s->entry_index, hash, pos, (uint32_t)s->entry_count);
	*out = (uint32_t)s->entry_count;
	s->entries[s->entry_count++] = (struct stacks_entry){
		.key = *key,
		.sample_count = sample_count,
		.period_sum = period,
	};
	return 0;
}

static int merge_entries(struct stacks *s, const struct stacks *from, const uint32_t *nodes)
{
	int err = 0;

	for (size_t i = 0; !err && i < from->entry_count; i++) {
		const struct stacks_entry *e = &from->entries[i];
		struct stacks_key key = e->key;

		key.user = nodes[key.user];
		key.kernel = nodes[key.kernel];
		err = stacks_count(s, &key, e->sample_count, e->period_sum);
	}
	return err;
}

int stacks_merge_chains(struct stacks *s, const struct stacks *from, const uint32_t *frames,
			const uint32_t *more, const uint32_t *first)
{
	uint32_t *nodes = calloc(from->node_count, sizeof(*nodes));
	int err = 0;

	if (!nodes)
		return -ENOMEM;
	nodes[STACKS_USER_ROOT] = STACKS_USER_ROOT;
	nodes[STACKS_KERNEL_ROOT] = STACKS_KERNEL_ROOT;
	for (size_t i = STACKS_FIRST_NODE; !err && i < from->node_count; i++) {
		uint32_t frame = from->nodes[i].frame;

		err = stacks_child(s, nodes[from->nodes[i].parent], frames[frame], &nodes[i]);
		for (uint32_t k = first ? first[frame] : 0; !err && first && k < first[frame + 1];
		     k++)
			err = stacks_child(s, nodes[i], more[k], &nodes[i]);
	}
	if (!err)
		err = merge_entries(s, from, nodes);
	free(nodes);
	return err;
}

int stacks_merge(struct stacks *s, const struct stacks *from, const uint32_t *frames)
{
	return stacks_merge_chains(s, from, frames, NULL, NULL);
}

int stacks_weigh_frames(const struct stacks *s, uint64_t *weights)
{
	uint64_t *through = calloc(s->node_count, sizeof(*through));

	if (!through)
		return -ENOMEM;
	for (size_t i = 0; i < s->entry_count; i++) {
		through[s->entries[i].key.user] += s->entries[i].sample_count;
		through[s->entries[i].key.kernel] += s->entries[i].sample_count;
	}
	for (size_t i = s->node_count; i-- > STACKS_FIRST_NODE;) {
		through[s->nodes[i].parent] += through[i];
		weights[s->nodes[i].frame] += through[i];
	}
	free(through);
	return 0;
}
