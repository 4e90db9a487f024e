/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* A table for people: cells first, then their widths are known. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/metric/columns.h"
#include "analyze/metric/forms.h"
#include "analyze/out/message.h"
#include "format/base/vec.h"

/* ---- one value ---- */

static double scaled(double v, enum metric_unit unit)
{
	switch (unit) {
	case METRIC_US:
		return v / 1e3;
	case METRIC_MS:
	case METRIC_MEGA:
		return v / 1e6;
	case METRIC_SEC:
		return v / 1e9;
	case METRIC_KIB:
		return v / 1024;
	default:
		return v;
	}
}

static void put_number(const struct metric_column *c, double v, FILE *to)
{
	static const int decimals[] = {
		[METRIC_PLAIN] = 0, [METRIC_US] = 1,    [METRIC_MS] = 3,    [METRIC_SEC] = 3,
		[METRIC_KIB] = 1,   [METRIC_TENTH] = 1, [METRIC_RATIO] = 3, [METRIC_MEGA] = 3,
	};
	int places = decimals[c->unit];

	if (c->unit == METRIC_PLAIN && !metric_rank_is_integer(c))
		places = 1;
	fprintf(to, "%.*f", places, scaled(v, c->unit));
}

/* ---- cells ---- */

struct cells {
	char **text; /* row by row; owned */
	size_t count, capacity, columns;
	bool *left; /* a column is text */
	bool failed;
};

static bool is_shown(const struct metric_table *t, const struct metric_column *c)
{
	return *c->title && metric_column_has(t, c);
}

static void add_cell(struct cells *c, char *text)
{
	if (!text || vec_reserve(&c->text, &c->capacity, c->count + 1)) {
		c->failed = true;
		free(text);
		return;
	}
	c->text[c->count++] = text;
}

static void cells_done(struct cells *c)
{
	for (size_t i = 0; i < c->count; i++)
		free(c->text[i]);
	free(c->text);
	free(c->left);
}

/* Escapes a text that is being put together, as message_escaped() does. */
static char *escaped(char *text)
{
	char *out = NULL;
	size_t bytes;
	FILE *to = text ? open_memstream(&out, &bytes) : NULL;

	if (to) {
		message_escaped(to, text, strlen(text));
		fclose(to);
	}
	free(text);
	return out;
}

static void dim_cell(struct cells *c, const struct metric_shown *s,
		     const struct metric_aggregate *sum, size_t group, const char *name,
		     const char *indent)
{
	char *text = NULL;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);

	if (to) {
		fputs(indent, to);
		metric_rank_put_dim(s, sum, group, name, to);
		fclose(to);
	}
	add_cell(c, escaped(text));
}

static void put_value(const struct metric_column *c, const struct metric_aggregate *sum,
		      size_t group, FILE *to)
{
	const uint64_t *slots = metric_aggregate_slots(sum, group);

	if (metric_column_is_known(sum->table, c, slots))
		put_number(c,
			   metric_column_value(sum->table, c, slots, metric_rank_elapsed_ns(sum)),
			   to);
	else
		fputc('-', to);
}

static void value_cells(struct cells *c, const struct metric_shown *s,
			const struct metric_aggregate *sum, size_t group)
{
	for (const struct metric_column *col = s->view->columns; col->op; col++) {
		char *text = NULL;
		size_t bytes;
		FILE *to;

		if (!is_shown(sum->table, col))
			continue;
		if (col->op == METRIC_DIM) {
			dim_cell(c, s, sum, group, col->a, "");
			continue;
		}
		to = open_memstream(&text, &bytes);
		if (to) {
			put_value(col, sum, group, to);
			fclose(to);
		}
		add_cell(c, text);
	}
}

/* The dimension's cell with its comm: "1234 cat". */
static void name_cell(struct cells *c, const struct metric_shown *s,
		      const struct metric_aggregate *sum, size_t group, const struct metric_dim *d,
		      const char *indent)
{
	char *text = NULL;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);

	if (to) {
		fputs(indent, to);
		if (metric_dimension_shown_with(sum->table, d)) {
			char *number = NULL;
			size_t number_bytes;
			FILE *n = open_memstream(&number, &number_bytes);

			if (n) {
				metric_rank_put_dim(s, sum, group, d->name, n);
				fclose(n);
				fprintf(to, "%7s ", number);
				free(number);
			}
			metric_rank_put_dim(s, sum, group, d->with, to);
		} else {
			metric_rank_put_dim(s, sum, group, d->name, to);
		}
		fclose(to);
	}
	add_cell(c, escaped(text));
}

