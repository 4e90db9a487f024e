/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/push/samples.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/export/exporter.h"
#include "analyze/process/service.h"
#include "analyze/report/profile/stack_path.h"
#include "format/base/hash_index.h"
#include "format/base/vec.h"

static enum push_kind kind_of(const struct function *f, const char *file)
{
	return f->is_kernel ? PUSH_KERNEL : *file == '/' ? PUSH_NATIVE : PUSH_OTHER;
}

static int make_frames(const struct report *r, struct push_samples *s)
{
	size_t count = r->naming.function_count;

	s->frame_list = calloc(count + 1, sizeof(*s->frame_list));
	if (!s->frame_list)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct function *f = &r->naming.functions[i];
		struct push_frame *out = &s->frame_list[i];

		out->name = string_table_text(r->names, f->name);
		out->file = string_table_text(r->names, f->dso);
		out->build_id = string_table_text(r->names,
						  name_sources_of(&r->sources, i).build_id);
		out->kind = kind_of(f, out->file);
		out->reason = f->reason;
		out->is_inlined = f->is_inlined;
		out->id = push_frame_id(out->kind, out->build_id, out->file, out->name);
	}
	s->frame_list_count = count;
	return 0;
}

/* The number of a stack, which is new if none has its id. */
static int add_stack(struct push_samples *s, struct hash_index *index, const uint32_t *frames,
		     size_t count, uint64_t *ids, uint32_t *out)
{
	struct push_stack stack = { .first = (uint32_t)s->frame_count, .count = (uint32_t)count };
	uint64_t hash;
	uint32_t pos, found;
	int err = hash_index_reserve(index);

	if (err)
		return err;
	for (size_t i = 0; i < count; i++)
		ids[i] = s->frame_list[frames[i]].id;
	stack.id = push_stack_id(ids, count);
	hash = hash_index_pair(index, stack.id, 0);
	pos = hash_index_start(index, hash);
	while ((found = hash_index_match(index, hash, &pos)) != HASH_INDEX_NONE)
		if (s->stacks[found].id == stack.id)
			break;
	if (found != HASH_INDEX_NONE) {
		*out = found;
		return 0;
	}
	if (vec_reserve(&s->stacks, &s->stack_capacity, s->stack_count + 1) ||
	    vec_reserve(&s->frames, &s->frame_capacity, s->frame_count + count))
		return -ENOMEM;
	if (s->frame_count + count > UINT32_MAX)
		return -EOVERFLOW;
	if (count)
		memcpy(s->frames + s->frame_count, frames, count * sizeof(*frames));
	s->frame_count += count;
	*out = (uint32_t)s->stack_count;
	s->stacks[s->stack_count++] = stack;
	hash_index_put(index, hash, pos, *out);
	return 0;
}

/* A text of the report's strings for one that is made here. */
static int text_of(struct report *r, const char *text, size_t size_bytes, const char **out)
{
	uint32_t id;
	int err = string_table_add(r->names, text, size_bytes, &id);

	if (!err)
		*out = string_table_text(r->names, id);
	return err;
}

static int make_names(struct report *r, const struct group *g, struct push_row *row)
{
	char unknown[16], service[SERVICE_NAME_MAX];
	const char *comm = export_comm(r, g, unknown);
	uint32_t container;
	int err = export_container(r, g, &container);

	if (!err)
		err = text_of(r, comm, strlen(comm), &row->comm);
	if (err)
		return err;
	row->container = string_table_text(r->names, container);
	service_name(r->services, r->containers,
		     &(struct service_facts){
			     .context = string_table_text(r->names, g->context),
			     .cgroup = string_table_text(r->names, (uint32_t)g->cgroup),
			     .comm = g->comm & STACK_COUNTER_TID_GROUP ? "" : row->comm,
		     },
		     service);
	return text_of(r, service, strlen(service), &row->service);
}

