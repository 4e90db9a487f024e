/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/fold/stack_table.h"

#include <assert.h>

#include "format/base/saturate.h"
#include "format/base/vec.h"

int stack_table_init(struct stack_table *s, const struct hash_key *key)
{
	struct stack_table fresh = { 0 };
	int err = 0;

	if (key)
		fresh.key = *key;
	else
		err = hash_key_new(&fresh.key);
	if (err)
		return err;
	err = vec_reserve(&fresh.nodes, &fresh.node_capacity, 1024);
	if (err)
		return err;
	err = vec_reserve(&fresh.paths, &fresh.path_capacity, 1024);
	if (err) {
		free(fresh.nodes);
		return err;
	}
	fresh.paths[STACK_TABLE_USER_ROOT] = stack_table_root_path(&fresh, STACK_TABLE_USER_ROOT);
	fresh.paths[STACK_TABLE_KERNEL_ROOT] = stack_table_root_path(&fresh,
								     STACK_TABLE_KERNEL_ROOT);
	fresh.nodes[STACK_TABLE_USER_ROOT] = (struct stack_table_node){ STACK_TABLE_USER_ROOT,
									UINT32_MAX };
	fresh.nodes[STACK_TABLE_KERNEL_ROOT] = (struct stack_table_node){ STACK_TABLE_KERNEL_ROOT,
									  UINT32_MAX };
	fresh.node_count = STACK_TABLE_FIRST_NODE;
	*s = fresh;
	return 0;
}

void stack_table_done(struct stack_table *s)
{
	free(s->nodes);
	free(s->paths);
	free(s->entries);
	free(s->samples);
	free(s->hashes);
	hash_index_done(&s->node_index);
	hash_index_done(&s->entry_index);
	*s = (struct stack_table){ 0 };
}

void stack_table_finish(struct stack_table *s)
{
	free(s->paths);
	free(s->hashes);
	s->paths = s->hashes = NULL;
	s->path_capacity = s->hash_capacity = 0;
	vec_trim(&s->nodes, &s->node_capacity, s->node_count);
	vec_trim(&s->entries, &s->entry_capacity, s->entry_count);
	vec_trim(&s->samples, &s->sample_capacity, s->sample_count);
	hash_index_done(&s->node_index);
	hash_index_done(&s->entry_index);
}

int stack_table_child_by_path(struct stack_table *s, uint32_t parent, uint64_t path, uint32_t frame,
			      uint32_t *out)
{
	uint32_t pos, id;
	int err;

	err = hash_index_reserve(&s->node_index);
	if (err)
		return err;
	pos = hash_index_start(&s->node_index, path);
	while ((id = hash_index_match(&s->node_index, path, &pos)) != HASH_INDEX_NONE) {
		if (s->nodes[id].parent == parent && s->nodes[id].frame == frame) {
			*out = id;
			return 0;
		}
	}
	if (s->node_count >= UINT32_MAX - 1)
		return -EOVERFLOW;
	err = vec_reserve(&s->nodes, &s->node_capacity, s->node_count + 1);
	if (!err)
		err = vec_reserve(&s->paths, &s->path_capacity, s->node_count + 1);
	if (err)
		return err;
	id = (uint32_t)s->node_count++;
	s->nodes[id] = (struct stack_table_node){ parent, frame };
	s->paths[id] = path;
	hash_index_put(&s->node_index, path, pos, id);
	*out = id;
	return 0;
}

int stack_table_child(struct stack_table *s, uint32_t parent, uint32_t frame, uint32_t *out)
{
	return stack_table_child_by_path(s, parent, stack_table_path(s, s->paths[parent], frame),
					 frame, out);
}

static bool key_equal(const struct stack_table_key *a, const struct stack_table_key *b)
{
	return a->group == b->group && a->user == b->user && a->kernel == b->kernel &&
	       a->end == b->end;
}

static uint64_t key_hash(const struct stack_table *s, const struct stack_table_key *key)
{
	return hash_pair(&s->key, (uint64_t)key->user << 32 | key->kernel,
			 (uint64_t)key->end << 32 | key->group);
}

