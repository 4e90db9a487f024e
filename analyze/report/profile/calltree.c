/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/report/profile/calltree.h"

#include "format/base/radix_sort.h"
#include "format/base/vec.h"

/* Where a node of the stacks is in the tree, below what it was put under last. */
struct seen {
	uint32_t turn; /* 0: nowhere yet */
	uint32_t node;
};

struct builder {
	const struct stack_table *stacks;
	const struct calltree_labels *labels;
	struct calltree tree;
	struct seen *seen; /* by node of the stacks */
	uint32_t turn;
	uint32_t *path; /* nodes from the innermost frame out */
	size_t path_capacity;
};

int calltree_child(struct calltree *t, uint32_t parent, uint32_t label, uint32_t *out)
{
	uint32_t pos, id;
	uint64_t hash;
	int err;

	err = hash_index_reserve(&t->index);
	if (err)
		return err;
	hash = hash_index_pair(&t->index, parent, label);
	pos = hash_index_start(&t->index, hash);
	while ((id = hash_index_match(&t->index, hash, &pos)) != HASH_INDEX_NONE) {
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
	hash_index_put(&t->index, hash, pos, id);
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

/* Appends the frames from the stacks' root to node below *at; turn: what has been put there so far. */
static int append(struct builder *b, uint32_t node, uint32_t turn, uint32_t *at)
{
	const struct stack_table_node *nodes = b->stacks->nodes;
	size_t depth = 0;
	uint32_t frame;
	int err = 0;

	for (; !err && node >= STACK_TABLE_FIRST_NODE && b->seen[node].turn != turn;
	     node = nodes[node].parent) {
		err = vec_reserve(&b->path, &b->path_capacity, depth + 1);
		if (!err)
			b->path[depth++] = node;
	}
	if (node >= STACK_TABLE_FIRST_NODE)
		*at = b->seen[node].node;
	while (!err && depth) {
		node = b->path[--depth];
		frame = nodes[node].frame;
		if (b->labels->frames)
			frame = b->labels->frames[frame];
		err = calltree_child(&b->tree, *at, frame, at);
		b->seen[node] = (struct seen){ turn, *at };
	}
	return err;
}

/* All entries, those of a group and of a user part in it side by side.  *out is owned. */
static int sort_entries(const struct stack_table *stacks, struct radix_item **out)
{
	size_t count = stacks->entry_count;
	struct radix_item *list = calloc(count + 1, sizeof(*list));
	int err;

	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct stack_table_key *key = &stacks->entries[i].key;

		list[i] = (struct radix_item){ (uint64_t)key->group << 32 | key->user,
					       (uint32_t)i };
	}
	err = radix_sort(&list, count);
	if (err) {
		free(list);
		return err;
	}
	*out = list;
	return 0;
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

/* In the order of groups and user parts, so that each part of a stack is put in its place once. */
static int build(struct builder *b, const struct radix_item *order, enum calltree_weight weight)
{
	uint32_t group = 0, user = 0, node, group_turn = 0, user_turn = 0;
	const struct stack_table_entry *last = NULL, *e;
	int err = 0;

	for (size_t i = 0; !err && i < b->stacks->entry_count; last = e, i++) {
		e = &b->stacks->entries[order[i].value];
		if (!last || last->key.group != e->key.group) {
			err = start_group(b, e->key.group, &group);
			group_turn = ++b->turn;
		}
		if (!err &&
		    (!last || last->key.group != e->key.group || last->key.user != e->key.user)) {
			user = group;
			err = append(b, e->key.user, group_turn, &user);
			user_turn = ++b->turn;
		}
		node = user;
		if (!err)
			err = append(b, e->key.kernel, user_turn, &node);
		if (!err)
			b->tree.nodes[node].self += weight == CALLTREE_PERIOD ? e->period_sum
									      : e->sample_count;
	}
	return err;
}

int calltree_build(const struct stack_table *stacks, const struct calltree_labels *labels,
		   enum calltree_weight weight, struct calltree *out)
{
	struct builder b = { .stacks = stacks, .labels = labels };
	struct radix_item *order = NULL;
	int err;

	b.seen = calloc(stacks->node_count + 1, sizeof(*b.seen));
	err = b.seen ? sort_entries(stacks, &order) : -ENOMEM;
	if (!err)
		err = calltree_init(&b.tree);
	if (!err) /* mostly there are more: stacks of each group, kernel frames below each user's */
		err = hash_index_expect(&b.tree.index, stacks->node_count);
	if (!err)
		err = vec_reserve(&b.tree.nodes, &b.tree.capacity, stacks->node_count);
	if (!err)
		err = build(&b, order, weight);
	free(order);
	free(b.seen);
	free(b.path);
	hash_index_done(&b.tree.index); /* nothing is added to it */
	if (err)
		calltree_done(&b.tree);
	else
		*out = b.tree;
	return err;
}

void calltree_done(struct calltree *t)
{
	free(t->nodes);
	hash_index_done(&t->index);
	*t = (struct calltree){ 0 };
}
