/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/report/profile/flat_profile.h"

#include "analyze/report/profile/stack_path.h"
#include "format/base/vec.h"

struct order {
	const struct row_keys *t;
	const struct sort_keys *keys;
	const struct string_table *names;
	bool by_total;
};

static int by_text(const struct order *o, const struct flat_row *a, const struct flat_row *b,
		   enum sort_key key)
{
	bool group = sort_key_info(key)->fields;
	uint32_t ta = o->t->labels[group ? a->group : a->frame].texts[key];
	uint32_t tb = o->t->labels[group ? b->group : b->frame].texts[key];
	const char *text_a = string_table_text(o->names, ta),
		   *text_b = string_table_text(o->names, tb);

	if (ta == tb)
		return 0;
	if (sort_key_info(key)->is_number && strlen(text_a) != strlen(text_b))
		return strlen(text_a) < strlen(text_b) ? -1 : 1;
	return strcmp(text_a, text_b);
}

static int by_cost(const void *va, const void *vb, void *ctx)
{
	const struct flat_row *a = va, *b = vb;
	const struct order *o = ctx;
	uint64_t first_a = o->by_total ? a->total : a->self;
	uint64_t first_b = o->by_total ? b->total : b->self;
	int cmp;

	if (first_a != first_b)
		return first_a > first_b ? -1 : 1;
	if (a->self != b->self)
		return a->self > b->self ? -1 : 1;
	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	cmp = by_text(o, a, b, KEY_SYMBOL);
	for (size_t i = 0; !cmp && i < o->keys->count; i++)
		cmp = by_text(o, a, b, o->keys->list[i]);
	return cmp ? cmp
		   : (int)o->t->labels[a->frame].is_kernel - (int)o->t->labels[b->frame].is_kernel;
}

static int row_of(struct flat *f, uint32_t group, uint32_t frame, uint32_t *out)
{
	uint32_t pos, id;
	uint64_t hash;
	int err;

	err = hash_index_reserve(&f->index);
	if (err)
		return err;
	hash = hash_index_pair(&f->index, group, frame);
	pos = hash_index_start(&f->index, hash);
	while ((id = hash_index_match(&f->index, hash, &pos)) != HASH_INDEX_NONE) {
		/* NOLINTNEXTLINE: what the index knows is in the array */
		if (f->rows[id].group == group && f->rows[id].frame == frame) {
			*out = id;
			return 0;
		}
	}
	err = vec_reserve(&f->rows, &f->capacity, f->count + 1);
	if (err)
		return err;
	id = (uint32_t)f->count++;
	f->rows[id] = (struct flat_row){ .group = group, .frame = frame };
	hash_index_put(&f->index, hash, pos, id);
	*out = id;
	return 0;
}

/* seen: by label, the number of the last stack it was on: such a label has been counted for it. */
static int add_stack(struct flat *f, const struct stack_path *path, uint32_t group, uint64_t weight,
		     uint32_t *seen, uint32_t stack)
{
	uint32_t row;
	int err = 0;

	for (size_t i = 0; !err && i < path->count; i++) {
		if (seen[path->labels[i]] == stack)
			continue;
		seen[path->labels[i]] = stack;
		err = row_of(f, group, path->labels[i], &row);
		if (err)
			break;
		f->rows[row].total += weight;
		if (!i)
			f->rows[row].self += weight;
	}
	f->sum += weight;
	return err;
}

static uint32_t group_of(const struct row_keys *t, const struct stack_table_entry *e)
{
	return t->by_group ? t->by_group[e->key.group] : t->no_group;
}

static uint64_t weight_of(const struct stack_table_entry *e, enum calltree_weight weight)
{
	return weight == CALLTREE_PERIOD ? e->period_sum : e->sample_count;
}

/* ---- stacks ---- */

/* Entries that differ in nothing that a row shows: one of them, and the weight of all. */
struct stack {
	const struct stack_table_entry *entry;
	uint64_t weight;
	uint32_t group; /* of the row */
};

struct stacks {
	struct stack *list;
	size_t count, capacity;
	struct hash_index index;
};

