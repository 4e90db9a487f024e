/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* A table as JSON or as CSV: all numbers as they were recorded. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/metric/columns.h"
#include "analyze/metric/forms.h"
#include "analyze/out/message.h"

/* A double has 53 bits, and counts have up to 64, or more where some are added up. */
static void put_integer(__int128 v, FILE *to)
{
	const uint64_t ten_19 = 10000000000000000000U;
	unsigned __int128 rest = v < 0 ? -(unsigned __int128)v : (unsigned __int128)v;

	if (v < 0)
		putc('-', to);
	if (rest >= ten_19)
		fprintf(to, "%" PRIu64 "%019" PRIu64, (uint64_t)(rest / ten_19),
			(uint64_t)(rest % ten_19));
	else
		fprintf(to, "%" PRIu64, (uint64_t)rest);
}

static void put_value(const struct metric_aggregate *sum, const struct metric_column *c,
		      size_t group, FILE *to)
{
	const uint64_t *slots = metric_aggregate_slots(sum, group);
	__int128 exact;
	double v;

	if (metriccolumn_exact(sum->table, c, slots, &exact)) {
		put_integer(exact, to);
		return;
	}
	v = metric_column_value(sum->table, c, slots, metric_rank_elapsed_ns(sum));
	fprintf(to, v == floor(v) ? "%.0f" : "%.3f", v);
}

static void put_quoted(const struct metric_shown *s, const struct metric_aggregate *sum,
		       size_t group, const char *name, bool csv, FILE *to)
{
	char *text = NULL;
	size_t bytes;
	FILE *m = open_memstream(&text, &bytes);

	if (!m)
		return;
	metric_rank_put_dim(s, sum, group, name, m);
	fclose(m);
	if (csv && metric_rank_is_number(sum->table, name))
		fwrite(text, 1, bytes, to);
	else if (csv)
		message_csv(to, text, bytes);
	else
		message_json(to, text, bytes);
	free(text);
}

/* ", "name": "; comma: "" at first. */
static void json_key(const char **comma, const char *name, FILE *to)
{
	fprintf(to, "%s\"%s\": ", *comma, name);
	*comma = ", ";
}

static void json_dim(const struct metric_shown *s, const struct metric_aggregate *sum, size_t group,
		     const struct metric_dim *d, const char **comma, FILE *to)
{
	const struct metric_table *t = sum->table;
	const char *with = metric_dimension_with(t, d);

	for (size_t i = 0; i < 4 && d->fields[i]; i++) {
		if (d->text || !metric_rank_is_number(t, d->fields[i]))
			continue;
		json_key(comma, d->fields[i], to);
		metric_rank_put_dim(s, sum, group, d->fields[i], to);
	}
	if (!metric_rank_is_number(t, d->name)) {
		json_key(comma, d->name, to);
		put_quoted(s, sum, group, d->name, false, to);
	}
	if (with) {
		json_key(comma, with, to);
		put_quoted(s, sum, group, with, false, to);
	}
}

static void json_values(const struct metric_shown *s, const struct metric_aggregate *sum,
			size_t group, const char **comma, FILE *to)
{
	for (const struct metric_column *c = s->view->columns; c->op; c++) {
		if (!metric_column_has(sum->table, c))
			continue;
		json_key(comma, c->key, to);
		if (c->op != METRIC_DIM)
			put_value(sum, c, group, to);
		else if (metric_rank_is_number(sum->table, c->a))
			metric_rank_put_dim(s, sum, group, c->a, to);
		else
			put_quoted(s, sum, group, c->a, false, to);
	}
}

static void json_histograms(const struct metric_shown *s, const struct metric_aggregate *sum,
			    size_t group, const char **comma, FILE *to)
{
	const struct metric_table *t = sum->table;
	const struct metric_field *f = NULL;
	const uint64_t *slots;
	uint32_t used;

	while ((f = metric_rank_histogram(s, t, f)) != NULL) {
		slots = metric_aggregate_slots(sum, group) + t->slots[f - t->fmt.fields];
		used = 0;
		for (uint32_t i = 0; i < f->count; i++)
			used = slots[i] ? i + 1 : used;
		json_key(comma, f->name, to);
		putc('[', to);
		for (uint32_t i = 0; i < used; i++)
			fprintf(to, "%s%" PRIu64, i ? ", " : "", slots[i]);
		putc(']', to);
	}
}

