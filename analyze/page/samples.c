/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/page/samples.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/radix_sort.h"
#include "analyze/fold/stack_counter.h"
#include "analyze/report/key/row_keys.h"
#include "format/base/lower_bound.h"
#include "format/base/mmap_array.h"
#include "format/base/vec.h"

/* From so many rows on, sorting by digits is faster. */
#define MANY_ROWS 1024

#define PLACES_AHEAD 16 /* samples whose places are on their way from memory */

struct builder {
	struct report *r;
	const struct page_samples_ask *ask;
	struct page_texts *texts;
	struct page_samples *out;
	const struct group *groups;
	size_t group_count;
	struct hash_index task_index;
	uint32_t *task_of; /* by group */
};

/* ---- tasks ---- */

static int find_task(struct builder *b, const struct group *g, uint32_t *out)
{
	struct page_task key = { .pid = g->pid,
				 .tid = g->tid,
				 .comm_number = g->comm,
				 .cgroup_number = (uint32_t)g->cgroup };
	struct page_samples *s = b->out;
	uint32_t pos, id;
	uint64_t hash;
	int err = hash_index_reserve(&b->task_index);

	if (err)
		return err;
	hash = hash_index_pair(&b->task_index, (uint64_t)g->pid << 32 | g->tid,
			       (uint64_t)key.comm_number << 32 | key.cgroup_number);
	pos = hash_index_start(&b->task_index, hash);
	while ((id = hash_index_match(&b->task_index, hash, &pos)) != HASH_INDEX_NONE)
		if (s->tasks[id].pid == key.pid && s->tasks[id].tid == key.tid &&
		    s->tasks[id].comm_number == key.comm_number &&
		    s->tasks[id].cgroup_number == key.cgroup_number) {
			*out = id;
			return 0;
		}
	err = vec_reserve(&s->tasks, &s->task_capacity, s->task_count + 1);
	if (err)
		return err;
	*out = (uint32_t)s->task_count;
	s->tasks[s->task_count++] = key;
	hash_index_put(&b->task_index, hash, pos, *out);
	return 0;
}

static int name_task(struct builder *b, struct page_task *t)
{
	char unknown[16];
	const char *comm = unknown;
	uint32_t label, container;
	int err;

	if (t->comm_number & STACK_COUNTER_TID_GROUP)
		snprintf(unknown, sizeof(unknown), ":%d", (int)(t->comm_number << 1) >> 1);
	else
		comm = string_table_text(b->r->names, t->comm_number);
	err = page_texts_add_name(b->texts, comm, &t->comm);
	if (!err)
		err = report_comm_label_of(b->r, t->comm_number, &label);
	if (!err)
		err = page_texts_add_name(b->texts, string_table_text(b->r->names, label),
					  &t->label);
	if (!err)
		err = page_texts_add(b->texts, string_table_text(b->r->names, t->cgroup_number),
				     &t->cgroup);
	if (!err)
		err = container_names_name(b->r->containers, b->r->names, t->cgroup_number,
					   &container);
	return err ? err
		   : page_texts_add(b->texts, string_table_text(b->r->names, container),
				    &t->container);
}

static int by_ids(const void *va, const void *vb, void *texts)
{
	const struct page_task *a = va, *b = vb;
	const struct string_table *table = ((struct page_texts *)texts)->table;
	int cmp;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	cmp = strcmp(string_table_text(table, a->comm), string_table_text(table, b->comm));
	return cmp ? cmp
		   : strcmp(string_table_text(table, a->cgroup),
			    string_table_text(table, b->cgroup));
}

