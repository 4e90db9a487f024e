/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/report/profile/callgraph.h"

#include "analyze/report/profile/stack_path.h"

/* The index of the outermost wanted frame; path->count: there is none. */
static size_t outermost(const struct stack_path *path, const bool *wanted)
{
	for (size_t i = path->count; i-- > 0;)
		if (wanted[path->labels[i]])
			return i;
	return path->count;
}

static int descend(struct calltree *t, const struct stack_path *path, size_t from, size_t to,
		   uint32_t *node)
{
	int err = 0;

	/* Innermost frames have the lowest index. */
	if (from <= to)
		for (size_t i = from; !err && i <= to; i++)
			err = calltree_child(t, *node, path->labels[i], node);
	else
		for (size_t i = from + 1; !err && i-- > to;)
			err = calltree_child(t, *node, path->labels[i], node);
	return err;
}

static int add_stack(struct callgraph *g, const struct callgraph_query *q,
		     const struct stack_path *path, uint32_t group, uint64_t weight)
{
	uint32_t node = CALLTREE_ROOT;
	size_t at = 0, last = path->count - 1;
	int err = 0;

	g->sum += weight;
	if (q->shape == CALLGRAPH_CALLERS || q->shape == CALLGRAPH_CALLEES) {
		at = outermost(path, q->wanted);
		if (at == path->count)
			return 0;
	}
	for (size_t i = 0; !err && i < q->level_count; i++)
		err = calltree_child(&g->tree, node, q->levels[group * q->level_count + i], &node);
	if (err)
		return err;
	if (q->shape == CALLGRAPH_TOP_DOWN)
		err = path->count == 1 ? descend(&g->tree, path, 0, 0, &node)
				       : descend(&g->tree, path, last, 0, &node);
	else if (q->shape == CALLGRAPH_CALLEES)
		err = descend(&g->tree, path, at, 0, &node);
	else
		err = descend(&g->tree, path, at, last, &node);
	if (!err)
		g->tree.nodes[node].self += weight;
	return err;
}

static int add_up(struct callgraph *g)
{
	g->totals = calloc(g->tree.count, sizeof(*g->totals));
	if (!g->totals)
		return -ENOMEM;
	for (size_t i = g->tree.count; i-- > 0;) { /* children come after their parents */
		g->totals[i] += g->tree.nodes[i].self;
		if (i)
			g->totals[g->tree.nodes[i].parent] += g->totals[i];
	}
	return 0;
}

int callgraph_build(const struct stack_table *s, const struct callgraph_query *query,
		    struct callgraph *out)
{
	struct stack_path_rule rule = {
		.labels = query->keys->by_function,
		.empty = query->keys->hidden,
		.fold_recursion = query->fold_recursion,
	};
	struct stack_path path = { 0 };
	struct callgraph fresh = { 0 };
	int err = calltree_init(&fresh.tree);

	for (size_t i = 0; !err && i < s->entry_count; i++) {
		const struct stack_table_entry *e = &s->entries[i];

		err = stack_path_read(&path, s, e, &rule);
		if (!err)
			err = add_stack(
				&fresh, query, &path,
				query->level_count ? query->keys->by_group[e->key.group] : 0,
				query->weight == CALLTREE_PERIOD ? e->period_sum : e->sample_count);
	}
	stack_path_done(&path);
	if (!err)
		err = add_up(&fresh);
	if (err)
		callgraph_done(&fresh);
	else
		*out = fresh;
	return err;
}

void callgraph_done(struct callgraph *g)
{
	calltree_done(&g->tree);
	free(g->totals);
	*g = (struct callgraph){ 0 };
}
