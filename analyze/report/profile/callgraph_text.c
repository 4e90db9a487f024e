/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* callgraph, as an indented text and as JSON */
#include <inttypes.h>
#include <string.h>

#include "analyze/report/profile/callgraph.h"
#include "analyze/out/message.h"
#include "analyze/out/number_text.h"
#include "format/base/vec.h"
#include "format/text/json_writer.h"

#define CALLGRAPH_SCHEMA   1
#define NAME_COLUMNS_LEAST 12

struct printer {
	const struct callgraph *g;
	const struct row_keys *keys;
	const struct string_table *names;
	const struct callgraph_style *style;
	uint32_t *children; /* node numbers, those of a parent side by side */
	size_t *first;      /* by node: its children are [first[n], first[n + 1]) */
	int weight_width;
	FILE *to;
};

/* A node whose children are being printed. */
struct level {
	size_t next, end;
	uint64_t small_sum; /* of the children that were too small to print */
	size_t small_count;
};

/* ---- order ---- */

static int by_texts(const struct printer *p, uint32_t a, uint32_t b)
{
	const struct row_keys_label *la = &p->keys->labels[a], *lb = &p->keys->labels[b];
	int cmp;

	for (size_t k = SORT_KEY_COUNT; k-- > 0;) {
		cmp = la->texts[k] == lb->texts[k]
			      ? 0
			      : strcmp(string_table_text(p->names, la->texts[k]),
				       string_table_text(p->names, lb->texts[k]));
		if (cmp)
			return cmp;
	}
	return (int)la->is_kernel - (int)lb->is_kernel;
}

static int by_cost(const void *va, const void *vb, void *ctx)
{
	uint32_t a = *(const uint32_t *)va, b = *(const uint32_t *)vb;
	const struct printer *p = ctx;

	if (p->g->totals[a] != p->g->totals[b])
		return p->g->totals[a] > p->g->totals[b] ? -1 : 1;
	return by_texts(p, p->g->tree.nodes[a].label, p->g->tree.nodes[b].label);
}

static int sort_children(struct printer *p)
{
	const struct calltree *t = &p->g->tree;

	p->first = calloc(t->count + 2, sizeof(*p->first));
	p->children = calloc(t->count + 1, sizeof(*p->children));
	if (!p->first || !p->children)
		return -ENOMEM;
	for (size_t i = 1; i < t->count; i++)
		p->first[t->nodes[i].parent + 2]++;
	for (size_t i = 2; i < t->count + 2; i++)
		p->first[i] += p->first[i - 1];
	for (size_t i = 1; i < t->count; i++)
		p->children[p->first[t->nodes[i].parent + 1]++] = (uint32_t)i;
	for (size_t i = 0; i < t->count; i++)
		qsort_r(p->children + p->first[i], p->first[i + 1] - p->first[i],
			sizeof(*p->children), by_cost, p);
	return 0;
}

/* ---- lines ---- */

static bool is_small(const struct printer *p, uint64_t value)
{
	return !value || number_percent(value, p->g->sum) < p->style->min_percent;
}

static void write_costs(const struct printer *p, uint64_t total, uint64_t self)
{
	terminal_percent(p->to, &p->style->look, number_percent(total, p->g->sum));
	if (!p->style->no_self) {
		putc(' ', p->to);
		terminal_percent(p->to, &p->style->look, number_percent(self, p->g->sum));
	}
	fprintf(p->to, "  %*" PRIu64 "  ", p->weight_width, total);
}

/* Whether something comes below the node that was taken last from the level. */
static bool has_more(const struct level *level)
{
	return level->next < level->end || level->small_sum;
}

/* Lines from parents to children where the terminal can draw them, else blanks. */
static void write_branch(const struct printer *p, const struct level *levels, size_t depth,
			 bool last)
{
	const struct terminal *look = &p->style->look;

	if (!look->utf8) {
		fprintf(p->to, "%*s", (int)(2 * depth), "");
		return;
	}
	if (!depth)
		return;
	fputs(terminal_ink(look, INK_FAINT), p->to);
	for (size_t i = 1; i < depth; i++)
		fputs(has_more(&levels[i]) ? "\xe2\x94\x82 " : "  ", p->to);
	fputs(last ? "\xe2\x94\x94\xe2\x94\x80" : "\xe2\x94\x9c\xe2\x94\x80", p->to);
	fputs(terminal_plain(look, INK_FAINT), p->to);
}

/* How much of a terminal's line is left for a function at this depth; 0: no limit. */
static unsigned columns_left(const struct printer *p, size_t depth)
{
	size_t used = 8 + (p->style->no_self ? 0 : 9) + 4 + (size_t)p->weight_width + 2 * depth + 4;

	if (!p->style->look.columns)
		return 0;
	return p->style->look.columns > used + NAME_COLUMNS_LEAST
		       ? p->style->look.columns - (unsigned)used
		       : NAME_COLUMNS_LEAST;
}

/* The symbol first, then what else was asked for, as far as there is room. */
static void write_label(const struct printer *p, const struct row_keys_label *label,
			unsigned columns)
{
	const char *text, *before = "";
	unsigned used = 0, wide;

	if (label->texts[KEY_SYMBOL]) {
		text = string_table_text(p->names, label->texts[KEY_SYMBOL]);
		fputs(label->is_kernel ? "[k] " : "[.] ", p->to);
		message_escaped_within(p->to, text, strlen(text), columns);
		used = columns ? message_columns(text, strlen(text)) : 0;
		before = "  ";
	}
	for (enum sort_key k = 0; k < SORT_KEY_COUNT; k++) {
		text = string_table_text(p->names, label->texts[k]);
		if (k == KEY_SYMBOL || !*text)
			continue;
		wide = 2 + message_columns(text, strlen(text));
		if (columns && used && used + wide > columns)
			continue;
		used += wide;
		fputs(before, p->to);
		if (sort_key_info(k)->is_number)
			fprintf(p->to, "%s ", sort_key_info(k)->name);
		message_escaped(p->to, text, strlen(text));
		before = "  ";
	}
}