static int sum_stack(struct stacks *all, const struct stack_table_entry *e, uint32_t group,
		     uint64_t weight)
{
	uint32_t pos, id;
	uint64_t hash;
	int err = hash_index_reserve(&all->index);

	if (err)
		return err;
	hash = hash_index_pair(&all->index, (uint64_t)e->key.user << 32 | e->key.kernel, group);
	pos = hash_index_start(&all->index, hash);
	while ((id = hash_index_match(&all->index, hash, &pos)) != HASH_INDEX_NONE) {
		const struct stack *s = &all->list[id];

		if (s->entry->key.user == e->key.user && s->entry->key.kernel == e->key.kernel &&
		    s->group == group) {
			all->list[id].weight += weight;
			return 0;
		}
	}
	err = vec_reserve(&all->list, &all->capacity, all->count + 1);
	if (err)
		return err;
	hash_index_put(&all->index, hash, pos, (uint32_t)all->count);
	all->list[all->count++] = (struct stack){ e, weight, group };
	return 0;
}

/* A page counts threads apart, which its text does not show: then a stack has many entries, and is walked once. */
static int sum_stacks(const struct stack_table *s, enum calltree_weight weight,
		      const struct row_keys *t, struct stacks *all)
{
	int err = 0;

	for (size_t i = 0; !err && i < s->entry_count; i++) {
		const struct stack_table_entry *e = &s->entries[i];

		err = sum_stack(all, e, group_of(t, e), weight_of(e, weight));
	}
	hash_index_done(&all->index);
	return err;
}

static int add_stacks(struct flat *f, const struct stack_table *s, enum calltree_weight weight,
		      const struct row_keys *t)
{
	struct stack_path_rule rule = { .labels = t->by_function, .empty = t->hidden };
	uint32_t *seen = calloc(t->count + 1, sizeof(*seen));
	struct stack_path path = { 0 };
	struct stacks stacks = { 0 };
	int err = seen ? sum_stacks(s, weight, t, &stacks) : -ENOMEM;

	for (size_t i = 0; !err && i < stacks.count; i++) {
		const struct stack *stack = &stacks.list[i];

		err = stack_path_read(&path, s, stack->entry, &rule);
		if (!err)
			err = add_stack(f, &path, stack->group, stack->weight, seen,
					(uint32_t)i + 1);
	}
	free(seen);
	free(stacks.list);
	stack_path_done(&path);
	return err;
}

/* ---- groups ---- */

/* Whether rows show nothing of functions: all frames have one label then, which is that of no frames, too. */
static bool is_by_group(const struct sort_keys *keys)
{
	for (size_t i = 0; i < keys->count; i++)
		if (!sort_key_info(keys->list[i])->fields)
			return false;
	return true;
}

static int add_groups(struct flat *f, const struct stack_table *s, enum calltree_weight weight,
		      const struct row_keys *t)
{
	uint32_t row;
	int err = 0;

	for (size_t i = 0; !err && i < s->entry_count; i++) {
		const struct stack_table_entry *e = &s->entries[i];

		err = row_of(f, group_of(t, e), t->hidden, &row);
		if (err)
			break;
		f->rows[row].total += weight_of(e, weight);
		f->rows[row].self += weight_of(e, weight);
		f->sum += weight_of(e, weight);
	}
	return err;
}

int flat_make(const struct stack_table *s, enum calltree_weight weight, const struct row_keys *t,
	      const struct sort_keys *keys, const struct string_table *names, bool by_total,
	      struct flat *out)
{
	struct order order = { t, keys, names, by_total };
	struct flat fresh = { 0 };
	int err = is_by_group(keys) ? add_groups(&fresh, s, weight, t)
				    : add_stacks(&fresh, s, weight, t);

	hash_index_done(&fresh.index);
	if (err) {
		flat_done(&fresh);
		return err;
	}
	if (fresh.count)
		qsort_r(fresh.rows, fresh.count, sizeof(*fresh.rows), by_cost, &order);
	*out = fresh;
	return 0;
}

void flat_done(struct flat *f)
{
	free(f->rows);
	hash_index_done(&f->index);
	*f = (struct flat){ 0 };
}