/* Puts the tasks in an order that does not depend on the threads that counted, and notes by group what they became. */
static int order_tasks(struct builder *b)
{
	struct page_samples *s = b->out;
	uint32_t *numbers = calloc(s->task_count + 1, sizeof(*numbers));

	if (!numbers)
		return -ENOMEM;
	for (size_t i = 0; i < s->task_count; i++)
		s->tasks[i].row_count = i; /* where it was */
	if (s->task_count)
		qsort_r(s->tasks, s->task_count, sizeof(*s->tasks), by_ids, b->texts);
	for (size_t i = 0; i < s->task_count; i++) {
		numbers[s->tasks[i].row_count] = (uint32_t)i;
		s->tasks[i].row_count = 0;
	}
	for (size_t g = 0; g < b->group_count; g++)
		if (b->task_of[g] != UINT32_MAX)
			b->task_of[g] = numbers[b->task_of[g]];
	for (size_t g = 0; g < b->ask->waits->group_count; g++)
		s->task_of_wait[g] = numbers[s->task_of_wait[g]];
	free(numbers);
	return 0;
}

/* Tasks of samples by process, thread and name. */
static int by_numbers(const void *va, const void *vb)
{
	const struct page_task *a = va, *b = vb;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return (a->comm_number > b->comm_number) - (a->comm_number < b->comm_number);
}

/* The cgroup of such a task, else of one of the same process: events of the scheduler have none. */
static uint32_t cgroup_of(const struct page_task *sorted, size_t count, const struct group *g,
			  uint32_t unknown)
{
	const struct page_task want = { .pid = g->pid, .tid = g->tid, .comm_number = g->comm };
	size_t low = lower_bound(i, 0, count, by_numbers(&sorted[i], &want) < 0);

	if (low < count && sorted[low].pid == g->pid)
		return sorted[low].cgroup_number;
	return low && sorted[low - 1].pid == g->pid ? sorted[low - 1].cgroup_number : unknown;
}

/* Tasks of threads that waited, too. */
static int add_waiting(struct builder *b)
{
	struct page_samples *s = b->out;
	size_t count = s->task_count, known = count;
	struct page_task *sorted = calloc(count + 1, sizeof(*sorted));
	uint32_t unknown;
	int err = sorted ? string_table_add(b->r->names, "[unknown]", 9, &unknown) : -ENOMEM;

	s->task_of_wait = calloc(b->ask->waits->group_count + 1, sizeof(*s->task_of_wait));
	if (!err && !s->task_of_wait)
		err = -ENOMEM;
	if (!err && count) {
		memcpy(sorted, s->tasks, count * sizeof(*sorted));
		qsort(sorted, count, sizeof(*sorted), by_numbers);
	}
	for (size_t i = 0; !err && i < b->ask->waits->group_count; i++) {
		struct group g = b->ask->waits->groups[i];

		g.cgroup = cgroup_of(sorted, count, &g, unknown);
		err = find_task(b, &g, &s->task_of_wait[i]);
		if (!err && s->task_count > known)
			err = name_task(b, &s->tasks[known++]);
	}
	free(sorted);
	return err;
}

/* Only of groups that have samples: filters leave some without. */
static int make_tasks(struct builder *b)
{
	const struct stack_table *stacks = &b->r->stacks;
	size_t known = 0;
	int err = 0;

	b->task_of = malloc((b->group_count + 1) * sizeof(*b->task_of));
	if (!b->task_of)
		return -ENOMEM;
	memset(b->task_of, 0xff, (b->group_count + 1) * sizeof(*b->task_of));
	for (size_t i = 0; !err && i < stacks->entry_count; i++) {
		uint32_t group = stacks->entries[i].key.group;

		if (b->task_of[group] != UINT32_MAX)
			continue;
		err = find_task(b, &b->groups[group], &b->task_of[group]);
		if (!err && b->out->task_count > known) {
			err = name_task(b, &b->out->tasks[known]);
			known = b->out->task_count;
		}
	}
	if (!err)
		err = add_waiting(b);
	return err ? err : order_tasks(b);
}

/* ---- stacks ---- */

/* The task and the stack of the samples of an entry. */
struct place {
	uint32_t task, stack; /* numbers */
};

/* The place of sample i; that of one farther on is announced, as no cache has all. */
static const struct place *place_of(const struct stack_table *stacks, const struct place *places,
				    size_t i)
{
	if (i + PLACES_AHEAD < stacks->sample_count)
		__builtin_prefetch(&places[stacks->samples[i + PLACES_AHEAD].entry]);
	return &places[stacks->samples[i].entry];
}

