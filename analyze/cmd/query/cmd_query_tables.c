/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/cmd/query/cmd_query_tables.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/out/terminal.h"
#include "analyze/out/text_table.h"
#include "analyze/report/profile/callgraph.h"
#include "analyze/report/profile/flame_svg.h"

#define TABLE_ROWS 30

/* ---- functions ---- */

struct row {
	uint32_t label;
	uint64_t self, total;
};

static int by_self(const void *va, const void *vb, void *arg)
{
	const struct row *a = va, *b = vb;

	if (a->self != b->self)
		return a->self > b->self ? -1 : 1;
	return strcmp(string_table_text(arg, a->label), string_table_text(arg, b->label));
}

/* Whether the label stands above a node, too: a recursion counts once. */
static bool is_above(const struct calltree *t, uint32_t node)
{
	uint32_t label = t->nodes[node].label;

	for (node = t->nodes[node].parent; node; node = t->nodes[node].parent)
		if (t->nodes[node].label == label)
			return true;
	return false;
}

/* A row for each label; owned, NULL: no memory.  Comms, which are below the root, are no functions. */
static struct row *make_rows(const struct push_fleet *f, size_t *count)
{
	const struct calltree *t = &f->tree;
	struct row *rows = calloc(string_table_count(f->names) + 1, sizeof(*rows));
	uint64_t *totals = calloc(t->count + 1, sizeof(*totals));

	*count = string_table_count(f->names);
	for (size_t i = 0; rows && i < *count; i++)
		rows[i].label = (uint32_t)i;
	for (size_t i = t->count; rows && totals && i-- > 1;) {
		const struct calltree_node *n = &t->nodes[i];

		totals[i] += n->self;
		totals[n->parent] += totals[i];
		if (n->parent == CALLTREE_ROOT && !n->self)
			continue;
		rows[n->label].self += n->self;
		if (!is_above(t, (uint32_t)i))
			rows[n->label].total += totals[i];
	}
	if (!totals) {
		free(rows);
		rows = NULL;
	}
	free(totals);
	return rows;
}

int query_tables_functions(const struct push_fleet *f, bool json)
{
	static const char *const columns[] = { "function", "self", "total", "share" };
	struct text_table *v;
	size_t count;
	struct row *rows = make_rows(f, &count);

	if (!rows || text_table_open(stdout, json, &v)) {
		free(rows);
		return -ENOMEM;
	}
	qsort_r(rows, count, sizeof(*rows), by_self, f->names);
	text_table_begin(v, "functions", columns, 4);
	for (size_t i = 0; i < count && rows[i].self && (json || i < TABLE_ROWS); i++) {
		text_table_row(v);
		text_table_text(v, "function", string_table_text(f->names, rows[i].label));
		text_table_number(v, "self", rows[i].self);
		text_table_number(v, "total", rows[i].total);
		text_table_percent(v, "share", rows[i].self, f->sum);
	}
	text_table_end(v);
	free(rows);
	return text_table_close(v);
}

/* ---- the tree ---- */

/* Labels are comms below the root, and functions: the first half of the labels, and the second. */
static int make_labels(const struct push_fleet *f, struct callgraph *g, struct row_keys *keys)
{
	const size_t count = string_table_count(f->names);

	keys->labels = calloc(2 * count + 1, sizeof(*keys->labels));
	g->totals = calloc(f->tree.count + 1, sizeof(*g->totals));
	g->tree = f->tree;
	g->tree.nodes = calloc(f->tree.count + 1, sizeof(*g->tree.nodes));
	if (!keys->labels || !g->totals || !g->tree.nodes)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		keys->labels[i].texts[KEY_COMM] = (uint32_t)i;
		keys->labels[count + i].texts[KEY_SYMBOL] = (uint32_t)i;
		keys->labels[count + i].is_kernel = f->kinds[i] == FLAME_KERNEL;
	}
	keys->count = 2 * count;
	for (size_t i = f->tree.count; i-- > 1;) {
		struct calltree_node *n = &g->tree.nodes[i];

		*n = f->tree.nodes[i];
		if (n->parent != CALLTREE_ROOT)
			n->label += (uint32_t)count;
		g->totals[i] += n->self;
		g->totals[n->parent] += g->totals[i];
	}
	g->sum = f->sum;
	return 0;
}