static void write_node(const struct printer *p, uint32_t node, const struct level *levels,
		       size_t depth)
{
	const struct calltree_node *n = &p->g->tree.nodes[node];

	write_costs(p, p->g->totals[node], n->self);
	write_branch(p, levels, depth, !has_more(&levels[depth]));
	write_label(p, &p->keys->labels[n->label], columns_left(p, depth));
	putc('\n', p->to);
}

static void write_small(const struct printer *p, const struct level *levels, size_t depth)
{
	const struct level *level = &levels[depth];

	if (!level->small_sum)
		return;
	write_costs(p, level->small_sum, 0);
	write_branch(p, levels, depth, /* last= */ true);
	fprintf(p->to, "(%zu more)\n", level->small_count);
}

static int write_text(struct printer *p)
{
	struct level *levels = NULL, *level;
	size_t depth = 0, capacity = 0;
	uint32_t node;
	int err = vec_reserve(&levels, &capacity, 1);

	if (!err)
		levels[depth++] = (struct level){ .next = p->first[0], .end = p->first[1] };
	while (!err && depth) {
		level = &levels[depth - 1];
		if (level->next == level->end) {
			write_small(p, levels, depth - 1);
			depth--;
			continue;
		}
		node = p->children[level->next++];
		if (is_small(p, p->g->totals[node])) {
			level->small_sum += p->g->totals[node];
			level->small_count++;
			continue;
		}
		write_node(p, node, levels, depth - 1);
		if (p->style->max_depth && depth >= p->style->max_depth)
			continue;
		err = vec_reserve(&levels, &capacity, depth + 1);
		if (!err)
			levels[depth++] = (struct level){ .next = p->first[node],
							  .end = p->first[node + 1] };
	}
	free(levels);
	return err;
}

static void write_headings(struct printer *p)
{
	char digits[24];
	int width = snprintf(digits, sizeof(digits), "%" PRIu64, p->g->totals[CALLTREE_ROOT]);

	p->weight_width = (int)strlen(p->style->weight);
	if (p->weight_width < width)
		p->weight_width = width;
	fprintf(p->to, "%s#  total%s  %*s  function%s\n", terminal_ink(&p->style->look, INK_FAINT),
		p->style->no_self ? "" : "     self", p->weight_width, p->style->weight,
		terminal_plain(&p->style->look, INK_FAINT));
}

/* ---- JSON: a flat list, since a call tree is deeper than readers nest ---- */

static void json_node(const struct printer *p, uint32_t node, struct json_writer *j)
{
	const struct calltree_node *n = &p->g->tree.nodes[node];
	const struct row_keys_label *label = &p->keys->labels[n->label];
	const char *text;

	json_writer_begin(j, NULL);
	json_writer_u64(j, "id", node);
	json_writer_u64(j, "parent", n->parent);
	json_writer_u64(j, "total", p->g->totals[node]);
	json_writer_u64(j, "self", n->self);
	for (enum sort_key k = 0; k < SORT_KEY_COUNT; k++) {
		text = string_table_text(p->names, label->texts[k]);
		if (*text)
			sort_key_json(j, k, text);
	}
	if (label->texts[KEY_SYMBOL])
		json_writer_bool(j, "kernel", label->is_kernel);
	json_writer_end(j);
}

/* A node that is left out is in the total of its parent, as are those below it. */
static int write_json(struct printer *p)
{
	const struct calltree *t = &p->g->tree;
	uint32_t *depths = calloc(t->count + 1, sizeof(*depths)), depth;
	struct json_writer j = { .to = p->to, .layout = JSON_WRITER_SPACED, .line_depth = 2 };

	if (!depths)
		return -ENOMEM;
	json_writer_begin(&j, NULL);
	json_writer_u64(&j, "schema", CALLGRAPH_SCHEMA);
	if (p->style->event)
		json_writer_string(&j, "event", p->style->event);
	json_writer_string(&j, "weight", p->style->weight);
	json_writer_u64(&j, "sum", p->g->sum);
	json_writer_begin_array(&j, "nodes");
	for (uint32_t i = 1; i < t->count; i++) {
		depth = depths[t->nodes[i].parent]; /* a parent comes before its children */
		if (depth == UINT32_MAX || (p->style->max_depth && depth >= p->style->max_depth) ||
		    number_percent(p->g->totals[i], p->g->sum) < p->style->min_percent) {
			depths[i] = UINT32_MAX;
			continue;
		}
		depths[i] = depth + 1;
		json_node(p, i, &j);
	}
	json_writer_end_array(&j);
	json_writer_end(&j);
	free(depths);
	return 0;
}

int callgraph_write(const struct callgraph *g, const struct row_keys *keys,
		    const struct string_table *names, const struct callgraph_style *style, FILE *to)
{
	struct printer p = { .g = g, .keys = keys, .names = names, .style = style, .to = to };
	int err = 0;

	if (style->json)
		return write_json(&p);
	err = sort_children(&p);
	if (!err) {
		write_headings(&p);
		err = write_text(&p);
	}
	free(p.first);
	free(p.children);
	return err;
}