/* first: by node, the last stack that ends there, and 1; 0: none does. */
static int find_stack(struct page_samples *s, uint32_t *first, uint32_t node, uint32_t lines,
		      uint32_t end, uint32_t *out)
{
	for (uint32_t at = first[node]; at; at = s->stacks[at - 1].next)
		if (s->stacks[at - 1].end == end && s->stacks[at - 1].lines == lines) {
			*out = at - 1;
			return 0;
		}
	if (vec_reserve(&s->stacks, &s->stack_capacity, s->stack_count + 1))
		return -ENOMEM;
	s->stacks[s->stack_count++] = (struct page_stack){ node, lines, end, 0, first[node] };
	first[node] = (uint32_t)s->stack_count;
	*out = first[node] - 1;
	return 0;
}

static int by_frequency(const void *va, const void *vb)
{
	const struct page_stack *a = va, *b = vb;

	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	if (a->lines != b->lines)
		return a->lines < b->lines ? -1 : 1;
	return (a->end > b->end) - (a->end < b->end);
}

/* The most frequent first; places have their ranks then. */
static int rank_stacks(struct page_samples *s, struct place *places, size_t place_count)
{
	uint32_t *ranks = calloc(s->stack_count + 1, sizeof(*ranks));

	if (!ranks)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->stack_count; i++)
		s->stacks[i].next = i; /* where it was */
	if (s->stack_count)
		qsort(s->stacks, s->stack_count, sizeof(*s->stacks), by_frequency);
	for (uint32_t i = 0; i < s->stack_count; i++)
		ranks[s->stacks[i].next] = i;
	for (size_t i = 0; i < place_count; i++)
		places[i].stack = ranks[places[i].stack];
	free(ranks);
	return 0;
}

/* By entry.  *out is owned. */
static int make_places(const struct builder *b, const struct page_stacks *tree, struct place **out)
{
	const struct stack_table *from = &b->r->stacks;
	const uint32_t *lines = tree->lines_of[b->ask->number];
	struct place *places = calloc(from->entry_count + 1, sizeof(*places));
	uint32_t *first = calloc(tree->node_count + 1, sizeof(*first));
	int err = places && first ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < from->entry_count; i++) {
		places[i].task = b->task_of[from->entries[i].key.group];
		err = find_stack(b->out, first, tree->node_of[b->ask->number][i],
				 lines ? lines[i] : 0, from->entries[i].key.end, &places[i].stack);
	}
	for (size_t i = 0; !err && i < from->sample_count; i++) {
		const struct place *place = place_of(from, places, i);

		b->out->stacks[place->stack].count++;
		b->out->tasks[place->task].row_count++;
	}
	if (!err)
		err = rank_stacks(b->out, places, from->entry_count);
	free(first);
	if (err)
		free(places);
	else
		*out = places;
	return err;
}

/* ---- rows ---- */

void page_samples_extend(const struct report *r, struct time_span *span)
{
	for (size_t i = 0; i < r->stacks.sample_count; i++) {
		uint64_t ns = r->stacks.samples[i].time_ns;

		span->from_ns = ns < span->from_ns ? ns : span->from_ns;
		span->to_ns = ns > span->to_ns ? ns : span->to_ns;
	}
}

static void find_times(struct builder *b)
{
	const struct page_waits *w = b->ask->waits;
	struct time_span span = { UINT64_MAX, 0 };

	if (b->ask->all)
		span = *b->ask->all;
	else
		page_samples_extend(b->r, &span);
	if (span.from_ns == UINT64_MAX && w->any && w->times.run.end_ns > w->times.run.start_ns)
		span = (struct time_span){ w->times.run.start_ns, w->times.run.end_ns };
	if (span.from_ns == UINT64_MAX)
		span = (struct time_span){ 0 };
	b->out->base_us = span.from_ns / 1000;
	b->out->span_us = span.to_ns / 1000 - b->out->base_us;
}

/* The rows of one task, while they are put into order. */
struct slice {
	const struct page_row *rows;
	const uint64_t *weights; /* NULL: 1 each */
};

