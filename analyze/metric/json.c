/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* A table as JSON or as CSV: all numbers as they were recorded. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/metric/columns.h"
#include "analyze/metric/out.h"
#include "analyze/out/message.h"
#include "format/text/json_writer.h"

#define NUMBER_BYTES 320 /* of 128 bits, or of any double */

/* A double has 53 bits, and counts have up to 64, or more where some are added up. */
static void integer_text(__int128 v, char text[NUMBER_BYTES])
{
	const uint64_t ten_19 = 10000000000000000000U;
	unsigned __int128 rest = v < 0 ? -(unsigned __int128)v : (unsigned __int128)v;
	const char *sign = v < 0 ? "-" : "";

	if (rest >= ten_19)
		snprintf(text, NUMBER_BYTES, "%s%" PRIu64 "%019" PRIu64, sign,
			 (uint64_t)(rest / ten_19), (uint64_t)(rest % ten_19));
	else
		snprintf(text, NUMBER_BYTES, "%s%" PRIu64, sign, (uint64_t)rest);
}

static void value_text(const struct metric_aggregate *sum, const struct metric_column *c,
		       size_t group, char text[NUMBER_BYTES])
{
	const uint64_t *slots = metric_aggregate_slots(sum, group);
	__int128 exact;
	double v;

	if (metriccolumn_exact(sum->table, c, slots, &exact)) {
		integer_text(exact, text);
		return;
	}
	v = metric_column_value(sum->table, c, slots, metric_rank_elapsed_ns(sum));
	snprintf(text, NUMBER_BYTES, v == floor(v) ? "%.0f" : "%.3f", v);
}

/* The name of the group, as it is shown: owned, NULL when memory runs out. */
static char *dim_text(const struct metric_shown *s, const struct metric_aggregate *sum,
		      size_t group, const char *name, size_t *bytes)
{
	char *text = NULL;
	FILE *m = open_memstream(&text, bytes);

	if (!m)
		return NULL;
	metric_rank_put_dim(s, sum, group, name, m);
	fclose(m);
	return text;
}

/* ---- JSON ---- */

static void json_value(const struct metric_aggregate *sum, const struct metric_column *c,
		       size_t group, struct json_writer *j)
{
	char text[NUMBER_BYTES];

	value_text(sum, c, group, text);
	json_writer_number(j, c->key, "%s", text);
}

static void json_name(const struct metric_shown *s, const struct metric_aggregate *sum,
		      size_t group, const char *key, const char *name, bool number,
		      struct json_writer *j)
{
	size_t bytes;
	char *text = dim_text(s, sum, group, name, &bytes);

	if (!text)
		json_writer_null(j, key);
	else if (number)
		json_writer_number(j, key, "%s", text);
	else
		json_writer_text(j, key, text, bytes);
	free(text);
}

static void json_dim(const struct metric_shown *s, const struct metric_aggregate *sum, size_t group,
		     const struct metric_dim *d, struct json_writer *j)
{
	const struct metric_table *t = sum->table;
	const char *with = metric_dimension_with(t, d);

	for (size_t i = 0; i < 4 && d->fields[i]; i++)
		if (!d->text && metric_rank_is_number(t, d->fields[i]))
			json_name(s, sum, group, d->fields[i], d->fields[i], true, j);
	if (!metric_rank_is_number(t, d->name))
		json_name(s, sum, group, d->name, d->name, false, j);
	if (with)
		json_name(s, sum, group, with, with, false, j);
}

static void json_values(const struct metric_shown *s, const struct metric_aggregate *sum,
			size_t group, struct json_writer *j)
{
	for (const struct metric_column *c = s->view->columns; c->op; c++) {
		if (!metric_column_has(sum->table, c))
			continue;
		if (c->op == METRIC_DIM)
			json_name(s, sum, group, c->key, c->a,
				  metric_rank_is_number(sum->table, c->a), j);
		else
			json_value(sum, c, group, j);
	}
}