static void header_cells(struct cells *c, const struct metric_shown *s,
			 const struct metric_table *t)
{
	char *title = NULL;
	size_t columns = 0;

	if (s->by_count) {
		const char *inner = s->by_count > 1 ? s->by[1]->title : NULL;
		const char *outer_with = metric_dimension_shown_with(t, s->by[0]);
		const char *inner_with = inner ? metric_dimension_shown_with(t, s->by[1]) : NULL;

		if (asprintf(&title, "%s%s%s%s%s%s%s", s->by[0]->title, outer_with ? " " : "",
			     outer_with ? outer_with : "", inner ? " / " : "", inner ? inner : "",
			     inner_with ? " " : "", inner_with ? inner_with : "") < 0)
			title = NULL;
		add_cell(c, title);
	} else {
		add_cell(c, strdup("TIME(s)"));
	}
	columns = 1;
	for (const struct metric_column *col = s->view->columns; col->op; col++) {
		if (!is_shown(t, col))
			continue;
		add_cell(c, strdup(col->title));
		columns++;
	}
	c->columns = columns;
	c->left = calloc(columns, sizeof(bool));
	if (!c->left) {
		c->failed = true;
		return;
	}
	c->left[0] = s->by_count != 0;
	columns = 1;
	for (const struct metric_column *col = s->view->columns; col->op; col++) {
		if (is_shown(t, col))
			c->left[columns++] = col->op == METRIC_DIM &&
					     !metric_rank_is_number(t, col->a);
	}
}

