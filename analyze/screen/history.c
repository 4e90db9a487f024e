/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/screen/history.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/fold/stack_counter.h"
#include "format/base/saturate.h"
#include "format/base/vec.h"

/* Names of so many more tasks and frames than there were are looked through for those that are gone. */
#define COMPACT_MORE 20000
/* Any process may set marks: the oldest half goes when there are so many. */
#define MARKS_MAX 20000

/* ---- tables that all seconds share ---- */

int history_add_frame(struct history *h, const struct history_frame *frame, uint32_t *out)
{
	uint32_t pos, id;
	uint64_t hash;
	int err = hash_index_reserve(&h->frame_index);

	if (err)
		return err;
	hash = hash_index_pair(&h->frame_index, (uint64_t)frame->name << 32 | frame->dso,
			       (uint64_t)frame->is_wait << 1 | frame->is_kernel);
	pos = hash_index_start(&h->frame_index, hash);
	while ((id = hash_index_match(&h->frame_index, hash, &pos)) != HASH_INDEX_NONE) {
		const struct history_frame *f = &h->frames[id];

		if (f->name == frame->name && f->dso == frame->dso &&
		    f->is_kernel == frame->is_kernel && f->is_wait == frame->is_wait) {
			*out = id;
			return 0;
		}
	}
	err = vec_reserve(&h->frames, &h->frame_capacity, h->frame_count + 1);
	if (err)
		return err;
	id = (uint32_t)h->frame_count++;
	h->frames[id] = *frame;
	hash_index_put(&h->frame_index, hash, pos, id);
	*out = id;
	return 0;
}

int history_add_task(struct history *h, const struct history_task *task, uint32_t *out)
{
	uint32_t pos, id;
	uint64_t hash;
	int err = hash_index_reserve(&h->task_index);

	if (err)
		return err;
	hash = hash_index_bytes(&h->task_index, task, sizeof(*task));
	pos = hash_index_start(&h->task_index, hash);
	while ((id = hash_index_match(&h->task_index, hash, &pos)) != HASH_INDEX_NONE) {
		if (!memcmp(&h->tasks[id], task, sizeof(*task))) {
			*out = id;
			return 0;
		}
	}
	err = vec_reserve(&h->tasks, &h->task_capacity, h->task_count + 1);
	if (err)
		return err;
	id = (uint32_t)h->task_count++;
	h->tasks[id] = *task;
	hash_index_put(&h->task_index, hash, pos, id);
	*out = id;
	return 0;
}

static int copy_text(struct history *h, const struct string_table *from, uint32_t text,
		     uint32_t *out)
{
	return string_table_add(h->names, string_table_text(from, text),
				string_table_bytes(from, text), out);
}

/* ---- what a report has ---- */

/* Reasons that stand for no wait: report --off-cpu counts them apart. */
static bool is_no_wait(const char *name)
{
	return !strcmp(name, "[on CPU]") || !strcmp(name, "[since before the recording]") ||
	       !strcmp(name, "[unknown]");
}

/* The number of each function of r.  *out is owned. */
static int map_functions(struct history *h, const struct report *r, uint32_t **out)
{
	const struct function_table *n = &r->naming;
	uint32_t *map = calloc(n->function_count + 1, sizeof(*map));
	int err = map ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < n->function_count; i++) {
		const struct function *f = &n->functions[i];
		struct history_frame frame = { .is_kernel = f->is_kernel };

		frame.is_wait = !strcmp(string_table_text(r->names, f->dso), "[off-cpu]");
		frame.is_blank = frame.is_wait && is_no_wait(string_table_text(r->names, f->name));
		err = copy_text(h, r->names, f->name, &frame.name);
		if (!err)
			err = copy_text(h, r->names, f->dso, &frame.dso);
		if (!err)
			err = history_add_frame(h, &frame, &map[i]);
	}
	if (err)
		free(map);
	else
		*out = map;
	return err;
}

