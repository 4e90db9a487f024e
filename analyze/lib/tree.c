/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>

#include "analyze/lib/handle.h"
#include "analyze/lib/sized.h"
#include "analyze/report/profile/calltree.h"
#include "format/base/vec.h"

/* The sizes of the first release. */
#define TREE_OPTS_BYTES sizeof(struct ebprec_tree_opts)
#define NODE_BYTES      sizeof(struct ebprec_node)

#define ALL_TREE_FLAGS (EBPREC_BOTTOM_UP | EBPREC_BY_GROUP)

struct ebprec_tree {
	struct ebprec_node *nodes; /* a parent before its children */
	size_t count;
};

/* Stacks, while they become a tree. */
struct builder {
	struct calltree shape; /* labels: frames; below the root, where there are groups, these */
	uint64_t *samples;     /* by node of shape, which has the weights */
	size_t capacity;
	uint32_t flags;
};

/* ---- building ---- */

static int descend(struct builder *b, uint32_t label, uint32_t *at)
{
	size_t before = b->shape.count;
	int err = calltree_child(&b->shape, *at, label, at);

	if (!err)
		err = vec_reserve(&b->samples, &b->capacity, b->shape.count);
	if (!err && b->shape.count > before)
		b->samples[*at] = 0;
	return err;
}

static int add_stack(struct builder *b, const struct ebprec_stack *stack)
{
	uint32_t at = CALLTREE_ROOT;
	int err = b->flags & EBPREC_BY_GROUP ? descend(b, stack->group, &at) : 0;

	for (size_t i = 0; !err && i < stack->frame_count; i++)
		err = descend(
			b,
			stack->frames[b->flags & EBPREC_BOTTOM_UP ? i : stack->frame_count - 1 - i],
			&at);
	if (err)
		return err;
	b->shape.nodes[at].self += stack->weight;
	b->samples[at] += stack->samples;
	return 0;
}

static int add_stacks(struct builder *b, struct ebprec_stacks *s)
{
	struct ebprec_stack stack = { .size = sizeof(stack) };
	int err = calltree_init(&b->shape);

	if (!err)
		err = vec_reserve(&b->samples, &b->capacity, b->shape.count);
	if (err)
		return err;
	b->samples[CALLTREE_ROOT] = 0;
	for (size_t i = 0; !err; i++) {
		err = ebprec_get_stack(s, i, &stack);
		if (!err)
			err = add_stack(b, &stack);
	}
	return err == -ENOENT ? 0 : err;
}

/* ---- nodes ---- */

static struct ebprec_node make_node(const struct builder *b, uint32_t i)
{
	const struct calltree_node *from = &b->shape.nodes[i];
	bool is_group = i && b->flags & EBPREC_BY_GROUP && from->parent == CALLTREE_ROOT;

	return (struct ebprec_node){
		.size = sizeof(struct ebprec_node),
		.self_samples = b->samples[i],
		.self_weight = from->self,
		.total_samples = b->samples[i],
		.total_weight = from->self,
		.parent = i ? from->parent : EBPREC_NONE,
		.first_child = EBPREC_NONE,
		.next_sibling = EBPREC_NONE,
		.frame = i && !is_group ? from->label : EBPREC_NONE,
		.group = is_group ? from->label : EBPREC_NONE,
	};
}

static int by_cost(const void *a, const void *b, void *nodes)
{
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	const struct ebprec_node *x = (const struct ebprec_node *)nodes + i;
	const struct ebprec_node *y = (const struct ebprec_node *)nodes + k;

	if (x->total_weight != y->total_weight)
		return x->total_weight < y->total_weight ? -1 : 1;
	if (x->total_samples != y->total_samples)
		return x->total_samples < y->total_samples ? -1 : 1;
	return i < k ? 1 : -1;
}

/* Each child goes before those that are its parent's already, so that the most costly is the first. */
static int link_children(struct ebprec_tree *t)
{
	uint32_t *order = calloc(t->count, sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->count; i++)
		order[i] = i;
	qsort_r(order, t->count, sizeof(*order), by_cost, t->nodes);
	for (size_t k = 0; k < t->count; k++) {
		struct ebprec_node *n = &t->nodes[order[k]], *parent;

		if (n->parent == EBPREC_NONE)
			continue;
		parent = &t->nodes[n->parent];
		n->next_sibling = parent->first_child;
		parent->first_child = order[k];
	}
	free(order);
	return 0;
}

static int finish_tree(const struct builder *b, struct ebprec_tree *t)
{
	t->count = b->shape.count;
	t->nodes = calloc(t->count, sizeof(*t->nodes));
	if (!t->nodes)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->count; i++)
		t->nodes[i] = make_node(b, i);
	for (size_t i = t->count; i-- > 1;) {
		struct ebprec_node *parent = &t->nodes[t->nodes[i].parent];

		parent->total_samples += t->nodes[i].total_samples;
		parent->total_weight += t->nodes[i].total_weight;
	}
	return link_children(t);
}

/* ---- for callers ---- */

int ebprec_make_tree(struct ebprec_stacks *s, const struct ebprec_tree_opts *opts,
		     struct ebprec_tree **out)
{
	struct builder b = { 0 };
	struct ebprec_tree_opts o;
	struct ebprec_tree *t;
	int err = sized_take(&o, sizeof(o), TREE_OPTS_BYTES, opts);

	*out = NULL;
	if (err)
		return err;
	if (o.flags & ~(uint32_t)ALL_TREE_FLAGS || o.reserved)
		return -EINVAL;
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	b.flags = o.flags;
	err = add_stacks(&b, s);
	if (!err)
		err = finish_tree(&b, t);
	calltree_done(&b.shape);
	free(b.samples);
	if (err) {
		ebprec_tree_free(t);
		return err;
	}
	*out = t;
	return 0;
}

void ebprec_tree_free(struct ebprec_tree *t)
{
	if (!t)
		return;
	free(t->nodes);
	free(t);
}

int ebprec_get_node(const struct ebprec_tree *t, uint32_t node, struct ebprec_node *out)
{
	return node < t->count
		       ? sized_give(out, &t->nodes[node], sizeof(t->nodes[node]), NODE_BYTES)
		       : -ENOENT;
}