static int compare_rows(const struct slice *s, size_t ia, size_t ib)
{
	const struct page_row *a = &s->rows[ia], *b = &s->rows[ib];

	if (a->when_us != b->when_us)
		return a->when_us < b->when_us ? -1 : 1;
	if (a->stack != b->stack)
		return a->stack < b->stack ? -1 : 1;
	if (a->cpu != b->cpu)
		return a->cpu < b->cpu ? -1 : 1;
	return s->weights ? (s->weights[ia] > s->weights[ib]) - (s->weights[ia] < s->weights[ib])
			  : 0;
}

static int by_row(const void *va, const void *vb, void *slice)
{
	return compare_rows(slice, ((const struct radix_item *)va)->value,
			    ((const struct radix_item *)vb)->value);
}

/* Rows of one moment have an order, too. */
static void order_ties(struct radix_item *list, size_t count, struct slice *s)
{
	size_t from = 0;

	for (size_t i = 1; i <= count; i++) {
		if (i < count && list[i].key == list[from].key)
			continue;
		if (i - from > 1)
			qsort_r(list + from, i - from, sizeof(*list), by_row, s);
		from = i;
	}
}

/* The rows of a slice by their numbers, in order.  *out is owned. */
static int sort_slice(struct slice *s, size_t count, struct radix_item **out)
{
	struct radix_item *order = calloc(count, sizeof(*order));
	int err;

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		order[i] = (struct radix_item){ s->rows[i].when_us, (uint32_t)i };
	if (count < MANY_ROWS) {
		qsort_r(order, count, sizeof(*order), by_row, s);
	} else {
		err = radix_sort(&order, count);
		if (err) {
			free(order);
			return err;
		}
		order_ties(order, count, s);
	}
	*out = order;
	return 0;
}

static int order_slice(struct page_row *rows, uint64_t *weights, size_t count)
{
	struct slice s = { rows, weights };
	struct page_row *new_rows = calloc(count, sizeof(*new_rows));
	uint64_t *new_weights = calloc(count, sizeof(*new_weights));
	struct radix_item *order = NULL;
	int err = new_rows && new_weights ? sort_slice(&s, count, &order) : -ENOMEM;

	for (size_t i = 0; !err && i < count; i++) {
		new_rows[i] = rows[order[i].value];
		new_weights[i] = weights ? weights[order[i].value] : 1;
	}
	if (!err) {
		memcpy(rows, new_rows, count * sizeof(*rows));
		if (weights)
			memcpy(weights, new_weights, count * sizeof(*weights));
	}
	free(order);
	free(new_rows);
	free(new_weights);
	return err;
}

/* Most tasks' samples come by time. */
static int order_rows(struct page_samples *s)
{
	size_t from = 0;
	int err = 0;

	for (size_t t = 0; !err && t < s->task_count; t++) {
		size_t count = s->tasks[t].row_count, i = 1;
		uint64_t *weights = s->weights ? s->weights + from : NULL;
		const struct slice slice = { s->rows + from, weights };

		while (i < count && compare_rows(&slice, i - 1, i) <= 0)
			i++;
		if (i < count)
			err = order_slice(s->rows + from, weights, count);
		from += count;
	}
	return err;
}

/* Puts each sample behind those of its task that came before. */
static int place_rows(struct builder *b, const struct place *places)
{
	const struct stack_table *stacks = &b->r->stacks;
	struct page_samples *s = b->out;
	size_t *next = calloc(s->task_count + 1, sizeof(*next));

	if (!next)
		return -ENOMEM;
	for (size_t t = 0; t < s->task_count; t++)
		next[t + 1] = next[t] + s->tasks[t].row_count;
	for (size_t i = 0; i < stacks->sample_count; i++) {
		const struct stack_table_sample *sample = &stacks->samples[i];
		const struct place *place = place_of(stacks, places, i);
		size_t at = next[place->task]++;

		s->rows[at] = (struct page_row){ sample->time_ns / 1000 - s->base_us, place->stack,
						 sample->cpu };
		if (s->weights)
			s->weights[at] = sample->period;
		s->sum += s->weights ? sample->period : 1;
		s->tasks[place->task].sum += s->weights ? sample->period : 1;
	}
	free(next);
	return 0;
}