/* The innermost part of a control group's path that is a unit of systemd; else the path. */
static int unit_of(struct history *h, const char *path, uint32_t *out)
{
	static const char *const ends[] = { ".service", ".scope", ".slice" };
	size_t end = strlen(path), start;

	for (; end; end = start) {
		start = end;
		while (start && path[start - 1] != '/')
			start--;
		for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
			size_t bytes = strlen(ends[i]);

			if (end - start > bytes && !memcmp(path + end - bytes, ends[i], bytes))
				return string_table_add(h->names, path + start, end - start, out);
		}
		if (start)
			start--;
	}
	return string_table_add(h->names, path, strlen(path), out);
}

static int comm_of(struct history *h, const struct report *r, const struct group *g, uint32_t *out)
{
	char text[16];
	int bytes;

	if (!(g->comm & STACK_COUNTER_TID_GROUP))
		return copy_text(h, r->names, g->comm, out);
	bytes = snprintf(text, sizeof(text), ":%d", (int)(g->comm << 1) >> 1);
	return string_table_add(h->names, text, (size_t)bytes, out);
}

static int map_groups(struct history *h, struct report *r, uint32_t **out)
{
	size_t count;
	const struct group *groups = groups_list(r->groups, &count);
	uint32_t *map = calloc(count + 1, sizeof(*map)), container;
	int err = map ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < count; i++) {
		const struct group *g = &groups[i];
		struct history_task task = { .pid = g->pid, .tid = g->tid };

		err = comm_of(h, r, g, &task.comm);
		if (!err)
			err = container_names_name(r->containers, r->names, (uint32_t)g->cgroup,
						   &container);
		if (!err)
			err = copy_text(h, r->names, container, &task.container);
		if (!err)
			err = unit_of(h, string_table_text(r->names, (uint32_t)g->cgroup),
				      &task.unit);
		if (!err)
			err = history_add_task(h, &task, &map[i]);
	}
	if (err)
		free(map);
	else
		*out = map;
	return err;
}

static int count_cpu(struct history_second *s, int32_t cpu)
{
	size_t at = cpu < 0 ? 0 : (size_t)cpu;

	if (at >= s->cpu_count) {
		if (vec_reserve(&s->cpu_samples, &s->cpu_capacity, at + 1))
			return -ENOMEM;
		memset(s->cpu_samples + s->cpu_count, 0,
		       (at + 1 - s->cpu_count) * sizeof(*s->cpu_samples));
		s->cpu_count = at + 1;
	}
	s->cpu_samples[at]++;
	return 0;
}

/* The frame in which the stack ends; NULL: it has none. */
static const struct history_frame *innermost(const struct history *h, const struct stack_table *t,
					     const struct stack_table_entry *e)
{
	uint32_t node = e->key.kernel >= STACK_TABLE_FIRST_NODE ? e->key.kernel : e->key.user;

	return node >= STACK_TABLE_FIRST_NODE ? &h->frames[t->nodes[node].frame] : NULL;
}

/* The numbers of tasks take the place of those of groups; what ended a stack does not matter here. */
static void set_groups(struct stack_table *t, const uint32_t *map)
{
	for (size_t i = 0; i < t->entry_count; i++) {
		t->entries[i].key.group = map[t->entries[i].key.group];
		t->entries[i].key.end = 0;
	}
}

/* Counts what the lines above the table show. */
static int add_sums(struct history_second *s, const struct report *r)
{
	const struct stack_table *t = &r->stacks;
	int err = 0;

	for (size_t i = 0; !err && i < t->sample_count; i++)
		err = count_cpu(s, t->samples[i].cpu);
	s->sample_count += t->sample_count;
	s->lost = saturate_add(s->lost, r->counts.lost_samples);
	return err;
}

/* Of a second; off-CPU and wall have one. */
static struct stack_table *table_of(struct history_second *s, enum history_measure measure)
{
	switch (measure) {
	case HISTORY_CPU:
		return &s->samples;
	case HISTORY_WAKERS:
		return &s->wakers;
	case HISTORY_EVENT:
		return &s->events;
	default:
		return &s->times;
	}
}

/* A stack with frames of the kernel is of a sample that was taken there. */
static bool takes_mode(const void *arg, const struct stack_table_entry *e)
{
	const struct history *h = arg;

	return e->key.kernel >= STACK_TABLE_FIRST_NODE ? !h->no_kernel : !h->no_user;
}