int query_tables_tree(const struct push_fleet *f, const struct callgraph_style *style)
{
	struct row_keys keys = { 0 };
	struct callgraph g = { .sum = 0 };
	int err = make_labels(f, &g, &keys);

	if (!err)
		err = callgraph_write(&g, &keys, f->names, style, stdout);
	free(keys.labels);
	free(g.totals);
	free(g.tree.nodes);
	return err;
}

/* ---- what changed ---- */

struct pair {
	const char *name;
	uint64_t before, after;
	double change; /* of the share, in percent points */
};

static int by_name(const void *va, const void *vb)
{
	return strcmp(((const struct pair *)va)->name, ((const struct pair *)vb)->name);
}

static int by_change(const void *va, const void *vb)
{
	const struct pair *a = va, *b = vb;
	double x = fabs(a->change), y = fabs(b->change);

	return x != y ? (x > y ? -1 : 1) : strcmp(a->name, b->name);
}

/* Adds the rows of one side; those without a cost of their own have none. */
static size_t add_pairs(struct pair *pairs, size_t count, const struct push_fleet *f,
			const struct row *rows, size_t row_count, bool is_after)
{
	for (size_t i = 0; i < row_count; i++) {
		struct pair p = { .name = string_table_text(f->names, rows[i].label) };

		if (!rows[i].self)
			continue;
		*(is_after ? &p.after : &p.before) = rows[i].self;
		pairs[count++] = p;
	}
	return count;
}

/* Sorted by name: those of the same name become one. */
static size_t join_pairs(struct pair *pairs, size_t count)
{
	size_t out = 0;

	for (size_t i = 0; i < count; i++) {
		if (out && !strcmp(pairs[out - 1].name, pairs[i].name)) {
			pairs[out - 1].before += pairs[i].before;
			pairs[out - 1].after += pairs[i].after;
		} else {
			pairs[out++] = pairs[i];
		}
	}
	return out;
}

static double share(uint64_t part, uint64_t sum)
{
	return sum ? (double)part * 100 / (double)sum : 0;
}

static int write_pairs(const struct pair *pairs, size_t count, uint64_t before, uint64_t after,
		       bool json)
{
	static const char *const columns[] = { "function",     "before",      "after",
					       "share_before", "share_after", "change" };
	struct text_table *v;
	char change[32];

	if (text_table_open(stdout, json, &v))
		return -ENOMEM;
	text_table_begin(v, "functions", columns, 6);
	for (size_t i = 0; i < count && (json || i < TABLE_ROWS); i++) {
		text_table_row(v);
		text_table_text(v, "function", pairs[i].name);
		text_table_number(v, "before", pairs[i].before);
		text_table_number(v, "after", pairs[i].after);
		text_table_percent(v, "share_before", pairs[i].before, before);
		text_table_percent(v, "share_after", pairs[i].after, after);
		snprintf(change, sizeof(change), "%+.2f", pairs[i].change);
		text_table_text(v, "change", change);
	}
	text_table_end(v);
	return text_table_close(v);
}

int query_tables_diff(const struct push_fleet *before, const struct push_fleet *after, bool json)
{
	size_t counts[2], count = 0;
	struct row *rows[2] = { make_rows(before, &counts[0]), make_rows(after, &counts[1]) };
	struct pair *pairs = calloc(counts[0] + counts[1] + 1, sizeof(*pairs));
	int err = rows[0] && rows[1] && pairs ? 0 : -ENOMEM;

	if (!err) {
		count = add_pairs(pairs, 0, before, rows[0], counts[0], false);
		count = add_pairs(pairs, count, after, rows[1], counts[1], true);
		qsort(pairs, count, sizeof(*pairs), by_name);
		count = join_pairs(pairs, count);
		for (size_t i = 0; i < count; i++)
			pairs[i].change = share(pairs[i].after, after->sum) -
					  share(pairs[i].before, before->sum);
		qsort(pairs, count, sizeof(*pairs), by_change);
		err = write_pairs(pairs, count, before->sum, after->sum, json);
	}
	free(rows[0]);
	free(rows[1]);
	free(pairs);
	return err;
}
