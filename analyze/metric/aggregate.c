/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/metric/aggregate.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/saturate.h"
#include "format/base/vec.h"

enum merge { MERGE_LAST, MERGE_IS, MERGE_ADD, MERGE_MAX, MERGE_NOW };

static enum merge merge_of(const struct metric_field *f)
{
	if (f->is_key || f->kind == METRIC_TEXT || !strcmp(f->name, "cgroup") ||
	    !strcmp(f->name, "pid") || !strcmp(f->name, "tid"))
		return MERGE_LAST;
	if (!strncmp(f->name, "is_", 3))
		return MERGE_IS;
	if (!strncmp(f->name, "max_", 4))
		return MERGE_MAX;
	return strncmp(f->name, "now_", 4) != 0 ? MERGE_ADD : MERGE_NOW;
}

void metric_aggregate_init(struct metric_aggregate *s, const struct metric_table *t,
			   const uint32_t *keys, size_t key_count, bool each)
{
	*s = (struct metric_aggregate){ .table = t, .key_count = key_count, .each = each };
	if (key_count)
		memcpy(s->keys, keys, key_count * sizeof(*keys));
}

void metric_aggregate_done(struct metric_aggregate *s)
{
	free(s->groups);
	free(s->slots);
	hash_index_done(&s->index);
	*s = (struct metric_aggregate){ 0 };
}

const uint64_t *metric_aggregate_slots(const struct metric_aggregate *s, size_t group)
{
	return s->slots + group * s->table->slot_count;
}

static bool is_group(const struct metric_aggregate *s, uint32_t id, const uint64_t *slots)
{
	const uint64_t *has = metric_aggregate_slots(s, id);

	for (size_t i = 0; i < s->key_count; i++) {
		if (has[s->keys[i]] != slots[s->keys[i]])
			return false;
	}
	return true;
}

static uint64_t hash_keys(const struct metric_aggregate *s, const uint64_t *slots)
{
	uint64_t hash = 0;

	for (size_t i = 0; i < s->key_count; i++)
		hash = hash_index_pair(&s->index, hash, slots[s->keys[i]]);
	return hash;
}

uint32_t metricsum_find(const struct metric_aggregate *s, const uint64_t *slots)
{
	uint64_t hash = hash_keys(s, slots);
	uint32_t pos = hash_index_start(&s->index, hash), id;

	while ((id = hash_index_match(&s->index, hash, &pos)) != HASH_INDEX_NONE)
		if (is_group(s, id, slots))
			break;
	return id;
}

/* Takes a row from the memory that all rows may take. */
static int take_room(const struct metric_aggregate *s)
{
	uint64_t bytes = s->table->slot_count * sizeof(*s->slots) + sizeof(*s->groups);

	if (!s->table->left_bytes)
		return 0;
	if (bytes > *s->table->left_bytes)
		return -EOVERFLOW;
	*s->table->left_bytes -= bytes;
	return 0;
}

/* *fresh: its slots are zero, but for the keys. */
static int group_of(struct metric_aggregate *s, const uint64_t *slots, uint32_t *out, bool *fresh)
{
	size_t width = s->table->slot_count;
	uint32_t pos, id;
	uint64_t hash, *own;

	if (hash_index_reserve(&s->index))
		return -ENOMEM;
	hash = hash_keys(s, slots);
	pos = hash_index_start(&s->index, hash);
	*fresh = false;
	while (!s->each && (id = hash_index_match(&s->index, hash, &pos)) != HASH_INDEX_NONE) {
		if (is_group(s, id, slots)) {
			*out = id;
			return 0;
		}
	}
	if (s->count >= HASH_INDEX_NONE - 1 || take_room(s))
		return -EOVERFLOW;
	if (vec_reserve(&s->groups, &s->capacity, s->count + 1) ||
	    vec_reserve(&s->slots, &s->slot_capacity, (s->count + 1) * width))
		return -ENOMEM;
	id = (uint32_t)s->count++;
	s->groups[id] = (struct metric_group){ 0 };
	own = s->slots + id * width;
	memset(own, 0, width * sizeof(*own));
	for (size_t i = 0; i < s->key_count; i++)
		own[s->keys[i]] = slots[s->keys[i]];
	if (!s->each)
		hash_index_put(&s->index, hash, pos, id);
	*out = id;
	*fresh = true;
	return 0;
}

/* A row whose is_* are all 0 has no values for them. */
static bool has_state(const struct metric_table *t, const uint64_t *slots)
{
	for (size_t i = 0; i < t->fmt.field_count; i++) {
		if (merge_of(&t->fmt.fields[i]) == MERGE_IS && slots[t->slots[i]])
			return true;
	}
	return false;
}

/* A name that a row lacks is known from another row of the group. */
static bool is_empty_text(const struct metric_field *f, uint64_t value)
{
	return f->kind == METRIC_TEXT && !value; /* string_table.h: number 0 is "" */
}