/* The values of one group, which may be none. */
static void json_group(const struct metric_shown *s, const struct metric_aggregate *sum,
		       size_t group, const struct metric_dim *by, const char **comma, FILE *to)
{
	if (by) {
		json_dim(s, sum, group, by, comma, to);
	} else {
		json_key(comma, "time_ns", to);
		fprintf(to, "%" PRIu64, sum->groups[group].time_ns);
	}
	json_values(s, sum, group, comma, to);
	json_histograms(s, sum, group, comma, to);
}

static void json_inner(const struct metric_shown *s, size_t of, const struct metric_rank *order,
		       const char **comma, FILE *to)
{
	unsigned left = s->top_inner ? s->top_inner : UINT32_MAX;
	const char *first = "";

	json_key(comma, "rows", to);
	putc('[', to);
	for (size_t i = order->first[of]; i < order->first[of + 1] && left; i++) {
		fprintf(to, "%s\n    {", first);
		first = ",";
		*comma = "";
		json_group(s, &s->inner, order->order[i].group, s->by[1], comma, to);
		putc('}', to);
		left--;
	}
	fputs("]", to);
}

/* ---- JSON ---- */

int metric_json_put(const struct metric_shown *s, bool first, FILE *to)
{
	const struct metric_aggregate *top = s->by_count > 1 ? &s->outer : &s->inner;
	struct metric_rank order = metric_rank_of(s, top), inner = metricrank_of_inner(s);
	size_t shown = s->top && s->top < order.count ? s->top : order.count;
	int err = order.order && inner.order ? 0 : -ENOMEM;

	fprintf(to,
		"%s\n {\"name\": \"%s\", \"instrument\": \"%s\", \"from_ns\": %" PRIu64
		", \"to_ns\": %" PRIu64 ", \"group_count\": %zu, \"rows\": [",
		first ? "" : ",", s->view->table, s->view->instrument, top->from_ns, top->to_ns,
		order.count);
	for (size_t i = 0; !err && i < shown; i++) {
		const char *comma = "";

		fprintf(to, "%s\n  {", i ? "," : "");
		json_group(s, top, order.order[i].group, s->by_count ? s->by[0] : NULL, &comma, to);
		if (s->by_count > 1)
			json_inner(s, order.order[i].group, &inner, &comma, to);
		putc('}', to);
	}
	fputs("]}", to);
	metricrank_done(&order);
	metricrank_done(&inner);
	return err;
}

/* ---- CSV ---- */

static void csv_header(const struct metric_shown *s, FILE *to)
{
	const struct metric_table *t = s->inner.table;

	fputs("table,from_ns,to_ns", to);
	for (size_t i = 0; i < s->by_count; i++) {
		fprintf(to, ",%s", s->by[i]->name);
		if (metric_dimension_with(t, s->by[i]))
			fprintf(to, ",%s", s->by[i]->with);
	}
	for (const struct metric_column *c = s->view->columns; c->op; c++) {
		if (metric_column_has(t, c))
			fprintf(to, ",%s", c->key);
	}
	putc('\n', to);
}

static void csv_row(const struct metric_shown *s, size_t group, FILE *to)
{
	const struct metric_aggregate *sum = &s->inner;
	bool moment = !sum->table->is_interval;

	fprintf(to, "%s,%" PRIu64 ",%" PRIu64, s->view->table,
		moment ? sum->groups[group].time_ns : sum->from_ns,
		moment ? sum->groups[group].time_ns : sum->to_ns);
	for (size_t i = 0; i < s->by_count; i++) {
		putc(',', to);
		put_quoted(s, sum, group, s->by[i]->name, true, to);
		if (!metric_dimension_with(sum->table, s->by[i]))
			continue;
		putc(',', to);
		put_quoted(s, sum, group, s->by[i]->with, true, to);
	}
	for (const struct metric_column *c = s->view->columns; c->op; c++) {
		if (!metric_column_has(sum->table, c))
			continue;
		putc(',', to);
		if (c->op == METRIC_DIM)
			put_quoted(s, sum, group, c->a, true, to);
		else
			put_value(sum, c, group, to);
	}
	putc('\n', to);
}

int metric_csv_put(const struct metric_shown *s, bool first, FILE *to)
{
	struct metric_rank order = metric_rank_of(s, &s->inner);
	size_t shown = s->top && s->top < order.count ? s->top : order.count;
	int err;

	if (first)
		csv_header(s, to);
	for (size_t i = 0; order.order && i < shown; i++)
		csv_row(s, order.order[i].group, to);
	err = order.order ? 0 : -ENOMEM;
	metricrank_done(&order);
	return err;
}