/* The next entry, at a free place of the index. */
static int put_entry(struct stack_table *s, uint64_t hash, uint32_t pos,
		     const struct stack_table_entry *entry)
{
	int err;

	if (s->entry_count >= UINT32_MAX - 1)
		return -EOVERFLOW;
	err = vec_reserve(&s->entries, &s->entry_capacity, s->entry_count + 1);
	if (err)
		return err;
	hash_index_put(&s->entry_index, hash, pos, (uint32_t)s->entry_count);
	s->entries[s->entry_count++] = *entry;
	return 0;
}

/* *out: the number of the entry. */
static int count_entry(struct stack_table *s, const struct stack_table_key *key,
		       uint64_t sample_count, uint64_t period, uint32_t *out)
{
	const struct stack_table_entry fresh = { *key, sample_count, period };
	uint64_t hash = key_hash(s, key);
	uint32_t pos, id;
	int err = hash_index_reserve(&s->entry_index);

	if (err)
		return err;
	pos = hash_index_start(&s->entry_index, hash);
	while ((id = hash_index_match(&s->entry_index, hash, &pos)) != HASH_INDEX_NONE) {
		if (key_equal(&s->entries[id].key, key)) {
			s->entries[id].sample_count += sample_count;
			s->entries[id].period_sum = saturate_add(s->entries[id].period_sum, period);
			*out = id;
			return 0;
		}
	}
	*out = (uint32_t)s->entry_count;
	return put_entry(s, hash, pos, &fresh);
}

int stack_table_count(struct stack_table *s, const struct stack_table_key *key,
		      uint64_t sample_count, uint64_t period)
{
	uint32_t entry;

	return count_entry(s, key, sample_count, period, &entry);
}

int stack_table_add_entry(struct stack_table *s, uint64_t hash, const struct stack_table_key *key,
			  uint32_t *out)
{
	const struct stack_table_entry fresh = { .key = *key };
	uint32_t pos, id;
	int err = hash_index_reserve(&s->entry_index);

	if (err)
		return err;
	pos = hash_index_start(&s->entry_index, hash);
	while ((id = hash_index_match(&s->entry_index, hash, &pos)) != HASH_INDEX_NONE) {
		if (s->hashes[id] == hash) {
			*out = id;
			return 0;
		}
	}
	err = vec_reserve(&s->hashes, &s->hash_capacity, s->entry_count + 1);
	if (err)
		return err;
	*out = (uint32_t)s->entry_count;
	s->hashes[*out] = hash;
	return put_entry(s, hash, pos, &fresh);
}

/* ---- samples ---- */

/* Room for the number that each entry gets in another table; *out is NULL when the table has no samples. */
static int new_entries(const struct stack_table *from, uint32_t **out)
{
	*out = from->sample_count ? malloc((from->entry_count + 1) * sizeof(**out)) : NULL;
	return from->sample_count && !*out ? -ENOMEM : 0;
}

static int add_samples(struct stack_table *s, const struct stack_table *from,
		       const uint32_t *entries)
{
	int err = vec_reserve(&s->samples, &s->sample_capacity,
			      s->sample_count + from->sample_count);

	for (size_t i = 0; !err && i < from->sample_count; i++) {
		struct stack_table_sample *sample = &s->samples[s->sample_count++];

		*sample = from->samples[i];
		sample->entry = entries[sample->entry];
	}
	return err;
}

int stack_table_keep(struct stack_table *s,
		     bool (*takes)(const void *arg, const struct stack_table_entry *entry),
		     const void *arg)
{
	size_t entries = 0, samples = 0;
	uint32_t *numbers;
	int err = new_entries(s, &numbers);

	if (err)
		return err;
	for (size_t i = 0; i < s->entry_count; i++) {
		bool taken = takes(arg, &s->entries[i]);

		if (numbers)
			numbers[i] = taken ? (uint32_t)entries : UINT32_MAX;
		if (taken)
			s->entries[entries++] = s->entries[i];
	}
	for (size_t i = 0; i < s->sample_count; i++) {
		struct stack_table_sample sample = s->samples[i];

		sample.entry = numbers[sample.entry];
		if (sample.entry != UINT32_MAX)
			s->samples[samples++] = sample;
	}
	s->entry_count = entries;
	s->sample_count = samples;
	free(numbers);
	return 0;
}

