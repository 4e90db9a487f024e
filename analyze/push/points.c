/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/push/points.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/metric/aggregate.h"
#include "analyze/metric/columns.h"
#include "analyze/metric/layouts.h"
#include "format/base/vec.h"
#include "format/text/escape.h"

/* A table on its way. */
struct job {
	const struct metric_table *table;
	const struct metric_view *view;
	struct metric_view own_view;
	struct metric_dim own[METRIC_BY_MAX];
	const struct metric_dim *by[METRIC_BY_MAX];
	size_t by_count;
	uint32_t keys[METRIC_AGGREGATE_KEYS_MAX];
	size_t key_count;
	struct metric_aggregate *sums; /* one an interval */
	size_t sum_count, sum_capacity;
};

struct work {
	struct metric_rows rows;
	struct string_table *names;
	const struct process_model *model;
	uint64_t to_wall_ns;
	struct job jobs[METRIC_TABLES_MAX];
	size_t job_count;
	struct push_points out;
};

/* ---- which tables ---- */

static void add_job(struct work *w, const struct metric_table *t)
{
	struct job *j = &w->jobs[w->job_count];
	uint32_t slots[4];

	*j = (struct job){ .table = t };
	j->view = metric_view_of(t, &j->own_view);
	if (!t->is_interval)
		return;
	for (size_t i = 0; i < METRIC_BY_MAX && j->view->by[i]; i++) {
		const struct metric_dim *d = metric_dimension_find(t, j->view->by[i],
								   &j->own[j->by_count]);
		size_t count = d ? metric_dimension_slots(t, d, slots) : 0;

		if (!count || j->key_count + count > METRIC_AGGREGATE_KEYS_MAX)
			continue;
		memcpy(j->keys + j->key_count, slots, count * sizeof(*slots));
		j->key_count += count;
		j->by[j->by_count++] = d;
	}
	w->job_count++;
}

/* ---- rows ---- */

/* Rows come interval by interval, or nearly so. */
static struct metric_aggregate *sum_of(struct job *j, uint64_t interval)
{
	struct metric_aggregate *sum;

	for (size_t i = j->sum_count; i-- > 0;)
		if (j->sums[i].last_interval == interval + 1)
			return &j->sums[i];
	if (vec_reserve(&j->sums, &j->sum_capacity, j->sum_count + 1))
		return NULL;
	sum = &j->sums[j->sum_count++];
	metric_aggregate_init(sum, j->table, j->keys, j->key_count, !j->by_count);
	return sum;
}

static int add_row(void *ctx, const struct metric_row *r)
{
	struct work *w = ctx;

	for (size_t i = 0; i < w->job_count; i++) {
		struct metric_aggregate *sum;

		if (w->jobs[i].table != r->table)
			continue;
		sum = sum_of(&w->jobs[i], r->slots[r->table->interval]);
		return sum ? metric_aggregate_add(sum, r) : -ENOMEM;
	}
	return 0;
}

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
	const struct metric_texts texts = { .names = w->names, .model = w->model };
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

static int add_tags(const struct work *w, const struct job *j, const uint64_t *slots,
		    struct push_point *p)
{
	const char *text;
	int err = 0;

	for (size_t i = 0; i < j->by_count && !err; i++) {
		const char *with = metric_dimension_with(j->table, j->by[i]);
		uint32_t slot = with ? metric_rows_text_slot(j->table, with) : METRIC_ROWS_NONE;

		err = add_field(&p->tags, &p->tag_count, &p->tag_capacity, j->by[i]->name,
				dimension_text(w, j->table, j->by[i], slots));
		if (err || slot == METRIC_ROWS_NONE)
			continue;
		text = string_table_text(w->names, (uint32_t)slots[slot]);
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

static int add_values(const struct job *j, const uint64_t *slots, struct push_point *p)
{
	__int128 value;
	int err = 0;

	for (const struct metric_column *c = j->view->columns; c->op && !err; c++)
		if (metric_column_has(j->table, c) &&
		    metriccolumn_exact(j->table, c, slots, &value) &&
		    metric_column_is_known(j->table, c, slots))
			err = add_field(&p->values, &p->value_count, &p->value_capacity, c->key,
					number_text(value));
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

static int add_point(struct work *w, const struct job *j, const struct metric_aggregate *sum,
		     size_t group)
{
	const uint64_t *slots = metric_aggregate_slots(sum, group);
	struct push_point p = { .table = strdup(j->table->fmt.name),
				.time_ns = sum->to_ns + w->to_wall_ns };
	int err = p.table ? add_tags(w, j, slots, &p) : -ENOMEM;

	if (!err)
		err = add_values(j, slots, &p);
	if (!err && vec_reserve(&w->out.list, &w->out.capacity, w->out.count + 1))
		err = -ENOMEM;
	if (err || !p.value_count)
		point_done(&p);
	else
		w->out.list[w->out.count++] = p;
	return err;
}

static int add_points(struct work *w, struct job *j)
{
	int err = 0;

	for (size_t i = 0; i < j->sum_count && !err; i++) {
		metric_aggregate_finish(&j->sums[i]);
		for (size_t g = 0; g < j->sums[i].count && !err; g++)
			if (metric_column_wanted(j->table, j->view,
						 metric_aggregate_slots(&j->sums[i], g)))
				err = add_point(w, j, &j->sums[i], g);
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

static void work_done(struct work *w)
{
	for (size_t i = 0; i < w->job_count; i++) {
		for (size_t s = 0; s < w->jobs[i].sum_count; s++)
			metric_aggregate_done(&w->jobs[i].sums[s]);
		free(w->jobs[i].sums);
	}
	metric_rows_done(&w->rows);
	push_points_done(&w->out);
	free(w);
}

int push_points_make(const struct capture *c, struct string_table *names,
		     const struct process_model *model, uint64_t to_wall_ns,
		     struct push_points *out)
{
	struct work *w = calloc(1, sizeof(*w));
	struct filter all;
	int err;

	if (!w)
		return -ENOMEM;
	w->names = names;
	w->model = model;
	w->to_wall_ns = to_wall_ns;
	err = metric_rows_open(c, &w->rows);
	for (size_t i = 0; i < w->rows.count && !err; i++)
		add_job(w, &w->rows.tables[i]);
	filter_init(&all);
	if (!err)
		err = metric_rows_walk(&w->rows, names, &all, add_row, w);
	filter_done(&all);
	for (size_t i = 0; i < w->job_count && !err; i++)
		err = add_points(w, &w->jobs[i]);
	if (!err) {
		if (w->out.count)
			qsort(w->out.list, w->out.count, sizeof(*w->out.list), by_time);
		*out = w->out;
		w->out = (struct push_points){ 0 };
	}
	work_done(w);
	return err;
}

void push_points_done(struct push_points *p)
{
	for (size_t i = 0; i < p->count; i++)
		point_done(&p->list[i]);
	free(p->list);
	*p = (struct push_points){ 0 };
}
