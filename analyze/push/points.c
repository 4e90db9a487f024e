/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/push/points.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/metric/columns.h"
#include "analyze/metric/selection.h"
#include "format/base/vec.h"
#include "format/text/escape.h"

struct work {
	struct metric_rows rows;
	struct metric_selection selection;
	uint64_t to_wall_ns;
	const struct push_labels *labels; /* NULL: none */
	struct push_points out;
};

/* ---- points ---- */

static int add_field(struct push_field **list, size_t *count, size_t *capacity, const char *key,
		     char *value)
{
	struct push_field f = { .key = strdup(key), .value = value };

	if (!f.key || !f.value || vec_reserve(list, capacity, *count + 1)) {
		free(f.key);
		free(f.value);
		return -ENOMEM;
	}
	(*list)[(*count)++] = f;
	return 0;
}

/* Threads choose their names, and a server that takes only UTF-8 refuses all of a batch for one that is none. */
static char *dimension_text(const struct work *w, const struct metric_table *t,
			    const struct metric_dim *d, const uint64_t *slots)
{
	const struct metric_texts texts = { .names = w->selection.names,
					    .model = w->selection.model };
	char *text = NULL;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);
	char *escaped = NULL;

	if (!to)
		return NULL;
	metric_dimension_put(t, d, slots, &texts, to);
	if (!fclose(to))
		escaped = escape_copy(ESCAPE_TEXT, text, bytes);
	free(text);
	return escaped;
}

static int add_tags(const struct work *w, const struct metric_sums *one, const uint64_t *slots,
		    struct push_point *p)
{
	const char *text;
	int err = 0;

	for (size_t i = 0; i < one->by_count && !err; i++) {
		const char *with = metric_dimension_with(one->table, one->by[i]);
		uint32_t slot = with ? metric_rows_text_slot(one->table, with) : METRIC_ROWS_NONE;

		err = add_field(&p->tags, &p->tag_count, &p->tag_capacity, one->by[i]->name,
				dimension_text(w, one->table, one->by[i], slots));
		if (err || slot == METRIC_ROWS_NONE)
			continue;
		text = string_table_text(w->selection.names, (uint32_t)slots[slot]);
		err = add_field(&p->tags, &p->tag_count, &p->tag_capacity, with,
				escape_copy(ESCAPE_TEXT, text, strlen(text)));
	}
	return err;
}

/* A database's integers have 64 bits with a sign; what is larger stays at its end. */
static char *number_text(__int128 value)
{
	char *text;

	if (value > INT64_MAX)
		value = INT64_MAX;
	if (value < INT64_MIN)
		value = INT64_MIN;
	return asprintf(&text, "%" PRId64, (int64_t)value) < 0 ? NULL : text;
}

static int add_values(const struct metric_sums *one, const uint64_t *slots, struct push_point *p)
{
	__int128 value;
	int err = 0;

	for (const struct metric_column *c = one->view->columns; c->op && !err; c++)
		if (metric_column_has(one->table, c) &&
		    metriccolumn_exact(one->table, c, slots, &value) &&
		    metric_column_is_known(one->table, c, slots))
			err = add_field(&p->values, &p->value_count, &p->value_capacity, c->key,
					number_text(value));
	return err;
}

static bool has_field(const struct push_field *list, size_t count, const char *key)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(list[i].key, key))
			return true;
	return false;
}

static int add_labels(const struct work *w, struct push_point *p)
{
	int err = 0;

	for (size_t i = 0; w->labels && i < w->labels->count && !err; i++) {
		const struct push_label *l = &w->labels->list[i];

		if (!has_field(p->tags, p->tag_count, l->key) &&
		    !has_field(p->values, p->value_count, l->key))
			err = add_field(&p->tags, &p->tag_count, &p->tag_capacity, l->key,
					strdup(l->value));
	}
	return err;
}

static void fields_done(struct push_field *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(list[i].key);
		free(list[i].value);
	}
	free(list);
}

static void point_done(struct push_point *p)
{
	free(p->table);
	fields_done(p->tags, p->tag_count);
	fields_done(p->values, p->value_count);
}

static int add_point(struct work *w, const struct metric_sums *one,
		     const struct metric_aggregate *sum, size_t group)
{
	const uint64_t *slots = metric_aggregate_slots(sum, group);
	struct push_point p = { .table = strdup(one->table->fmt.name),
				.time_ns = sum->to_ns + w->to_wall_ns };
	int err = p.table ? add_tags(w, one, slots, &p) : -ENOMEM;

	if (!err)
		err = add_values(one, slots, &p);
	if (!err)
		err = add_labels(w, &p);
	if (!err && vec_reserve(&w->out.list, &w->out.capacity, w->out.count + 1))
		err = -ENOMEM;
	if (err || !p.value_count)
		point_done(&p);
	else
		w->out.list[w->out.count++] = p;
	return err;
}

static int add_points(struct work *w, struct metric_sums *one)
{
	int err = 0;

	for (size_t i = 0; i < one->sum_count && !err; i++) {
		metric_aggregate_finish(&one->sums[i]);
		for (size_t g = 0; g < one->sums[i].count && !err; g++)
			if (metric_column_wanted(one->table, one->view,
						 metric_aggregate_slots(&one->sums[i], g)))
				err = add_point(w, one, &one->sums[i], g);
	}
	return err;
}

static int compare_tags(const struct push_point *a, const struct push_point *b)
{
	int cmp = 0;

	for (size_t i = 0; i < a->tag_count && i < b->tag_count && !cmp; i++)
		cmp = strcmp(a->tags[i].value, b->tags[i].value);
	return cmp;
}

static int by_time(const void *va, const void *vb)
{
	const struct push_point *a = va, *b = vb;
	int cmp;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	cmp = strcmp(a->table, b->table);
	return cmp ? cmp : compare_tags(a, b);
}

static int make_points(struct work *w)
{
	struct metric_selection *m = &w->selection;
	struct filter all;
	int err = metric_selection_add(m, NULL);

	if (err == -ENOENT) /* it has no tables of intervals */
		return 0;
	filter_init(&all);
	if (!err)
		err = metric_rows_walk(&w->rows, m->names, &all, metric_selection_row, m);
	filter_done(&all);
	for (size_t i = 0; i < m->table_count && !err; i++)
		err = add_points(w, &m->tables[i]);
	if (!err && w->out.count)
		qsort(w->out.list, w->out.count, sizeof(*w->out.list), by_time);
	return err;
}

int push_points_make(const struct capture *c, struct string_table *names,
		     const struct process_model *model, uint64_t to_wall_ns,
		     const struct push_labels *labels, struct push_points *out)
{
	static const struct metric_ask ask = { .interval = true, .no_moments = true };
	struct work *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return -ENOMEM;
	w->to_wall_ns = to_wall_ns;
	w->labels = labels;
	w->selection = (struct metric_selection){
		.ask = &ask, .rows = &w->rows, .names = names, .model = model
	};
	err = metric_rows_open(c, &w->rows);
	if (!err)
		err = make_points(w);
	if (!err) {
		*out = w->out;
		w->out = (struct push_points){ 0 };
	}
	metric_selection_done(&w->selection);
	metric_rows_done(&w->rows);
	push_points_done(&w->out);
	free(w);
	return err;
}

void push_points_done(struct push_points *p)
{
	for (size_t i = 0; i < p->count; i++)
		point_done(&p->list[i]);
	free(p->list);
	*p = (struct push_points){ 0 };
}