/* Bytes that take no place of their own are those within a UTF-8 character. */
static size_t width_of(const char *text)
{
	size_t width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

static void print_cells(const struct cells *c, FILE *to)
{
	size_t *widths = calloc(c->columns, sizeof(*widths)), w, k;

	if (!widths)
		return;
	for (size_t i = 0; i < c->count; i++) {
		w = width_of(c->text[i]);
		if (w > widths[i % c->columns])
			widths[i % c->columns] = w;
	}
	for (size_t i = 0; i < c->count; i++) {
		k = i % c->columns;
		w = widths[k] - width_of(c->text[i]);
		if (!c->left[k])
			fprintf(to, "%*s", (int)w, "");
		fputs(c->text[i], to);
		if (k + 1 == c->columns)
			putc('\n', to);
		else
			fprintf(to, "%*s", (int)(c->left[k] ? w : 0) + 2, "");
	}
	free(widths);
}

static void put_histogram(const struct metric_aggregate *sum, size_t group,
			  const struct metric_field *f, FILE *to)
{
	static const char stars[] = "****************************************";
	const struct metric_table *t = sum->table;
	const uint64_t *slots = metric_aggregate_slots(sum, group) + t->slots[f - t->fmt.fields];
	uint32_t first = f->count, used = 0;
	uint64_t most = 1;
	int width;

	for (uint32_t i = 0; i < f->count; i++) {
		if (slots[i] && first == f->count)
			first = i;
		if (slots[i])
			used = i + 1;
		most = slots[i] > most ? slots[i] : most;
	}
	if (!used)
		return;
	fprintf(to, "%31s : count    distribution\n", f->name + strlen(METRIC_HISTOGRAM));
	for (uint32_t i = first; i < used; i++) {
		width = (int)(40 * slots[i] / most);
		fprintf(to, "%13" PRIu64 " -> %-14" PRIu64 " : %-8" PRIu64 " |%.*s%*s|\n",
			i ? (uint64_t)1 << i : 0, ((uint64_t)2 << i) - 1, slots[i], width, stars,
			40 - width, "");
	}
	putc('\n', to);
}

static void put_dim(const struct metric_shown *s, const struct metric_aggregate *sum, size_t group,
		    const char *name, FILE *to)
{
	char *text = NULL;
	size_t bytes;
	FILE *m = open_memstream(&text, &bytes);

	if (!m)
		return;
	metric_rank_put_dim(s, sum, group, name, m);
	if (!fclose(m))
		message_escaped(to, text, bytes);
	free(text);
}

static void put_histograms(const struct metric_shown *s, const struct metric_aggregate *sum,
			   size_t group, FILE *to)
{
	const struct metric_field *f = metric_rank_histogram(s, sum->table, NULL);

	if (!f)
		return;
	putc('\n', to);
	if (s->by_count)
		put_dim(s, sum, group, s->by[0]->name, to);
	putc('\n', to);
	for (; f; f = metric_rank_histogram(s, sum->table, f))
		put_histogram(sum, group, f, to);
}

struct inner_count {
	size_t shown, all;
};

/* The rows of one outer group; order: of the inner ones. */
static void inner_cells(struct cells *c, const struct metric_shown *s, size_t of,
			const struct metric_rank *order, struct inner_count *count)
{
	unsigned left = s->top_inner ? s->top_inner : UINT32_MAX;

	count->all += order->first[of + 1] - order->first[of];
	for (size_t i = order->first[of]; i < order->first[of + 1] && left; i++) {
		name_cell(c, s, &s->inner, order->order[i].group, s->by[1], "  ");
		value_cells(c, s, &s->inner, order->order[i].group);
		count->shown++;
		left--;
	}
}

static void time_cell(struct cells *c, const struct metric_shown *s,
		      const struct metric_aggregate *sum, size_t group)
{
	uint64_t ns = sum->groups[group].time_ns;
	char *text;

	ns = ns > s->start_ns ? ns - s->start_ns : 0;
	add_cell(c, asprintf(&text, "%" PRIu64 ".%06" PRIu64, ns / 1000000000,
			     ns % 1000000000 / 1000) < 0
			    ? NULL
			    : text);
}

/* "10 of 12, below them 31 of 70 (-n 0 shows all)": also where only rows below are left out. */
static void put_counts(size_t shown, size_t all, const struct inner_count *inner, FILE *to)
{
	fprintf(to, "%zu of %zu", shown, all);
	if (inner->shown < inner->all)
		fprintf(to, ", below them %zu of %zu", inner->shown, inner->all);
	fputs(shown < all || inner->shown < inner->all ? " (-n 0 shows all)\n" : "\n", to);
}

static void put_legend(const char *legend, FILE *to)
{
	size_t bytes;

	for (; legend && *legend; legend += bytes + (legend[bytes] == '\n')) {
		bytes = strcspn(legend, "\n");
		fprintf(to, "# %.*s\n", (int)bytes, legend);
	}
}

int metric_text_put(const struct metric_shown *s, FILE *to)
{
	const struct metric_aggregate *top = s->by_count > 1 ? &s->outer : &s->inner;
	struct metric_rank order = metric_rank_of(s, top), inner = metricrank_of_inner(s);
	size_t shown = s->top && s->top < order.count ? s->top : order.count;
	struct inner_count below = { 0 };
	struct cells c = { 0 };

	c.failed = !order.order || !inner.order;
	if (!c.failed)
		header_cells(&c, s, top->table);
	for (size_t i = 0; i < shown && !c.failed; i++) {
		if (s->by_count)
			name_cell(&c, s, top, order.order[i].group, s->by[0], "");
		else
			time_cell(&c, s, top, order.order[i].group);
		value_cells(&c, s, top, order.order[i].group);
		if (s->by_count > 1)
			inner_cells(&c, s, order.order[i].group, &inner, &below);
	}
	fprintf(to, "# %s: ", s->view->title);
	if (top->table
		    ->is_interval) /* from the first of some events to the last is no time of theirs */
		fprintf(to, "%.3f s, ", (double)metric_rank_elapsed_ns(top) / 1e9);
	put_counts(shown, order.count, &below, to);
	if (s->with_legend)
		put_legend(s->view->legend, to);
	if (!c.failed)
		print_cells(&c, to);
	for (size_t i = 0; i < shown && !c.failed; i++)
		put_histograms(s, top, order.order[i].group, to);
	cells_done(&c);
	metricrank_done(&order);
	metricrank_done(&inner);
	return c.failed ? -ENOMEM : 0;
}