static int make_rows(struct builder *b, const struct place *places)
{
	struct page_samples *s = b->out;
	int err;

	find_times(b);
	s->row_count = b->r->stacks.sample_count;
	s->rows = mmap_array_raw(mmap_array_round(s->row_count * sizeof(*s->rows)));
	if (b->ask->weight == CALLTREE_PERIOD)
		s->weights = calloc(s->row_count + 1, sizeof(*s->weights));
	if (!s->rows || (b->ask->weight == CALLTREE_PERIOD && !s->weights))
		return -ENOMEM;
	err = place_rows(b, places);
	return err ? err : order_rows(s);
}

int page_samples_make(const struct page_samples_ask *ask, const struct page_stacks *stacks,
		      struct page_texts *texts, struct page_samples *out)
{
	struct page_samples fresh = { 0 };
	struct builder b = { .r = ask->report, .ask = ask, .texts = texts, .out = &fresh };
	struct place *places = NULL;
	int err;

	b.groups = groups_list(ask->report->groups, &b.group_count);
	err = make_tasks(&b);
	if (!err)
		err = make_places(&b, stacks, &places);
	if (!err)
		err = make_rows(&b, places);
	free(places);
	hash_index_done(&b.task_index);
	free(b.task_of);
	if (err)
		page_samples_done(&fresh);
	else
		*out = fresh;
	return err;
}

void page_samples_done(struct page_samples *s)
{
	free(s->tasks);
	free(s->rows);
	free(s->weights);
	free(s->stacks);
	free(s->task_of_wait);
	*s = (struct page_samples){ 0 };
}

/* ---- writing ---- */

void page_samples_number(struct page_samples *list, size_t count)
{
	for (size_t n = 1; n < count; n++) {
		list[n].first_task = list[n - 1].first_task + (uint32_t)list[n - 1].task_count;
		list[n].first_stack = list[n - 1].first_stack + (uint32_t)list[n - 1].stack_count;
	}
}

static size_t count_rows(const struct page_samples *list, size_t count)
{
	size_t rows = 0;

	for (const struct page_samples *s = list; s < list + count; s++)
		rows += s->row_count;
	return rows;
}

