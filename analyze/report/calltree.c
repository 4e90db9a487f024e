/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/report/calltree.h"

#include "analyze/vec.h"

struct builder {
	const struct stacks *stacks;
	const struct calltree_labels *labels;
	struct calltree tree;
	uint32_t *path; /* nodes from the innermost frame out */
	size_t path_capacity;
};

int calltree_child(struct calltree *t, uint32_t parent, uint32_t label, uint32_t *out)
{
	uint64_t hash = hash_pair((uint64_t)parent << 32 | label, 1);
	uint32_t pos, id;
	int err;

	err = hashidx_reserve(&t->index);
	if (err)
		return err;
	pos = hashidx_start(&t->index, hash);
	while ((id = hashidx_match(&t->index, hash, &pos)) != HASHIDX_NONE) {
		if (t->nodes[id].parent == parent && t->nodes[id].label == label) {
			*out = id;
			return 0;
		}
	}
	if (t->count >= UINT32_MAX - 1)
		return -EOVERFLOW;
	err = vec_reserve(&t->nodes, &t->capacity, t->count + 1);
	if (err)
		return err;
	id = (uint32_t)t->count++;
	t->nodes[id] = (struct calltree_node){ .parent = parent, .label = label };
	hashidx_put(&t->index, hash, pos, id);
	*out = id;
	return 0;
}

int calltree_init(struct calltree *t)
{
	struct calltree fresh = { 0 };
	int err = vec_reserve(&fresh.nodes, &fresh.capacity, 1);

	if (err)
		return err;
	fresh.nodes[fresh.count++] = (struct calltree_node){ CALLTREE_ROOT, CALLTREE_NO_NODE, 0 };
	*t = fresh;
	return 0;
}

/* Appends the frames from the stacks' root to node below *at. */
static int append(struct builder *b, uint32_t node, uint32_t *at)
{
	const struct stacks_node *nodes = b->stacks->nodes;
	size_t depth = 0;
	uint32_t frame;
	int err = 0;

	for (; !err && node >= STACKS_FIRST_NODE; node = nodes[node].parent) {
		err = vec_reserve(&b->path, &b->path_capacity, depth + 1);
		if (!err)
			b->path[depth++] = node;
	}
	while (!err && depth) {
		frame = nodes[b->path[--depth]].frame;
		if (b->labels->frames)
			frame = b->labels->frames[frame];
		err = calltree_child(&b->tree, *at, frame, at);
	}
	return err;
}

/* An entry with what it is sorted by: where it lies would cost more than comparing it. */
struct sorted {
	uint64_t group_user;
	uint32_t kernel, entry;
};

static int by_group_and_user(const void *va, const void *vb)
{
	const struct sorted *a = va, *b = vb;

	if (a->group_user != b->group_user)
		return a->group_user < b->group_user ? -1 : 1;
	return a->kernel < b->kernel ? -1 : a->kernel > b->kernel;
}

static int start_group(struct builder *b, uint32_t group, uint32_t *out)
{
	uint32_t label = CALLTREE_NO_NODE;
	int err = 0;

	*out = CALLTREE_ROOT;
	if (b->labels->group)
		err = b->labels->group(b->labels->ctx, group, &label);
	if (!err && label != CALLTREE_NO_NODE)
		err = calltree_child(&b->tree, CALLTREE_ROOT, label, out);
	return err;
}

/* In the order of groups and user parts, so that each user part is walked once. */
static int build(struct builder *b, const struct sorted *order, size_t count,
		 enum calltree_weight weight)
{
	uint32_t group = 0, user = 0, node;
	const struct stacks_entry *last = NULL, *e;
	int err = 0;

	for (size_t i = 0; !err && i < count; last = e, i++) {
		e = &b->stacks->entries[order[i].entry];
		if (!last || last->key.group != e->key.group)
			err = start_group(b, e->key.group, &group);
		if (!err &&
		    (!last || last->key.group != e->key.group || last->key.user != e->key.user)) {
			user = group;
			err = append(b, e->key.user, &user);
		}
		node = user;
		if (!err)
			err = append(b, e->key.kernel, &node);
		if (!err)
			b->tree.nodes[node].self += weight == CALLTREE_PERIOD ? e->period_sum
									      : e->sample_count;
	}
	return err;
}

int calltree_build(const struct stacks *stacks, const struct calltree_labels *labels,
		   enum calltree_weight weight, struct calltree *out)
{
	struct builder b = { .stacks = stacks, .labels = labels };
	struct sorted *order;
	int err;

	order = calloc(stacks->entry_count + 1, sizeof(*order));
	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < stacks->entry_count; i++) {
		const struct stacks_key *key = &stacks->entries[i].key;

		order[i] = (struct sorted){ (uint64_t)key->group << 32 | key->user, key->kernel,
					    (uint32_t)i };
	}
	qsort(order, stacks->entry_count, sizeof(*order), by_group_and_user);
	err = calltree_init(&b.tree);
	if (!err)
		err = build(&b, order, stacks->entry_count, weight);
	free(order);
	free(b.path);
	if (err)
		calltree_done(&b.tree);
	else
		*out = b.tree;
	return err;
}

void calltree_done(struct calltree *t)
{
	free(t->nodes);
	hashidx_done(&t->index);
	*t = (struct calltree){ 0 };
}