static void json_histograms(const struct metric_shown *s, const struct metric_aggregate *sum,
			    size_t group, struct json_writer *j)
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
		json_writer_begin_array(j, f->name);
		for (uint32_t i = 0; i < used; i++)
			json_writer_u64(j, NULL, slots[i]);
		json_writer_end_array(j);
	}
}

/* The values of one group, which may be none. */
static void json_group(const struct metric_shown *s, const struct metric_aggregate *sum,
		       size_t group, const struct metric_dim *by, struct json_writer *j)
{
	if (by)
		json_dim(s, sum, group, by, j);
	else
		json_writer_u64(j, "time_ns", sum->groups[group].time_ns);
	json_values(s, sum, group, j);
	json_histograms(s, sum, group, j);
}

static void json_inner(const struct metric_shown *s, size_t of, const struct metric_rank *order,
		       struct json_writer *j)
{
	unsigned left = s->top_inner ? s->top_inner : UINT32_MAX;

	json_writer_begin_array(j, "rows");
	for (size_t i = order->first[of]; i < order->first[of + 1] && left; i++) {
		json_writer_line(j, 4);
		json_writer_begin(j, NULL);
		json_group(s, &s->inner, order->order[i].group, s->by[1], j);
		json_writer_end(j);
		left--;
	}
	json_writer_end_array(j);
}

int metric_json_put(const struct metric_shown *s, struct json_writer *j)
{
	const struct metric_aggregate *top = s->by_count > 1 ? &s->outer : &s->inner;
	struct metric_rank order = metric_rank_of(s, top), inner = metricrank_of_inner(s);
	size_t shown = s->top && s->top < order.count ? s->top : order.count;
	int err = order.order && inner.order ? 0 : -ENOMEM;

	json_writer_line(j, 1);
	json_writer_begin(j, NULL);
	json_writer_string(j, "name", s->view->table);
	json_writer_string(j, "instrument", s->view->instrument);
	json_writer_u64(j, "from_ns", top->from_ns);
	json_writer_u64(j, "to_ns", top->to_ns);
	json_writer_u64(j, "group_count", order.count);
	json_writer_begin_array(j, "rows");
	for (size_t i = 0; !err && i < shown; i++) {
		json_writer_line(j, 2);
		json_writer_begin(j, NULL);
		json_group(s, top, order.order[i].group, s->by_count ? s->by[0] : NULL, j);
		if (s->by_count > 1)
			json_inner(s, order.order[i].group, &inner, j);
		json_writer_end(j);
	}
	json_writer_end_array(j);
	json_writer_end(j);
	metricrank_done(&order);
	metricrank_done(&inner);
	return err;
}

/* ---- CSV ---- */

static void csv_value(const struct metric_aggregate *sum, const struct metric_column *c,
		      size_t group, FILE *to)
{
	char text[NUMBER_BYTES];

	value_text(sum, c, group, text);
	fputs(text, to);
}

static void csv_name(const struct metric_shown *s, const struct metric_aggregate *sum, size_t group,
		     const char *name, FILE *to)
{
	size_t bytes;
	char *text = dim_text(s, sum, group, name, &bytes);

	if (text && metric_rank_is_number(sum->table, name))
		fwrite(text, 1, bytes, to);
	else if (text)
		message_csv(to, text, bytes);
	free(text);
}

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
		csv_name(s, sum, group, s->by[i]->name, to);
		if (!metric_dimension_with(sum->table, s->by[i]))
			continue;
		putc(',', to);
		csv_name(s, sum, group, s->by[i]->with, to);
	}
	for (const struct metric_column *c = s->view->columns; c->op; c++) {
		if (!metric_column_has(sum->table, c))
			continue;
		putc(',', to);
		if (c->op == METRIC_DIM)
			csv_name(s, sum, group, c->a, to);
		else
			csv_value(sum, c, group, to);
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