int history_add(struct history *h, struct history_second *s, struct report *r,
		enum history_measure measure)
{
	uint32_t *frames = NULL, *groups = NULL;
	int err = 0;

	if (measure == HISTORY_CPU && (h->no_kernel || h->no_user))
		err = stack_table_keep(&r->stacks, takes_mode, h);
	if (!err)
		err = map_functions(h, r, &frames);
	if (!err)
		err = map_groups(h, r, &groups);
	if (!err && measure == HISTORY_CPU)
		err = add_sums(s, r);
	if (!err) {
		set_groups(&r->stacks, groups);
		r->stacks.sample_count = 0; /* they are counted, and not needed */
		err = stack_table_merge(table_of(s, measure), &r->stacks, frames, NULL, NULL);
	}
	free(frames);
	free(groups);
	return err;
}

int history_open(struct history_second *s, enum history_measure measure)
{
	stack_table_done(table_of(s, measure));
	return stack_table_init(table_of(s, measure), NULL);
}

void history_close(struct history_second *s, enum history_measure measure)
{
	stack_table_finish(table_of(s, measure));
	s->has_times |= measure == HISTORY_WALL || measure == HISTORY_OFFCPU;
	s->has_wakers |= measure == HISTORY_WAKERS;
}

bool history_has(const struct history_second *s, enum history_measure measure)
{
	switch (measure) {
	case HISTORY_OFFCPU:
	case HISTORY_WALL:
		return s->has_times;
	case HISTORY_WAKERS:
		return s->has_wakers;
	default:
		return true;
	}
}

/* ---- seconds ---- */

int history_init(struct history *h, unsigned limit_count, size_t limit_bytes)
{
	*h = (struct history){ .limit_count = limit_count, .limit_bytes = limit_bytes };
	h->loads = calloc(limit_count, sizeof(*h->loads));
	return h->loads ? string_table_new(&h->names) : -ENOMEM;
}

void history_set_runnable(struct history *h, uint64_t second, double runnable)
{
	h->loads[second % h->limit_count] = (struct history_load){ second, runnable };
}

double history_runnable(const struct history *h, size_t first, size_t count)
{
	double sum = 0;
	size_t known = 0;

	for (size_t i = first; i < first + count; i++) {
		const struct history_load *load = &h->loads[h->seconds[i].second % h->limit_count];

		if (load->second != h->seconds[i].second)
			continue;
		sum += load->runnable;
		known++;
	}
	return known ? sum / (double)known : -1;
}

static const enum history_measure tables[] = { HISTORY_CPU, HISTORY_WALL, HISTORY_WAKERS,
					       HISTORY_EVENT };
#define TABLE_COUNT (sizeof(tables) / sizeof(tables[0]))

static void second_done(struct history_second *s)
{
	for (size_t i = 0; i < TABLE_COUNT; i++)
		stack_table_done(table_of(s, tables[i]));
	free(s->cpu_samples);
}

static void tables_done(struct history *h)
{
	string_table_free(h->names);
	free(h->frames);
	hash_index_done(&h->frame_index);
	free(h->tasks);
	hash_index_done(&h->task_index);
}

void history_done(struct history *h)
{
	for (size_t i = 0; i < h->count; i++)
		second_done(&h->seconds[i]);
	for (size_t i = 0; i < h->mark_count; i++)
		free(h->marks[i].text);
	free(h->seconds);
	free(h->marks);
	free(h->loads);
	tables_done(h);
	*h = (struct history){ 0 };
}

struct history_second *history_second_of(struct history *h, uint64_t second)
{
	struct history_second fresh = { .second = second }, *last;

	last = h->count ? &h->seconds[h->count - 1] : NULL;
	if (last && last->second >= second)
		return last->second == second ? last : NULL;
	if (vec_reserve(&h->seconds, &h->capacity, h->count + 1))
		return NULL;
	for (size_t i = 0; i < TABLE_COUNT; i++) {
		if (!stack_table_init(table_of(&fresh, tables[i]), NULL))
			continue;
		while (i--)
			stack_table_done(table_of(&fresh, tables[i]));
		return NULL;
	}
	h->seconds[h->count] = fresh;
	return &h->seconds[h->count++];
}

