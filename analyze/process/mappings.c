/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/process/mappings.h"

#include <string.h>

#include "format/base/vec.h"

/* Node 0 is "none": its size is 0 and no code writes it. */
struct mappings_node {
	struct mappings_range range;
	uint32_t left, right;
	uint32_t size;  /* nodes in this subtree */
	uint32_t token; /* the edit it was made by */
};

/* One edit: passed down, so that the functions below stay short. */
struct edit {
	struct mappings *t;
	uint32_t token;
};

void mappings_done(struct mappings *t)
{
	free(t->nodes);
	*t = (struct mappings){ 0 };
}

static uint32_t size_of(const struct mappings *t, uint32_t n)
{
	return n ? t->nodes[n].size : 0;
}

static uint64_t weight(const struct edit *e, uint32_t n)
{
	return (uint64_t)size_of(e->t, n) + 1;
}

static uint32_t left_of(const struct edit *e, uint32_t n)
{
	return e->t->nodes[n].left;
}

static uint32_t right_of(const struct edit *e, uint32_t n)
{
	return e->t->nodes[n].right;
}

static uint32_t new_node(struct edit *e, const struct mappings_range *range)
{
	struct mappings *t = e->t;
	struct mappings_range copy = *range; /* may point into the array that grows here */

	if (t->count >= UINT32_MAX || vec_reserve(&t->nodes, &t->capacity, t->count + 1)) {
		t->failed = true;
		return 0;
	}
	t->nodes[t->count] = (struct mappings_node){ .range = copy, .size = 1, .token = e->token };
	return (uint32_t)t->count++;
}

/* A node with n's range and these children: n itself when this edit made it, else a copy. */
static uint32_t with_children(struct edit *e, uint32_t n, uint32_t left, uint32_t right)
{
	struct mappings_node *node;

	if (e->t->failed)
		return 0;
	if (e->t->nodes[n].token != e->token) {
		n = new_node(e, &e->t->nodes[n].range);
		if (!n)
			return 0;
	}
	node = &e->t->nodes[n];
	node->left = left;
	node->right = right;
	node->size = 1 + size_of(e->t, left) + size_of(e->t, right);
	return n;
}

/* As with_children(), when one side may have become one node too heavy or too light. */
static uint32_t balance(struct edit *e, uint32_t n, uint32_t l, uint32_t r)
{
	uint32_t inner, inner_l, inner_r, outer;

	if (e->t->failed)
		return 0;
	if (size_of(e->t, l) + size_of(e->t, r) > 1) {
		if (weight(e, r) > 3 * weight(e, l)) {
			inner = left_of(e, r);
			outer = right_of(e, r);
			if (weight(e, inner) < 2 * weight(e, outer))
				return with_children(e, r, with_children(e, n, l, inner), outer);
			inner_l = left_of(e, inner);
			inner_r = right_of(e, inner);
			l = with_children(e, n, l, inner_l);
			r = with_children(e, r, inner_r, outer);
			return with_children(e, inner, l, r);
		}
		if (weight(e, l) > 3 * weight(e, r)) {
			inner = right_of(e, l);
			outer = left_of(e, l);
			if (weight(e, inner) < 2 * weight(e, outer))
				return with_children(e, l, outer, with_children(e, n, inner, r));
			inner_l = left_of(e, inner);
			inner_r = right_of(e, inner);
			r = with_children(e, n, inner_r, r);
			l = with_children(e, l, outer, inner_l);
			return with_children(e, inner, l, r);
		}
	}
	return with_children(e, n, l, r);
}

/* All of l, then n, then all of r, whatever their sizes.  Recursion: the difference in height. */
static uint32_t join(struct edit *e, uint32_t n, uint32_t l, uint32_t r)
{
	if (e->t->failed)
		return 0;
	if (weight(e, r) > 3 * weight(e, l))
		return balance(e, r, join(e, n, l, left_of(e, r)), right_of(e, r));
	if (weight(e, l) > 3 * weight(e, r))
		return balance(e, l, left_of(e, l), join(e, n, right_of(e, l), r));
	return with_children(e, n, l, r);
}

/* *lo gets the ranges that start below addr, *hi the others. */
static void split(struct edit *e, uint32_t n, uint64_t addr, uint32_t *lo, uint32_t *hi)
{
	uint32_t left, right, part;

	if (!n || e->t->failed) {
		*lo = *hi = 0;
		return;
	}
	left = left_of(e, n);
	right = right_of(e, n);
	if (e->t->nodes[n].range.start < addr) {
		split(e, right, addr, &part, hi);
		*lo = join(e, n, left, part);
	} else {
		split(e, left, addr, lo, &part);
		*hi = join(e, n, part, right);
	}
}

static uint32_t last_of(const struct edit *e, uint32_t n)
{
	while (n && right_of(e, n))
		n = right_of(e, n);
	return n;
}

