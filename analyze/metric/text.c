/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* A table for people: cells first, then their widths are known. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/metric/columns.h"
#include "analyze/metric/out.h"
#include "analyze/out/aligned_table.h"
#include "analyze/out/histogram.h"
#include "analyze/out/message.h"

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

static bool is_shown(const struct metric_table *t, const struct metric_column *c)
{
	return *c->title && metric_column_has(t, c);
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

/* A group of other groups has numbers alone: their texts differ. */
static void value_cells(struct aligned_table *t, const struct metric_shown *s,
			const struct metric_aggregate *sum, size_t group)
{
	for (const struct metric_column *col = s->view->columns; col->op; col++) {
		if (!is_shown(sum->table, col))
			continue;
		if (col->op != METRIC_DIM)
			put_value(col, sum, group, aligned_table_cell(t));
		else if (s->by_count > 1 && sum != &s->inner)
			aligned_table_cell(t);
		else
			metric_rank_put_dim(s, sum, group, col->a, aligned_table_cell(t));
	}
}

/* The dimension's cell with its comm: "1234 cat". */
static void name_cell(struct aligned_table *t, const struct metric_shown *s,
		      const struct metric_aggregate *sum, size_t group, const struct metric_dim *d,
		      const char *indent)
{
	FILE *to = aligned_table_cell(t);
	char *number = NULL;
	size_t number_bytes;
	FILE *n;

	fputs(indent, to);
	if (!metric_dimension_shown_with(sum->table, d)) {
		metric_rank_put_dim(s, sum, group, d->name, to);
		return;
	}
	n = open_memstream(&number, &number_bytes);
	if (n) {
		metric_rank_put_dim(s, sum, group, d->name, n);
		fclose(n);
		fprintf(to, "%7s ", number);
		free(number);
	}
	metric_rank_put_dim(s, sum, group, d->with, to);
}

static void name_column(struct aligned_table *to, const struct metric_shown *s,
			const struct metric_table *t)
{
	const struct aligned_column column = { s->by[0]->title, ALIGNED_COMPLETE, 0 };
	FILE *title = aligned_table_column(to, &column);
	const char *with = metric_dimension_shown_with(t, s->by[0]);

	if (with)
		fprintf(title, " %s", with);
	if (s->by_count < 2)
		return;
	with = metric_dimension_shown_with(t, s->by[1]);
	fprintf(title, " / %s%s%s", s->by[1]->title, with ? " " : "", with ? with : "");
}

static void add_columns(struct aligned_table *to, const struct metric_shown *s,
			const struct metric_table *t)
{
	struct aligned_column column = { "TIME(s)", ALIGNED_NUMBER, 0 };
	bool left;

	if (s->by_count)
		name_column(to, s, t);
	else
		aligned_table_column(to, &column);
	for (const struct metric_column *col = s->view->columns; col->op; col++) {
		if (!is_shown(t, col))
			continue;
		left = col->op == METRIC_DIM && !metric_rank_is_number(t, col->a);
		column.title = col->title;
		column.kind = left ? ALIGNED_COMPLETE : ALIGNED_NUMBER;
		aligned_table_column(to, &column);
	}
}

static void put_histogram(const struct metric_aggregate *sum, size_t group,
			  const struct metric_field *f, FILE *to)
{
	const uint64_t *slots = metric_aggregate_slots(sum, group) +
				sum->table->slots[f - sum->table->fmt.fields];
	size_t first = 0, end = f->count;

	while (end && !slots[end - 1])
		end--;
	while (first < end && !slots[first])
		first++;
	if (first == end)
		return;
	histogram_print(f->name + strlen(METRIC_HISTOGRAM), slots, first, end, to);
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
static void inner_cells(struct aligned_table *c, const struct metric_shown *s, size_t of,
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

static void time_cell(struct aligned_table *t, const struct metric_shown *s,
		      const struct metric_aggregate *sum, size_t group)
{
	uint64_t ns = sum->groups[group].time_ns;

	ns = ns > s->start_ns ? ns - s->start_ns : 0;
	aligned_table_format(t, "%" PRIu64 ".%06" PRIu64, ns / 1000000000, ns % 1000000000 / 1000);
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

static void put_title(const struct metric_shown *s, const struct metric_aggregate *top, FILE *to)
{
	fprintf(to, "# %s: ", s->view->title);
	if (top->table
		    ->is_interval) /* from the first of some events to the last is no time of theirs */
		fprintf(to, "%.3f s, ", (double)metric_rank_elapsed_ns(top) / 1e9);
}

static int put_text(const struct metric_shown *s, FILE *to)
{
	const struct metric_aggregate *top = s->by_count > 1 ? &s->outer : &s->inner;
	struct metric_rank order = metric_rank_of(s, top), inner = metricrank_of_inner(s);
	size_t shown = s->top && s->top < order.count ? s->top : order.count;
	struct inner_count below = { 0 };
	struct aligned_table t = { 0 };
	int err = order.order && inner.order ? aligned_table_init(&t, 2) : -ENOMEM;

	if (err)
		goto out;
	add_columns(&t, s, top->table);
	for (size_t i = 0; i < shown; i++) {
		if (s->by_count)
			name_cell(&t, s, top, order.order[i].group, s->by[0], "");
		else
			time_cell(&t, s, top, order.order[i].group);
		value_cells(&t, s, top, order.order[i].group);
		if (s->by_count > 1)
			inner_cells(&t, s, order.order[i].group, &inner, &below);
	}
	put_title(s, top, to);
	put_counts(shown, order.count, &below, to);
	if (s->with_legend)
		put_legend(s->view->legend, to);
	err = aligned_table_print(&t, 0, to);
	for (size_t i = 0; i < shown && !err; i++)
		put_histograms(s, top, order.order[i].group, to);
out:
	aligned_table_done(&t);
	metricrank_done(&order);
	metricrank_done(&inner);
	return err;
}

int metric_out_put(const struct metric_shown *s, enum metric_form form, bool first,
		   struct json_writer *j)
{
	if (form == METRIC_JSON_FORM)
		return metric_json_put(s, j);
	if (form == METRIC_CSV_FORM)
		return metric_csv_put(s, first, j->to);
	if (!first)
		putc('\n', j->to);
	return put_text(s, j->to);
}
