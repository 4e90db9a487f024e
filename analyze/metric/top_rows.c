/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/metric/top_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/metric/columns.h"

static int by_value(const void *va, const void *vb)
{
	const struct metric_rank_entry *a = va, *b = vb;

	if (a->is_last != b->is_last)
		return a->is_last ? 1 : -1;
	if (a->value != b->value)
		return a->value > b->value ? -1 : 1;
	return a->group < b->group ? -1 : a->group > b->group;
}

static const struct metric_column *column_called(const struct metric_view *v, const char *key)
{
	for (size_t i = 0; key && v->columns[i].op; i++) {
		if (!strcmp(v->columns[i].key, key))
			return &v->columns[i];
	}
	return NULL;
}

uint64_t metric_rank_elapsed_ns(const struct metric_aggregate *s)
{
	return s->to_ns - s->from_ns;
}

/* Whether a group is of the symbol that the view has behind all others. */
static bool is_last(const struct metric_shown *s, const struct metric_aggregate *sum, size_t group)
{
	uint32_t address = metric_rows_slot(sum->table, "address");
	uint32_t symbol = metric_rows_text_slot(sum->table, "symbol");

	if (!s->view->last || symbol == METRIC_ROWS_NONE)
		return false;
	for (size_t i = 0; i < sum->key_count; i++)
		if (sum->keys[i] == address || sum->keys[i] == symbol)
			return !strcmp(
				string_table_text(s->texts.names, (uint32_t)metric_aggregate_slots(
									  sum, group)[symbol]),
				s->view->last);
	return false;
}

/* An outer group of which those are only a part has its place by the rest.  order: the i-th is of group i. */
static void leave_last_out(const struct metric_shown *s, const struct metric_column *by,
			   struct metric_rank_entry *order)
{
	const uint64_t *slots;
	uint32_t outer;

	for (size_t i = 0; i < s->inner.count; i++) {
		if (!is_last(s, &s->inner, i))
			continue;
		slots = metric_aggregate_slots(&s->inner, i);
		outer = metricsum_find(&s->outer, slots);
		if (outer != HASH_INDEX_NONE && !order[outer].is_last)
			order[outer].value -= metric_column_value(
				s->inner.table, by, slots, metric_rank_elapsed_ns(&s->inner));
	}
}

struct metric_rank metric_rank_of(const struct metric_shown *s, const struct metric_aggregate *sum)
{
	bool smallest = s->sort && s->sort[0] == '-';
	const struct metric_column *by = column_called(s->view,
						       s->sort ? s->sort + smallest : NULL);
	struct metric_rank r = { .order = calloc(sum->count + 1, sizeof(*r.order)) };
	struct metric_rank_entry *to;

	for (size_t i = 0; r.order && i < sum->count; i++) {
		if (!metric_column_wanted(sum->table, s->view, metric_aggregate_slots(sum, i)))
			continue;
		to = &r.order[r.count++];
		to->group = (uint32_t)i;
		to->is_last = is_last(s, sum, i);
		if (by && by->op != METRIC_DIM)
			to->value = (smallest ? -1 : 1) *
				    metric_column_value(sum->table, by,
							metric_aggregate_slots(sum, i),
							metric_rank_elapsed_ns(sum));
		else if (!sum->table->is_interval)
			to->value = -(double)sum->groups[i].time_ns;
	}
	if (sum == &s->outer && r.count == sum->count && by && by->op == METRIC_SUM && !smallest)
		leave_last_out(s, by, r.order);
	if (r.count)
		qsort(r.order, r.count, sizeof(*r.order), by_value);
	return r;
}

/* Each inner group is of one outer group: both are sums of the same rows.  -ENOMEM: as it was. */
static int split_by_outer(struct metric_rank *r, const struct metric_shown *s)
{
	struct metric_rank_entry *sorted = calloc(r->count + 1, sizeof(*sorted));
	size_t *first = calloc(s->outer.count + 2, sizeof(*first));
	uint32_t *of = calloc(r->count + 1, sizeof(*of));
	int err = sorted && first && of ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < r->count; i++) {
		of[i] = metricsum_find(&s->outer,
				       metric_aggregate_slots(&s->inner, r->order[i].group));
		if (of[i] != HASH_INDEX_NONE)
			first[of[i] + 2]++;
	}
	for (size_t i = 2; !err && i < s->outer.count + 2; i++)
		first[i] += first[i - 1];
	for (size_t i = 0; !err && i < r->count; i++)
		if (of[i] != HASH_INDEX_NONE)
			sorted[first[of[i] + 1]++] = r->order[i];
	free(of);
	if (err) {
		free(sorted);
		free(first);
		return err;
	}
	free(r->order);
	r->order = sorted;
	r->first = first;
	return 0;
}

struct metric_rank metricrank_of_inner(const struct metric_shown *s)
{
	struct metric_rank r = metric_rank_of(s, &s->inner);

	if (s->by_count > 1 && r.order && split_by_outer(&r, s))
		metricrank_done(&r);
	return r;
}

void metricrank_done(struct metric_rank *r)
{
	free(r->order);
	free(r->first);
	*r = (struct metric_rank){ 0 };
}

bool metric_rank_is_integer(const struct metric_column *c)
{
	return c->op == METRIC_SUM || c->op == METRIC_OVER;
}

void metric_rank_put_dim(const struct metric_shown *s, const struct metric_aggregate *sum,
			 size_t group, const char *name, FILE *to)
{
	const uint64_t *slots = metric_aggregate_slots(sum, group);
	struct metric_dim own;
	const struct metric_dim *d = metric_dimension_find(sum->table, name, &own);

	if (d)
		metric_dimension_put(sum->table, d, slots, &s->texts, to);
	else if (!strcmp(name, "pid"))
		fprintf(to, "%u", sum->groups[group].pid);
	else if (!strcmp(name, "tid"))
		fprintf(to, "%u", sum->groups[group].tid);
}

bool metric_rank_is_number(const struct metric_table *t, const char *name)
{
	struct metric_dim own;
	const struct metric_dim *d = metric_dimension_find(t, name, &own);
	const struct metric_field *f = NULL;

	if (!d)
		return !strcmp(name, "pid") || !strcmp(name, "tid");
	/* The last field is the one that is printed. */
	for (size_t i = 0; i < 4 && d->fields[i]; i++)
		f = metric_format_find(&t->fmt, d->fields[i]);
	return !d->text && f && f->kind != METRIC_TEXT && strcmp(f->name, "cgroup") != 0;
}

const struct metric_field *metric_rank_histogram(const struct metric_shown *s,
						 const struct metric_table *t,
						 const struct metric_field *after)
{
	const struct metric_field *end = t->fmt.fields + t->fmt.field_count;

	for (after = after ? after + 1 : t->fmt.fields; s->histogram && after < end; after++) {
		if (metric_format_is_histogram(after))
			return after;
	}
	return NULL;
}