static size_t table_bytes(const struct stack_table *t)
{
	return t->node_capacity * sizeof(*t->nodes) + t->entry_capacity * sizeof(*t->entries);
}

static size_t second_bytes(const struct history_second *s)
{
	return table_bytes(&s->samples) + table_bytes(&s->times) + table_bytes(&s->wakers) +
	       table_bytes(&s->events) + s->cpu_capacity * sizeof(*s->cpu_samples) + sizeof(*s);
}

size_t history_bytes(const struct history *h)
{
	size_t bytes = 0;

	for (size_t i = 0; i < h->count; i++)
		bytes += second_bytes(&h->seconds[i]);
	return bytes;
}

static void drop_oldest(struct history *h)
{
	second_done(&h->seconds[0]);
	memmove(h->seconds, h->seconds + 1, --h->count * sizeof(*h->seconds));
}

static void drop_first_marks(struct history *h, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(h->marks[i].text);
	h->mark_count -= count;
	if (count)
		memmove(h->marks, h->marks + count, h->mark_count * sizeof(*h->marks));
}

static void drop_marks(struct history *h)
{
	uint64_t from_ns = h->count ? h->seconds[0].second * 1000000000ULL : 0;
	size_t gone = 0;

	while (gone < h->mark_count && h->marks[gone].time_ns < from_ns)
		gone++;
	drop_first_marks(h, gone);
}

/* ---- the clean-up ---- */

struct renumber {
	struct history *from;
	struct history to;        /* its tables */
	uint32_t *frames, *tasks; /* by old number, and 1; 0: not used yet */
};

static int renumber_text(struct renumber *n, uint32_t *text)
{
	return copy_text(&n->to, n->from->names, *text, text);
}

static int renumber_frame(struct renumber *n, uint32_t *frame)
{
	struct history_frame f = n->from->frames[*frame];
	uint32_t *known = &n->frames[*frame], id;
	int err = 0;

	if (!*known) {
		err = renumber_text(n, &f.name);
		if (!err)
			err = renumber_text(n, &f.dso);
		if (!err)
			err = history_add_frame(&n->to, &f, &id);
		if (err)
			return err;
		*known = id + 1;
	}
	*frame = *known - 1;
	return 0;
}

static int renumber_task(struct renumber *n, uint32_t *task)
{
	struct history_task t = n->from->tasks[*task];
	uint32_t *known = &n->tasks[*task], id;
	int err = 0;

	if (!*known) {
		err = renumber_text(n, &t.comm);
		if (!err)
			err = renumber_text(n, &t.container);
		if (!err)
			err = renumber_text(n, &t.unit);
		if (!err)
			err = history_add_task(&n->to, &t, &id);
		if (err)
			return err;
		*known = id + 1;
	}
	*task = *known - 1;
	return 0;
}

static int renumber_table(struct renumber *n, struct stack_table *t)
{
	int err = 0;

	for (size_t i = STACK_TABLE_FIRST_NODE; !err && i < t->node_count; i++)
		err = renumber_frame(n, &t->nodes[i].frame);
	for (size_t i = 0; !err && i < t->entry_count; i++)
		err = renumber_task(n, &t->entries[i].key.group);
	return err;
}

/* All seconds are closed.  After a failure some seconds have numbers of other tables, and all are dropped. */
static int compact(struct history *h)
{
	struct renumber n = { .from = h };
	int err = string_table_new(&n.to.names);

	n.frames = calloc(h->frame_count + 1, sizeof(*n.frames));
	n.tasks = calloc(h->task_count + 1, sizeof(*n.tasks));
	if (!err && (!n.frames || !n.tasks))
		err = -ENOMEM;
	for (size_t i = 0; !err && i < h->count; i++)
		for (size_t k = 0; !err && k < TABLE_COUNT; k++)
			err = renumber_table(&n, table_of(&h->seconds[i], tables[k]));
	free(n.frames);
	free(n.tasks);
	if (err) {
		tables_done(&n.to);
		while (h->count)
			second_done(&h->seconds[--h->count]);
		return err;
	}
	tables_done(h);
	h->names = n.to.names;
	h->frames = n.to.frames;
	h->frame_count = n.to.frame_count;
	h->frame_capacity = n.to.frame_capacity;
	h->frame_index = n.to.frame_index;
	h->tasks = n.to.tasks;
	h->task_count = n.to.task_count;
	h->task_capacity = n.to.task_capacity;
	h->task_index = n.to.task_index;
	h->compacted_at = h->frame_count + h->task_count;
	h->clean_ups++;
	return 0;
}

