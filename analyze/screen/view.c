/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/screen/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/saturate.h"
#include "format/base/vec.h"

const char *view_text(const struct history *h, uint32_t label)
{
	return string_table_text(h->names,
				 label & VIEW_GROUP ? label & ~VIEW_GROUP : h->frames[label].name);
}

const char *view_object(const struct history *h, uint32_t label)
{
	const char *path, *slash;

	if (label & VIEW_GROUP || h->frames[label].is_wait)
		return "";
	path = string_table_text(h->names, h->frames[label].dso);
	slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

size_t view_steps(const struct view *v, uint32_t node, struct view_step *out, size_t room)
{
	size_t depth = 0, i;

	for (uint32_t n = node; n != CALLTREE_ROOT; n = v->tree.nodes[n].parent)
		depth++;
	i = depth;
	for (uint32_t n = node; n != CALLTREE_ROOT; n = v->tree.nodes[n].parent)
		if (--i < room)
			out[i] = (struct view_step){ v->tree.nodes[n].label, true };
	return depth;
}

/* ---- the tree of all ---- */

struct labels {
	struct history *h;
	enum history_by by;
};

static int group_label(void *ctx, uint32_t group, uint32_t *label)
{
	const struct labels *l = ctx;
	int err = history_label(l->h, l->by, group, label);

	*label |= VIEW_GROUP;
	return err;
}

static int build_all(struct history *h, const struct stack_table *stacks,
		     const struct view_query *query, struct calltree *out)
{
	struct labels labels = { h, query->by };
	const struct calltree_labels how = { .group = group_label, .ctx = &labels };

	return calltree_build(stacks, &how,
			      query->measure == HISTORY_CPU ? CALLTREE_SAMPLES : CALLTREE_PERIOD,
			      out);
}

/* ---- what steps and filter leave ---- */

/* What is known of a node of the tree of all. */
struct place {
	uint32_t
		in; /* the node that it is in the view; CALLTREE_NO_NODE: not yet below the last step */
	unsigned step; /* how many steps have been made */
	bool fresh;    /* it made the last of them itself */
	bool matches;  /* it, or a caller, has a name that the filter wants */
};

struct filter_work {
	const struct history *h;
	const struct view_query *query;
	struct place *places;
	int8_t *frame_matches; /* by frame: 0: not asked yet, 1, -1 */
	struct view *out;
};

static bool matches(const struct filter_work *w, uint32_t label)
{
	int8_t *known;

	if (label & VIEW_GROUP)
		return !regexec(w->query->filter, view_text(w->h, label), 0, NULL, 0);
	known = &w->frame_matches[label];
	if (!*known)
		*known = regexec(w->query->filter, view_text(w->h, label), 0, NULL, 0) ? -1 : 1;
	return *known > 0;
}

/* Below the last step: the node is one of the view, but a group whose functions are shown. */
static int enter(struct filter_work *w, const struct place *parent, uint32_t label, struct place *p)
{
	if (parent->in == CALLTREE_ROOT && label & VIEW_GROUP && !w->query->groups) {
		p->in = CALLTREE_ROOT;
		return 0;
	}
	return calltree_child(&w->out->tree, parent->in, label, &p->in);
}

static int place_node(struct filter_work *w, const struct calltree *all, uint32_t node)
{
	uint32_t label = all->nodes[node].label;
	const struct place *parent = &w->places[all->nodes[node].parent];
	const struct view_step *next;
	struct place *p = &w->places[node];

	*p = (struct place){ CALLTREE_NO_NODE, parent->step, false, parent->matches };
	p->matches = p->matches || (w->query->filter && matches(w, label));
	if (parent->in != CALLTREE_NO_NODE)
		return enter(w, parent, label, p);
	next = &w->query->steps[parent->step];
	if (label & VIEW_GROUP && !(next->label & VIEW_GROUP)) {
		p->fresh = parent->fresh; /* steps of calls alone: groups are not there */
		return 0;
	}
	if (next->label != label || (next->direct && !parent->fresh))
		return 0;
	p->step++;
	p->fresh = true;
	if (p->step == w->query->step_count)
		p->in = CALLTREE_ROOT;
	return 0;
}

static int leave(struct filter_work *w, const struct calltree *all)
{
	struct place *root = &w->places[CALLTREE_ROOT];
	struct view *v = w->out;
	int err = 0;

	*root = (struct place){ w->query->step_count ? CALLTREE_NO_NODE : CALLTREE_ROOT, 0, true,
				!w->query->filter };
	for (uint32_t i = 0; !err && i < all->count; i++) {
		uint64_t self = all->nodes[i].self;

		if (i != CALLTREE_ROOT)
			err = place_node(w, all, i);
		v->all = saturate_add(v->all, self);
		if (err || !self || !w->places[i].matches || w->places[i].in == CALLTREE_NO_NODE)
			continue;
		v->left = saturate_add(v->left, self);
		v->tree.nodes[w->places[i].in].self = saturate_add(
			v->tree.nodes[w->places[i].in].self, self);
	}
	return err;
}

/* Parents come before their children. */
static int add_up(struct view *v)
{
	v->totals = calloc(v->tree.count + 1, sizeof(*v->totals));
	if (!v->totals)
		return -ENOMEM;
	for (size_t i = v->tree.count; i--;) {
		v->totals[i] = saturate_add(v->totals[i], v->tree.nodes[i].self);
		if (i != CALLTREE_ROOT)
			v->totals[v->tree.nodes[i].parent] = saturate_add(
				v->totals[v->tree.nodes[i].parent], v->totals[i]);
	}
	return 0;
}

/* ---- rows of a table ---- */

static int add_row(struct view *v, const struct view_row *row)
{
	int err = vec_reserve(&v->rows, &v->capacity, v->count + 1);

	if (!err)
		v->rows[v->count++] = *row;
	return err;
}

static bool is_outermost(const struct calltree *t, uint32_t node)
{
	for (uint32_t n = t->nodes[node].parent; n != CALLTREE_ROOT; n = t->nodes[n].parent)
		if (t->nodes[n].label == t->nodes[node].label)
			return false;
	return true;
}

/* The rows of functions by their label. */
static int add_function(struct view *v, struct hash_index *index, uint32_t node)
{
	uint32_t label = v->tree.nodes[node].label, pos, i;
	uint64_t hash, total = is_outermost(&v->tree, node) ? v->totals[node] : 0;
	int err = hash_index_reserve(index);

	if (err)
		return err;
	hash = hash_index_pair(index, label, 0);
	pos = hash_index_start(index, hash);
	while ((i = hash_index_match(index, hash, &pos)) != HASH_INDEX_NONE)
		if (v->rows[i].label == label)
			break;
	if (i == HASH_INDEX_NONE) {
		i = (uint32_t)v->count;
		err = add_row(v, &(struct view_row){ .label = label });
		if (err)
			return err;
		hash_index_put(index, hash, pos, i);
	}
	v->rows[i].self = saturate_add(v->rows[i].self, v->tree.nodes[node].self);
	v->rows[i].total = saturate_add(v->rows[i].total, total);
	return 0;
}

static int order_of(const struct history *h, uint32_t a, uint32_t b)
{
	int order = strcmp(view_text(h, a), view_text(h, b));

	return order ? order : a < b ? -1 : a > b;
}

static int by_self(const void *va, const void *vb, void *h)
{
	const struct view_row *a = va, *b = vb;

	if (a->self != b->self)
		return a->self > b->self ? -1 : 1;
	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	return order_of(h, a->label, b->label);
}

static int by_total(const void *va, const void *vb, void *h)
{
	const struct view_row *a = va, *b = vb;

	return a->total != b->total ? (a->total > b->total ? -1 : 1)
				    : order_of(h, a->label, b->label);
}

static bool is_group(const struct view *v, uint32_t node)
{
	return node != CALLTREE_ROOT && v->tree.nodes[node].label & VIEW_GROUP;
}

/* Groups where there are some, else functions. */
static int make_table(const struct history *h, struct view *v)
{
	struct hash_index index = { 0 };
	bool groups = false;
	int err = 0;

	for (uint32_t i = 1; !err && i < v->tree.count; i++) {
		if (is_group(v, i) && v->totals[i]) {
			groups = true;
			err = add_row(v, &(struct view_row){ .label = v->tree.nodes[i].label,
							     .node = i,
							     .self = v->totals[i],
							     .total = v->totals[i] });
		}
	}
	for (uint32_t i = 1; !err && !groups && i < v->tree.count; i++)
		if (v->totals[i])
			err = add_function(v, &index, i);
	hash_index_done(&index);
	if (v->count)
		qsort_r(v->rows, v->count, sizeof(*v->rows), groups ? by_total : by_self,
			(void *)(uintptr_t)h);
	return err;
}

/* ---- rows of a tree ---- */

static int by_parent_total(const void *va, const void *vb, void *h)
{
	const struct view_row *a = va, *b = vb;

	return a->depth != b->depth ? (a->depth < b->depth ? -1 : 1) : by_total(va, vb, h);
}

static int by_parent_name(const void *va, const void *vb, void *h)
{
	const struct view_row *a = va, *b = vb;

	return a->depth != b->depth ? (a->depth < b->depth ? -1 : 1)
				    : order_of(h, a->label, b->label);
}

/* The nodes that are large enough, and the first below the root, as rows whose depth is their parent for now: children of one are side by side. */
static int children_of_all(const struct history *h, const struct view *v,
			   const struct view_query *query, struct view_row **out, size_t *count)
{
	uint64_t least = query->least_of ? v->all / query->least_of : 0;
	struct view_row *list = calloc(v->tree.count + 1, sizeof(*list));
	size_t n = 0;

	if (!list)
		return -ENOMEM;
	for (uint32_t i = 1; i < v->tree.count; i++)
		if (v->totals[i] &&
		    (v->totals[i] >= least || v->tree.nodes[i].parent == CALLTREE_ROOT))
			list[n++] = (struct view_row){ .label = v->tree.nodes[i].label,
						       .node = i,
						       .depth = v->tree.nodes[i].parent,
						       .self = v->tree.nodes[i].self,
						       .total = v->totals[i] };
	qsort_r(list, n, sizeof(*list), query->form == VIEW_TREE ? by_parent_total : by_parent_name,
		(void *)(uintptr_t)h);
	*out = list;
	*count = n;
	return 0;
}

struct level {
	size_t next, end; /* of the children that are to come */
	uint64_t at;      /* where the next one begins */
};

static struct level children_in(const struct view_row *list, size_t count, uint32_t parent,
				uint64_t at)
{
	size_t low = 0, high = count, end;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list[middle].depth < parent)
			low = middle + 1;
		else
			high = middle;
	}
	for (end = low; end < count && list[end].depth == parent; end++)
		;
	return (struct level){ low, end, at };
}