/* ---- one table into another ---- */

/* How far ahead of the element that is added the next ones are fetched, and looked at. */
#define FETCH_AHEAD 24
#define LOOK_AHEAD  12

static struct stack_table_key mapped_key(const struct stack_table *from, size_t i,
					 const uint32_t *nodes)
{
	struct stack_table_key key = from->entries[i].key;

	key.user = nodes[key.user];
	key.kernel = nodes[key.kernel];
	return key;
}

static void look_entry(const struct stack_table *s, uint64_t hash)
{
	uint32_t id = hash_index_guess(&s->entry_index, hash);

	if (id != HASH_INDEX_NONE)
		__builtin_prefetch(&s->entries[id], 1);
}

static int merge_entries(struct stack_table *s, const struct stack_table *from,
			 const uint32_t *nodes)
{
	uint64_t hashes[FETCH_AHEAD] = { 0 };
	size_t count = from->entry_count;
	uint32_t *entries, entry;
	int err = new_entries(from, &entries);

	for (size_t i = 0; !err && i < count + FETCH_AHEAD; i++) {
		size_t look = i - LOOK_AHEAD, add = i - FETCH_AHEAD;
		struct stack_table_key key;

		if (i >= FETCH_AHEAD) {
			key = mapped_key(from, add, nodes);
			err = count_entry(s, &key, from->entries[add].sample_count,
					  from->entries[add].period_sum, &entry);
			if (entries)
				entries[add] = entry;
		}
		if (i < count) {
			key = mapped_key(from, i, nodes);
			hashes[i % FETCH_AHEAD] = key_hash(s, &key);
			hash_index_fetch(&s->entry_index, hashes[i % FETCH_AHEAD]);
		}
		if (look < count)
			look_entry(s, hashes[look % FETCH_AHEAD]);
	}
	if (!err)
		err = add_samples(s, from, entries);
	free(entries);
	return err;
}

/* A merge's translation of nodes: their numbers, and the paths they will be looked up by. */
struct translation {
	uint32_t *nodes;
	uint64_t *paths;
	const uint32_t *frames, *more, *first;
};

static void fetch_node(const struct stack_table *s, const struct stack_table *from, size_t i,
		       struct translation *t)
{
	uint32_t frame = from->nodes[i].frame;

	t->paths[i] = stack_table_path(s, t->paths[from->nodes[i].parent], t->frames[frame]);
	stack_table_fetch(s, t->paths[i]);
	for (uint32_t k = t->first ? t->first[frame] : 0; t->first && k < t->first[frame + 1]; k++)
		t->paths[i] = stack_table_path(s, t->paths[i], t->more[k]);
}

static int merge_node(struct stack_table *s, const struct stack_table *from, size_t i,
		      struct translation *t)
{
	uint32_t frame = from->nodes[i].frame, at = t->nodes[from->nodes[i].parent];
	int err;

	if (!t->first || t->first[frame] == t->first[frame + 1])
		return stack_table_child_by_path(s, at, t->paths[i], t->frames[frame],
						 &t->nodes[i]);
	err = stack_table_child(s, at, t->frames[frame], &at);
	for (uint32_t k = t->first[frame]; !err && k < t->first[frame + 1]; k++)
		err = stack_table_child(s, at, t->more[k], &at);
	t->nodes[i] = at;
	return err;
}

static int merge_nodes(struct stack_table *s, const struct stack_table *from, struct translation *t)
{
	size_t count = from->node_count;
	int err = 0;

	for (uint32_t root = 0; root < STACK_TABLE_FIRST_NODE; root++) {
		t->nodes[root] = root;
		t->paths[root] = stack_table_root_path(s, root);
	}
	for (size_t i = STACK_TABLE_FIRST_NODE; !err && i < count + FETCH_AHEAD; i++) {
		size_t look = i - LOOK_AHEAD;

		if (i >= FETCH_AHEAD + STACK_TABLE_FIRST_NODE)
			err = merge_node(s, from, i - FETCH_AHEAD, t);
		if (i < count)
			fetch_node(s, from, i, t);
		if (look >= STACK_TABLE_FIRST_NODE && look < count)
			stack_table_look(s, t->paths[look]);
	}
	return err;
}

