/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/flat.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/say.h"

#define MAX_DSO_COLUMNS 32

struct order {
	const struct naming *naming;
	const struct strings *names;
};

static int by_cost(const void *va, const void *vb, void *ctx)
{
	const struct flat_row *a = va, *b = vb;
	const struct order *o = ctx;
	const struct function *fa = &o->naming->functions[a->function];
	const struct function *fb = &o->naming->functions[b->function];
	int cmp;

	if (a->self != b->self)
		return a->self > b->self ? -1 : 1;
	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	cmp = strcmp(strings_text(o->names, fa->name), strings_text(o->names, fb->name));
	if (!cmp)
		cmp = strcmp(strings_text(o->names, fa->dso), strings_text(o->names, fb->dso));
	return cmp ? cmp : (int)fa->reason - (int)fb->reason;
}

/* Whether no caller of node is the same function. */
static bool is_outermost(const struct calltree *t, size_t node)
{
	uint32_t label = t->nodes[node].label, up = t->nodes[node].parent;

	for (; up != CALLTREE_ROOT; up = t->nodes[up].parent)
		if (t->nodes[up].label == label)
			return false;
	return true;
}

static void add_nodes(const struct calltree *t, uint64_t *totals, struct flat *f)
{
	for (size_t i = t->count; i-- > 1;) { /* children come after their parents */
		totals[i] += t->nodes[i].self;
		totals[t->nodes[i].parent] += totals[i];
	}
	for (size_t i = 1; i < t->count; i++) {
		struct flat_row *row = &f->rows[t->nodes[i].label];

		row->self += t->nodes[i].self;
		if (is_outermost(t, i))
			row->total += totals[i];
	}
	f->sum = totals[CALLTREE_ROOT];
}

int flat_make(const struct calltree *t, const struct naming *n, const struct strings *names,
	      struct flat *out)
{
	struct flat fresh = { .count = n->function_count };
	struct order order = { n, names };
	uint64_t *totals = calloc(t->count + 1, sizeof(*totals));

	fresh.rows = calloc(n->function_count + 1, sizeof(*fresh.rows));
	if (!totals || !fresh.rows) {
		free(totals);
		flat_done(&fresh);
		return -ENOMEM;
	}
	for (size_t i = 0; i < fresh.count; i++)
		fresh.rows[i].function = (uint32_t)i;
	add_nodes(t, totals, &fresh);
	free(totals);
	qsort_r(fresh.rows, fresh.count, sizeof(*fresh.rows), by_cost, &order);
	*out = fresh;
	return 0;
}

void flat_done(struct flat *f)
{
	free(f->rows);
	*f = (struct flat){ 0 };
}

/* ---- text ---- */

struct columns {
	int weight, dso;
};

static int digits(uint64_t value)
{
	return value < 10 ? 1 : 1 + digits(value / 10);
}

static struct columns measure(const struct flat *f, const struct naming *n,
			      const struct strings *names, const struct flat_style *style)
{
	struct columns c = { (int)strlen(style->weight), 6 };
	const struct function *function;
	size_t size;

	for (size_t i = 0; i < f->count; i++) {
		if (f->rows[i].total < style->min_total)
			continue;
		function = &n->functions[f->rows[i].function];
		naming_base(strings_text(names, function->dso), &size);
		if (size > MAX_DSO_COLUMNS)
			size = MAX_DSO_COLUMNS;
		if (c.dso < (int)size)
			c.dso = (int)size;
		if (c.weight < digits(f->rows[i].self))
			c.weight = digits(f->rows[i].self);
	}
	return c;
}

static double percent(const struct flat *f, uint64_t value)
{
	return f->sum ? 100.0 * (double)value / (double)f->sum : 0;
}

static void write_row(const struct flat *f, const struct flat_row *row, const struct naming *n,
		      const struct strings *names, struct columns c, FILE *to)
{
	const struct function *function = &n->functions[row->function];
	const char *name = strings_text(names, function->name), *base;
	size_t size;

	base = naming_base(strings_text(names, function->dso), &size);
	fprintf(to, "%7.2f%% %7.2f%%  %*" PRIu64 "  ", percent(f, row->self),
		percent(f, row->total), c.weight, row->self);
	say_escaped(to, base, size);
	fprintf(to, "%*s  [%c] ", size < (size_t)c.dso ? c.dso - (int)size : 0, "",
		function->is_kernel ? 'k' : '.');
	say_escaped(to, name, strlen(name));
	putc('\n', to);
}

void flat_write(const struct flat *f, const struct naming *n, const struct strings *names,
		const struct flat_style *style, FILE *to)
{
	struct columns c = measure(f, n, names, style);
	size_t hidden = 0;

	fprintf(to, "#   self    total  %*s  %-*s  function\n", c.weight, style->weight, c.dso,
		"object");
	for (size_t i = 0; i < f->count; i++) {
		if (!f->rows[i].total)
			continue;
		if (f->rows[i].total >= style->min_total)
			write_row(f, &f->rows[i], n, names, c, to);
		else
			hidden++;
	}
	if (hidden)
		fprintf(to, "# %zu more, each below --min-percent\n", hidden);
}