/* From each caller to its callees; a stack of levels in place of recursion, which hostile stacks could overflow. */
static int walk(struct view *v, const struct view_row *list, size_t count)
{
	struct level *levels = NULL;
	size_t depth = 0, room = 0;
	int err = vec_reserve(&levels, &room, 1);

	if (err)
		return err;
	levels[0] = children_in(list, count, CALLTREE_ROOT, 0);
	for (;;) {
		struct level *l = &levels[depth];
		struct view_row row;

		if (l->next == l->end) {
			if (!depth--)
				break;
			continue;
		}
		row = list[l->next++];
		row.depth = (unsigned)depth;
		row.at = l->at;
		l->at += row.total;
		err = add_row(v, &row);
		if (!err)
			err = vec_reserve(&levels, &room, depth + 2);
		if (err)
			break;
		levels[++depth] = children_in(list, count, row.node, row.at);
	}
	free(levels);
	return err;
}

static int make_tree(const struct history *h, struct view *v, const struct view_query *query)
{
	struct view_row *list;
	size_t count;
	int err = children_of_all(h, v, query, &list, &count);

	if (err)
		return err;
	err = walk(v, list, count);
	free(list);
	return err;
}

int view_make(struct history *h, const struct stack_table *stacks, const struct view_query *query,
	      struct view *out)
{
	struct view fresh = { 0 };
	struct filter_work work = { .h = h, .query = query, .out = &fresh };
	struct calltree all = { 0 };
	int err = build_all(h, stacks, query, &all);

	if (err)
		return err;
	work.places = calloc(all.count, sizeof(*work.places));
	work.frame_matches = calloc(h->frame_count + 1, 1);
	err = work.places && work.frame_matches ? calltree_init(&fresh.tree) : -ENOMEM;
	if (!err)
		err = leave(&work, &all);
	if (!err)
		err = add_up(&fresh);
	if (!err)
		err = query->form == VIEW_TABLE ? make_table(h, &fresh)
						: make_tree(h, &fresh, query);
	free(work.places);
	free(work.frame_matches);
	calltree_done(&all);
	if (err)
		view_done(&fresh);
	else
		*out = fresh;
	return err;
}

void view_done(struct view *v)
{
	calltree_done(&v->tree);
	free(v->totals);
	free(v->rows);
	*v = (struct view){ 0 };
}