static int add_rows(struct report *r, struct push_samples *s, const uint32_t *labels)
{
	const struct stack_path_rule rule = { .labels = labels, .empty = STACK_PATH_NONE };
	size_t group_count;
	const struct group *groups = groups_list(r->groups, &group_count);
	struct stack_path path = { 0 };
	struct hash_index index = { 0 };
	uint64_t *ids = NULL;
	size_t id_capacity = 0;
	int err = 0;

	for (size_t i = 0; i < r->stacks.entry_count && !err; i++) {
		const struct stack_table_entry *e = &r->stacks.entries[i];
		const struct group *g = &groups[e->key.group];
		struct push_row row = { .time_ns = g->time_ns,
					.weight = e->period_sum << r->period_shift,
					.samples = e->sample_count };

		err = stack_path_read(&path, &r->stacks, e, &rule);
		if (!err && path.count && path.labels[0] == STACK_PATH_NONE)
			path.count = 0;
		if (!err && vec_reserve(&ids, &id_capacity, path.count + 1))
			err = -ENOMEM;
		if (!err)
			err = add_stack(s, &index, path.labels, path.count, ids, &row.stack);
		if (!err)
			err = make_names(r, g, &row);
		if (!err)
			s->rows[s->row_count++] = row;
	}
	free(ids);
	hash_index_done(&index);
	stack_path_done(&path);
	return err;
}

/* By time; then in an order that is the same for the same capture. */
static int by_time(const void *va, const void *vb, void *arg)
{
	const struct push_row *a = va, *b = vb;
	const struct push_samples *s = arg;
	int cmp;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	cmp = strcmp(a->service, b->service);
	if (!cmp && s->stacks[a->stack].id != s->stacks[b->stack].id)
		cmp = s->stacks[a->stack].id < s->stacks[b->stack].id ? -1 : 1;
	if (!cmp)
		cmp = strcmp(a->comm, b->comm);
	if (!cmp)
		cmp = strcmp(a->container, b->container);
	if (!cmp && a->samples != b->samples)
		cmp = a->samples < b->samples ? -1 : 1;
	return cmp ? cmp : a->weight < b->weight ? -1 : a->weight > b->weight;
}

static bool is_same(const struct push_row *a, const struct push_row *b)
{
	return a->time_ns == b->time_ns && a->stack == b->stack && a->service == b->service &&
	       a->comm == b->comm && a->container == b->container;
}

/* Stacks that differ in why they end alone are one here. */
static void join_rows(struct push_samples *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->row_count; i++) {
		if (kept && is_same(&s->rows[kept - 1], &s->rows[i])) {
			s->rows[kept - 1].samples += s->rows[i].samples;
			s->rows[kept - 1].weight += s->rows[i].weight;
		} else {
			s->rows[kept++] = s->rows[i];
		}
	}
	s->row_count = kept;
}

int push_samples_make(struct report *r, struct push_samples *out)
{
	struct push_samples s = { 0 };
	uint32_t *labels = calloc(r->naming.function_count + 1, sizeof(*labels));
	int err = labels ? make_frames(r, &s) : -ENOMEM;

	s.rows = calloc(r->stacks.entry_count + 1, sizeof(*s.rows));
	if (!s.rows)
		err = -ENOMEM;
	for (size_t i = 0; !err && i < r->naming.function_count; i++)
		labels[i] = (uint32_t)i;
	if (!err)
		err = add_rows(r, &s, labels);
	free(labels);
	if (err) {
		push_samples_done(&s);
		return err;
	}
	qsort_r(s.rows, s.row_count, sizeof(*s.rows), by_time, &s);
	join_rows(&s);
	*out = s;
	return 0;
}

void push_samples_done(struct push_samples *s)
{
	free(s->rows);
	free(s->stacks);
	free(s->frames);
	free(s->frame_list);
	*s = (struct push_samples){ 0 };
}

size_t push_samples_interval(const struct push_samples *s, size_t i)
{
	size_t end = i;

	while (end < s->row_count && s->rows[end].time_ns == s->rows[i].time_ns)
		end++;
	return end - i;
}