static void merge_field(const struct metric_field *f, uint64_t *to, const uint64_t *from, bool now,
			bool is)
{
	enum merge how = merge_of(f);
	uint32_t count = f->kind == METRIC_TEXT ? 1 : f->count;

	for (uint32_t i = 0; i < count; i++) {
		if (how == MERGE_ADD || (how == MERGE_NOW && now))
			to[i] = f->kind == METRIC_SIGNED ? saturate_add_signed(to[i], from[i])
							 : saturate_add(to[i], from[i]);
		else if ((how == MERGE_LAST && !is_empty_text(f, from[i])) ||
			 (how == MERGE_IS && is) || (how == MERGE_MAX && from[i] > to[i]))
			to[i] = from[i];
	}
}

static void clear_now(struct metric_aggregate *s, uint32_t id)
{
	const struct metric_format *fmt = &s->table->fmt;
	uint64_t *own = s->slots + (size_t)id * s->table->slot_count;

	for (size_t i = 0; i < fmt->field_count; i++) {
		if (merge_of(&fmt->fields[i]) == MERGE_NOW)
			memset(own + s->table->slots[i], 0, fmt->fields[i].count * sizeof(*own));
	}
}

/* interval: that the row's now_* are of, and 1; rows may come out of order. */
static void merge(struct metric_aggregate *s, uint32_t id, bool fresh, const uint64_t *slots,
		  uint64_t interval, bool leader)
{
	const struct metric_table *t = s->table;
	struct metric_group *g = &s->groups[id];
	uint64_t *own = s->slots + (size_t)id * t->slot_count;
	bool is = has_state(t, slots);
	uint64_t comm;

	assert(s->groups && s->slots); /* it is of a group that is there */
	comm = t->comm == METRIC_ROWS_NONE ? 0 : own[t->comm];
	if (interval > g->now_interval) {
		clear_now(s, id);
		g->now_interval = interval;
	}
	for (size_t i = 0; i < t->fmt.field_count; i++)
		merge_field(&t->fmt.fields[i], own + t->slots[i], slots + t->slots[i],
			    interval == g->now_interval, is);
	for (size_t i = 0; i < s->key_count; i++) /* a group may be by what otherwise adds up */
		own[s->keys[i]] = slots[s->keys[i]];
	if (t->comm != METRIC_ROWS_NONE && !fresh && g->comm_is_leaders && !leader)
		own[t->comm] = comm;
	g->comm_is_leaders |= leader;
}

int metric_aggregate_add(struct metric_aggregate *s, const struct metric_row *r)
{
	const struct metric_table *t = s->table;
	uint64_t interval = t->is_interval ? r->slots[t->interval] + 1 : 1;
	struct metric_group *g;
	bool fresh;
	uint32_t id;
	int err;

	err = group_of(s, r->slots, &id, &fresh);
	if (err)
		return err;
	merge(s, id, fresh, r->slots, interval, r->pid == r->tid);
	g = &s->groups[id];
	g->rows++;
	g->time_ns = r->time_ns > g->time_ns ? r->time_ns : g->time_ns;
	g->pid = r->pid;
	g->tid = r->tid;
	if (interval > s->last_interval)
		s->last_interval = interval;
	if (!s->to_ns || r->since_ns < s->from_ns)
		s->from_ns = r->since_ns;
	if (r->time_ns > s->to_ns)
		s->to_ns = r->time_ns;
	return 0;
}

void metric_aggregate_finish(struct metric_aggregate *s)
{
	for (size_t i = 0; i < s->count; i++) {
		if (s->groups[i].now_interval != s->last_interval)
			clear_now(s, (uint32_t)i);
	}
}

int metric_aggregate_fold(const struct metric_aggregate *from, const uint32_t *keys,
			  size_t key_count, struct metric_aggregate *out)
{
	struct metric_aggregate s;
	bool fresh;
	uint32_t id;
	int err = 0;

	metric_aggregate_init(&s, from->table, keys, key_count, false);
	for (size_t i = 0; i < from->count && !err; i++) {
		const struct metric_group *g = &from->groups[i];

		err = group_of(&s, metric_aggregate_slots(from, i), &id, &fresh);
		if (err)
			break;
		merge(&s, id, fresh, metric_aggregate_slots(from, i), g->now_interval,
		      g->comm_is_leaders);
		s.groups[id].rows += g->rows;
		s.groups[id].pid = g->pid;
		s.groups[id].tid = g->tid;
		if (g->time_ns > s.groups[id].time_ns)
			s.groups[id].time_ns = g->time_ns;
	}
	s.from_ns = from->from_ns;
	s.to_ns = from->to_ns;
	s.last_interval = from->last_interval;
	if (err) {
		metric_aggregate_done(&s);
		return err;
	}
	*out = s;
	return 0;
}