#define WRITE_TEXTS(p, texts, list, count, field)                                                \
	do {                                                                                     \
		page_columns_begin(p, #field);                                                   \
		for (const struct page_samples *s_ = (list); s_ < (list) + (count); s_++)        \
			for (size_t i_ = 0; i_ < s_->task_count; i_++)                           \
				page_columns_put(p,                                              \
						 page_texts_number(texts, s_->tasks[i_].field)); \
	} while (0)

static void write_tasks(const struct page_samples *list, size_t count,
			const struct page_texts *texts, struct page_columns *p)
{
	const struct page_samples *last = &list[count - 1];

	page_columns_begin_table(p, "tasks", last->first_task + last->task_count);
	page_columns_begin_differences(p, "pid");
	for (const struct page_samples *s = list; s < list + count; s++)
		for (size_t i = 0; i < s->task_count; i++)
			page_columns_put_difference(p, s->tasks[i].pid);
	page_columns_begin_signed(p, "tid"); /* since its pid */
	for (const struct page_samples *s = list; s < list + count; s++)
		for (size_t i = 0; i < s->task_count; i++)
			page_columns_put_signed(p, (int64_t)s->tasks[i].tid - s->tasks[i].pid);
	WRITE_TEXTS(p, texts, list, count, comm);
	WRITE_TEXTS(p, texts, list, count, label);
	WRITE_TEXTS(p, texts, list, count, cgroup);
	WRITE_TEXTS(p, texts, list, count, container);
	page_columns_begin(p, "samples");
	for (const struct page_samples *s = list; s < list + count; s++)
		for (size_t i = 0; i < s->task_count; i++)
			page_columns_put(p, s->tasks[i].row_count);
	page_columns_begin(p, "weight");
	for (const struct page_samples *s = list; s < list + count; s++)
		for (size_t i = 0; i < s->task_count; i++)
			page_columns_put(p, s->tasks[i].sum);
	page_columns_end_table(p);
}

static void write_stacks(const struct page_samples *list, size_t count, struct page_columns *p)
{
	const struct page_samples *last = &list[count - 1];

	page_columns_begin_table(p, "samples.stacks", last->first_stack + last->stack_count);
	page_columns_begin(p, "node");
	for (const struct page_samples *s = list; s < list + count; s++)
		for (size_t i = 0; i < s->stack_count; i++)
			page_columns_put(p, s->stacks[i].node);
	page_columns_begin(p, "lines");
	for (const struct page_samples *s = list; s < list + count; s++)
		for (size_t i = 0; i < s->stack_count; i++)
			page_columns_put(p, s->stacks[i].lines);
	page_columns_begin(p, "end");
	for (const struct page_samples *s = list; s < list + count; s++)
		for (size_t i = 0; i < s->stack_count; i++)
			page_columns_put(p, s->stacks[i].end);
	page_columns_end_table(p);
}

static bool all_are_one(const uint64_t *weights, size_t count)
{
	for (size_t i = 0; weights && i < count; i++)
		if (weights[i] != 1)
			return false;
	return true;
}

static void write_weights(const struct page_samples *list, size_t count, struct page_columns *p)
{
	bool are_one = true;

	for (const struct page_samples *s = list; s < list + count; s++)
		are_one &= all_are_one(s->weights, s->row_count);
	if (are_one)
		return;
	page_columns_begin(p, "weight");
	for (const struct page_samples *s = list; s < list + count; s++)
		for (size_t i = 0; i < s->row_count; i++)
			page_columns_put(p, s->weights ? s->weights[i] : 1);
}

/* By task, since the row before: the first since the begin of the axis. */
static void write_times(const struct page_samples *s, struct page_columns *p)
{
	for (size_t t = 0, i = 0; t < s->task_count; t++) {
		uint64_t before = -s->shift_us;

		for (size_t end = i + s->tasks[t].row_count; i < end; before = s->rows[i++].when_us)
			page_columns_put(p, s->rows[i].when_us - before);
	}
}

static void write_rows(const struct page_samples *list, size_t count, struct page_columns *p)
{
	page_columns_begin_table(p, "samples", count_rows(list, count));
	page_columns_begin(p, "time");
	for (const struct page_samples *s = list; s < list + count; s++)
		write_times(s, p);
	page_columns_begin(p, "stack");
	for (const struct page_samples *s = list; s < list + count; s++)
		for (size_t i = 0; i < s->row_count; i++)
			page_columns_put(p, s->first_stack + s->rows[i].stack);
	write_weights(list, count, p);
	page_columns_end_sample_table(p);
}

/* Runs of one CPU end with the samples of a capture. */
static bool begins_run(const struct page_samples *s, size_t i)
{
	return !i || s->rows[i].cpu != s->rows[i - 1].cpu;
}

static void write_cpus(const struct page_samples *list, size_t count, struct page_columns *p)
{
	size_t runs = 0;

	for (const struct page_samples *s = list; s < list + count; s++)
		for (size_t i = 0; i < s->row_count; i++)
			runs += begins_run(s, i);
	page_columns_begin_table(p, "samples.cpus", runs);
	page_columns_begin_signed(p, "cpu");
	for (const struct page_samples *s = list; s < list + count; s++)
		for (size_t i = 0; i < s->row_count; i++)
			if (begins_run(s, i))
				page_columns_put_signed(p, s->rows[i].cpu);
	page_columns_begin(p, "samples");
	for (const struct page_samples *s = list; s < list + count; s++)
		for (size_t i = 1, from = 0; i <= s->row_count; i++)
			if (i == s->row_count || begins_run(s, i)) {
				page_columns_put(p, i - from);
				from = i;
			}
	page_columns_end_sample_table(p);
}

void page_samples_write(const struct page_samples *list, size_t count,
			const struct page_texts *texts, struct page_columns *p)
{
	write_tasks(list, count, texts, p);
	write_stacks(list, count, p);
	write_rows(list, count, p);
	write_cpus(list, count, p);
}