int stack_table_merge(struct stack_table *s, const struct stack_table *from, const uint32_t *frames,
		      const uint32_t *more, const uint32_t *first)
{
	struct translation t = { .frames = frames, .more = more, .first = first };
	int err = -ENOMEM;

	t.nodes = calloc(from->node_count, sizeof(*t.nodes));
	t.paths = calloc(from->node_count, sizeof(*t.paths));
	if (t.nodes && t.paths)
		err = hash_index_expect(&s->node_index, from->node_count);
	if (!err)
		err = hash_index_expect(&s->entry_index, from->entry_count);
	if (!err)
		err = merge_nodes(s, from, &t);
	free(t.paths); /* before the entries need room */
	if (!err)
		err = merge_entries(s, from, t.nodes);
	free(t.nodes);
	return err;
}

/* The nodes of from in s: nodes[i]. */
static int join_nodes(struct stack_table *s, const struct stack_table *from, uint32_t *nodes)
{
	size_t count = from->node_count;
	int err = 0;

	for (uint32_t root = 0; root < STACK_TABLE_FIRST_NODE; root++)
		nodes[root] = root;
	for (size_t i = STACK_TABLE_FIRST_NODE; !err && i < count; i++) {
		if (i + FETCH_AHEAD < count)
			stack_table_fetch(s, from->paths[i + FETCH_AHEAD]);
		if (i + LOOK_AHEAD < count)
			stack_table_look(s, from->paths[i + LOOK_AHEAD]);
		err = stack_table_child_by_path(s, nodes[from->nodes[i].parent], from->paths[i],
						from->nodes[i].frame, &nodes[i]);
	}
	return err;
}

static int join_entries(struct stack_table *s, const struct stack_table *from,
			const uint32_t *nodes)
{
	size_t count = from->entry_count;
	uint32_t *entries, entry;
	int err = new_entries(from, &entries);

	for (size_t i = 0; !err && i < count; i++) {
		struct stack_table_key key = mapped_key(from, i, nodes);

		if (i + FETCH_AHEAD < count)
			stack_table_fetch_entry(s, from->hashes[i + FETCH_AHEAD]);
		if (i + LOOK_AHEAD < count)
			stack_table_look_entry(s, from->hashes[i + LOOK_AHEAD]);
		err = stack_table_add_entry(s, from->hashes[i], &key, &entry);
		if (err)
			break;
		s->entries[entry].sample_count += from->entries[i].sample_count;
		s->entries[entry].period_sum = saturate_add(s->entries[entry].period_sum,
							    from->entries[i].period_sum);
		if (entries)
			entries[i] = entry;
	}
	if (!err)
		err = add_samples(s, from, entries);
	free(entries);
	return err;
}

int stack_table_join(struct stack_table *s, const struct stack_table *from)
{
	uint32_t *nodes = malloc(from->node_count * sizeof(*nodes));
	int err = nodes ? 0 : -ENOMEM;

	assert(!memcmp(&s->key, &from->key, sizeof(s->key)));
	if (!err)
		err = join_nodes(s, from, nodes);
	if (!err)
		err = join_entries(s, from, nodes);
	free(nodes);
	return err;
}

void stack_table_renumber(struct stack_table *s, const uint32_t *frames)
{
	for (size_t i = STACK_TABLE_FIRST_NODE; i < s->node_count; i++)
		s->nodes[i].frame = frames[s->nodes[i].frame];
}

int stack_table_weigh_frames(const struct stack_table *s, uint64_t *weights)
{
	uint64_t *through = calloc(s->node_count, sizeof(*through));

	if (!through)
		return -ENOMEM;
	for (size_t i = 0; i < s->entry_count; i++) {
		through[s->entries[i].key.user] += s->entries[i].sample_count;
		through[s->entries[i].key.kernel] += s->entries[i].sample_count;
	}
	for (size_t i = s->node_count; i-- > STACK_TABLE_FIRST_NODE;) {
		through[s->nodes[i].parent] += through[i];
		weights[s->nodes[i].frame] += through[i];
	}
	free(through);
	return 0;
}