int history_close_second(struct history *h, struct history_second *s)
{
	size_t bytes;

	for (size_t i = 0; i < TABLE_COUNT; i++)
		stack_table_finish(table_of(s, tables[i]));
	bytes = history_bytes(h);
	while (h->count > 1 && (h->count > h->limit_count || bytes > h->limit_bytes)) {
		bytes -= second_bytes(&h->seconds[0]);
		drop_oldest(h);
	}
	drop_marks(h);
	return h->frame_count + h->task_count > h->compacted_at + COMPACT_MORE ? compact(h) : 0;
}

int history_add_mark(struct history *h, uint64_t time_ns, const char *text)
{
	struct history_mark mark = { .time_ns = time_ns, .text = strdup(text) };
	size_t at;

	if (h->mark_count == MARKS_MAX)
		drop_first_marks(h, MARKS_MAX / 2);
	at = h->mark_count;
	if (!mark.text || vec_reserve(&h->marks, &h->mark_capacity, h->mark_count + 1)) {
		free(mark.text);
		return -ENOMEM;
	}
	for (; at && h->marks[at - 1].time_ns > time_ns; at--)
		h->marks[at] = h->marks[at - 1];
	h->marks[at] = mark;
	h->mark_count++;
	return 0;
}

/* ---- questions ---- */

struct wait_rule {
	const struct history *h;
	const struct stack_table *stacks;
};

static bool takes_wait(const void *arg, const struct stack_table_entry *e)
{
	const struct wait_rule *rule = arg;
	const struct history_frame *f = innermost(rule->h, rule->stacks, e);

	return f && f->is_wait && !f->is_blank;
}

int history_select(const struct history *h, size_t first, size_t count,
		   enum history_measure measure, struct stack_table *out)
{
	struct wait_rule rule = { .h = h, .stacks = out };
	uint32_t *same = calloc(h->frame_count + 1, sizeof(*same));
	int err = same ? stack_table_init(out, NULL) : -ENOMEM;

	if (err) {
		free(same);
		return err;
	}
	for (size_t i = 0; i < h->frame_count; i++)
		same[i] = (uint32_t)i;
	for (size_t i = first; !err && i < first + count && i < h->count; i++)
		err = stack_table_merge(out, table_of(&h->seconds[i], measure), same, NULL, NULL);
	free(same);
	stack_table_finish(out);
	if (!err && measure == HISTORY_OFFCPU)
		err = stack_table_keep(out, takes_wait, &rule);
	if (err)
		stack_table_done(out);
	return err;
}

uint32_t history_find_frame(const struct history *h, const char *name, const char *dso)
{
	uint32_t name_id = string_table_find(h->names, name),
		 dso_id = string_table_find(h->names, dso);

	for (size_t i = 0; i < h->frame_count && name_id != UINT32_MAX; i++)
		if (h->frames[i].name == name_id && h->frames[i].dso == dso_id)
			return (uint32_t)i;
	return UINT32_MAX;
}

int history_label(struct history *h, enum history_by by, uint32_t task, uint32_t *out)
{
	const struct history_task *t = &h->tasks[task];
	char text[96];
	int bytes;

	switch (by) {
	case HISTORY_BY_PROCESS:
	case HISTORY_BY_THREAD:
		bytes = snprintf(text, sizeof(text), "%.40s %" PRId32,
				 string_table_text(h->names, t->comm),
				 (int32_t)(by == HISTORY_BY_PROCESS ? t->pid : t->tid));
		return string_table_add(h->names, text, (size_t)bytes, out);
	case HISTORY_BY_CONTAINER:
		*out = t->container;
		return 0;
	case HISTORY_BY_UNIT:
		*out = t->unit;
		return 0;
	default:
		*out = t->comm;
		return 0;
	}
}