/* n without its last range. */
static uint32_t drop_last(struct edit *e, uint32_t n)
{
	if (e->t->failed)
		return 0;
	if (!right_of(e, n))
		return left_of(e, n);
	return balance(e, n, left_of(e, n), drop_last(e, right_of(e, n)));
}

static uint32_t append(struct edit *e, uint32_t tree, const struct mappings_range *range)
{
	uint32_t n = new_node(e, range);

	return n ? join(e, n, tree, 0) : 0;
}

static uint32_t prepend(struct edit *e, uint32_t tree, const struct mappings_range *range)
{
	uint32_t n = new_node(e, range);

	return n ? join(e, n, 0, tree) : 0;
}

/* Empties [start, end): *lo is what lies below, *hi what lies above. */
static void clear(struct edit *e, uint32_t root, uint64_t start, uint64_t end, uint32_t *lo,
		  uint32_t *hi)
{
	struct mappings_range last;
	uint32_t middle, rest, n;

	split(e, root, start, lo, &rest);
	split(e, rest, end, &middle, hi);
	n = last_of(e, middle); /* ranges do not overlap: only the last can reach beyond end */
	if (n && e->t->nodes[n].range.end > end) {
		last = e->t->nodes[n].range;
		last.start = end;
		*hi = prepend(e, *hi, &last);
	}
	n = e->t->failed ? 0 : last_of(e, *lo);
	if (!n || e->t->nodes[n].range.end <= start)
		return;
	last = e->t->nodes[n].range;
	*lo = drop_last(e, *lo);
	*lo = append(e, *lo, &(struct mappings_range){ last.start, start, last.value });
	if (last.end > end)
		*hi = prepend(e, *hi, &(struct mappings_range){ end, last.end, last.value });
}

/* Node 0 must exist before any edit. */
static int begin(struct mappings *t)
{
	int err;

	t->failed = false;
	if (t->count)
		return 0;
	err = vec_reserve(&t->nodes, &t->capacity, 1);
	if (err)
		return err;
	memset(&t->nodes[0], 0, sizeof(t->nodes[0]));
	t->count = 1;
	return 0;
}

int mappings_put(struct mappings *t, uint32_t root, const struct mappings_range *range,
		 uint32_t token, uint32_t *out)
{
	struct edit e = { .t = t, .token = token };
	uint32_t lo, hi, n;
	int err;

	if (range->start >= range->end)
		return -EINVAL;
	err = begin(t);
	if (err)
		return err;
	clear(&e, root, range->start, range->end, &lo, &hi);
	n = t->failed ? 0 : new_node(&e, range);
	if (n)
		n = join(&e, n, lo, hi);
	if (t->failed)
		return -ENOMEM;
	*out = n;
	return 0;
}

int mappings_cut(struct mappings *t, uint32_t root, uint64_t start, uint64_t end, uint32_t token,
		 uint32_t *out)
{
	struct edit e = { .t = t, .token = token };
	uint32_t lo, hi, n;
	int err;

	if (start >= end)
		return -EINVAL;
	err = begin(t);
	if (err)
		return err;
	clear(&e, root, start, end, &lo, &hi);
	n = t->failed ? 0 : last_of(&e, lo);
	if (n)
		n = join(&e, n, drop_last(&e, lo), hi);
	else
		n = hi;
	if (t->failed)
		return -ENOMEM;
	*out = n;
	return 0;
}

const struct mappings_range *mappings_overlap(const struct mappings *t, uint32_t root,
					      uint64_t start, uint64_t end)
{
	const struct mappings_range *range;
	uint32_t n = root;

	while (n) {
		range = &t->nodes[n].range;
		if (range->end <= start)
			n = t->nodes[n].right;
		else if (range->start >= end)
			n = t->nodes[n].left;
		else
			return range;
	}
	return NULL;
}

const struct mappings_range *mappings_after(const struct mappings *t, uint32_t root, uint64_t addr)
{
	const struct mappings_range *lowest = NULL;
	uint32_t n = root;

	while (n) {
		if (t->nodes[n].range.end <= addr) {
			n = t->nodes[n].right;
		} else {
			lowest = &t->nodes[n].range;
			n = t->nodes[n].left;
		}
	}
	return lowest;
}

const struct mappings_range *mappings_find(const struct mappings *t, uint32_t root, uint64_t addr)
{
	const struct mappings_node *node;
	uint32_t n = root;

	while (n) {
		node = &t->nodes[n];
		if (addr < node->range.start)
			n = node->left;
		else if (addr >= node->range.end)
			n = node->right;
		else
			return &node->range;
	}
	return NULL;
}

uint32_t mappings_depth(const struct mappings *t, uint32_t root)
{
	uint32_t l, r;

	if (!root)
		return 0;
	l = mappings_depth(t, t->nodes[root].left);
	r = mappings_depth(t, t->nodes[root].right);
	return 1 + (l > r ? l : r);
}
