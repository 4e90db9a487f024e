/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/unwind/table_store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/base/cursor.h"
#include "format/base/vec.h"
#include "format/unwind/table/module_table.h"
#include "format/os/clock.h"
#include "format/base/lower_bound.h"
#include "record/unwind/table_builder.h"
#include "record/unwind/table_store_priv.h"

#define JOBS 4 /* given to the thread at a time: late ones may be hotter */

void table_store_set_state(struct table_store *t, struct table *f, enum state state)
{
	t->pending_count -= f->state == STATE_PENDING || f->state == STATE_WORK;
	t->pending_count += state == STATE_PENDING || state == STATE_WORK;
	f->state = state;
	f->version++;
	t->versions++;
}

static int add_table(struct table_store *t, uint32_t *number)
{
	uint32_t version = 0, at = t->first_free;

	if (at != TABLE_STORE_NONE) {
		version = t->table[at].version;
		t->first_free = t->table[at].next_free;
	} else {
		if (vec_reserve(&t->table, &t->room, t->count + 1))
			return -ENOMEM;
		at = (uint32_t)t->count++;
	}
	t->table[at] = (struct table){ .state = STATE_PENDING, .version = version };
	t->pending_count++;
	*number = at;
	return 0;
}

void table_store_free_number(struct table_store *t, uint32_t number)
{
	struct table *f = &t->table[number];

	table_store_set_state(t, f, STATE_FREE);
	*f = (struct table){ .version = f->version, .next_free = t->first_free };
	t->first_free = number;
}

/* ---- which file ---- */

/*
 * Device and inode; the build-id, or size and times, distinguish a file from one that had the same
 * numbers before it.
 */
static void keys(const struct mapping *m, uint64_t *a, uint64_t *b)
{
	uint8_t id[24] = { 0 };

	if (m->id.build_id.size_bytes)
		memcpy(id, m->id.build_id.bytes, m->id.build_id.size_bytes);
	else
		le64_store(id, m->stamp);
	*a = file_id_device(&m->id) ^ le64_load(id) ^ le64_load(id + 16);
	*b = m->id.inode ^ le64_load(id + 8);
}

/* Memory that is shared has the name of a file: opcache.jit puts code there. */
static bool is_shared_memory(const char *path)
{
	return !strncmp(path, "/dev/zero", 9) && (!path[9] || path[9] == ' ');
}

static bool is_file(const struct mapping *m)
{
	return m->id.inode && !is_shared_memory(m->path) && m->path[0] == '/' &&
	       m->path[1] != '/' && !m->is_stuck;
}

/* Another way to a file that is not read yet. */
static void remember_source(struct table *f, const struct mapping *m)
{
	char *path = strdup(m->path);
	uint32_t seen_by = m->seen_by ? m->seen_by : f->source.seen_by;

	if (!path)
		return;
	free((char *)f->source.path);
	f->source = *m;
	f->source.path = path;
	f->source.seen_by = seen_by;
}

uint32_t table_store_of(struct table_store *t, const struct mapping *m)
{
	const uint32_t *known;
	struct table *f;
	uint32_t number;
	uint64_t a, b;

	if (vdso_is(t->vdso_facts, m->path, m->size_bytes))
		return t->vdso;
	if (!is_file(m))
		return TABLE_STORE_NONE;
	keys(m, &a, &b);
	known = u64map_get(&t->by_file, a, b);
	if (known) {
		number = *known;
	} else {
		if (add_table(t, &number))
			return TABLE_STORE_NONE;
		if (u64map_put(&t->by_file, a, b, number)) {
			table_store_free_number(t, number);
			return TABLE_STORE_NONE;
		}
		t->table[number].key[0] = a;
		t->table[number].key[1] = b;
	}
	f = &t->table[number];
	f->mapped_ns = clock_ns(CLOCK_MONOTONIC);
	f->mapping_count++;
	if (f->state == STATE_UNREACHABLE)
		table_store_set_state(t, f, STATE_PENDING);
	if (f->state != STATE_READY && f->state != STATE_NONE)
		remember_source(f, m);
	return number;
}

/* ---- tables into the maps ---- */

static void copy_rules(struct table_store *t)
{
	uint32_t count = rule_table_count(t->rules);

	memcpy(t->space->rules + t->rules_copied, rule_table_rules(t->rules) + t->rules_copied,
	       (count - t->rules_copied) * sizeof(struct unwind_rule));
	t->rules_copied = count;
}

/* Maps the rule ids of a table to those of our set: to be freed; NULL: no memory. */
static uint16_t *translate(struct table_store *t, const struct rule_table *from)
{
	const struct unwind_rule *rules = rule_table_rules(from);
	uint32_t i, count = rule_table_count(from);
	uint16_t *ids = malloc(count * sizeof(*ids));

	for (i = 0; ids && i < count; i++)
		ids[i] = rule_table_intern(t->rules, &rules[i]);
	return ids;
}

static int lay_page(struct table_store *t, const struct module_table_view *v, uint32_t i,
		    const uint16_t *ids, struct walk_page *page)
{
	const struct module_table_page *from = &v->pages[i];
	struct walk_chunk *chunk;
	uint32_t k;
	int err;

	err = unwind_bpf_maps_take_rows(t->space, from->n_rows, page);
	if (err)
		return err;
	chunk = unwind_bpf_maps_chunk(t->space, page->chunk);
	if (!chunk) {
		unwind_bpf_maps_give_rows(t->space, page);
		return -ENOMEM;
	}
	memcpy(chunk->pc_low + page->first_row, v->pc_low + from->first_row,
	       from->n_rows * sizeof(*v->pc_low));
	for (k = 0; k < from->n_rows; k++)
		chunk->rule_id[page->first_row + k] = ids[v->rule_id[from->first_row + k]];
	return 0;
}

static int lay_pages(struct table_store *t, const struct table *f,
		     const struct module_table_view *v, const uint16_t *ids)
{
	struct walk_page *pages = &t->space->pages[f->first_page];
	uint32_t i = 0;
	int err = 0;

	for (; i < v->n_pages && !err; i++)
		err = lay_page(t, v, i, ids, &pages[i]);
	if (!err)
		return 0;
	while (--i > 0)
		unwind_bpf_maps_give_rows(t->space, &pages[i - 1]);
	return err;
}

/* All or nothing. */
static int lay(struct table_store *t, struct table *f, const struct module_table_view *v,
	       const struct rule_table *rules)
{
	uint16_t *ids;
	int err;

	if (v->n_pages > UINT16_MAX)
		return -EFBIG;
	ids = translate(t, rules);
	if (!ids)
		return -ENOMEM;
	copy_rules(t);
	err = rangealloc_take(&t->space->free_pages, v->n_pages, &f->first_page);
	if (!err) {
		err = lay_pages(t, f, v, ids);
		if (err)
			(void)rangealloc_give(&t->space->free_pages, f->first_page, v->n_pages);
	}
	free(ids);
	if (!err) {
		f->page_count = v->n_pages;
		f->vaddr = v->first_page << MODULE_TABLE_PAGE_BITS;
	}
	return err;
}

/* Lays a table that was made; takes it. */
static enum state settle(struct table_store *t, struct table *f, struct module_table *elf,
			 const struct rule_table *rules)
{
	struct module_table_view view;

	module_table_view(elf, &view);
	if (!view.n_rows || view.arch != UNWIND_HERE) {
		module_table_free(elf);
		return STATE_NONE;
	}
	f->row_count = view.n_rows;
	if (lay(t, f, &view, rules)) {
		module_table_free(elf);
		t->stats.no_room_count++;
		t->wants_room = true;
		return STATE_NO_ROOM;
	}
	module_table_drop_rows(elf);
	module_table_free(f->elf);
	f->elf = elf;
	return STATE_READY;
}

/* ---- making ---- */

/* The process that reads files died over this one: all it costs is the table. */
static void note_death(struct table_store *t, const struct table_job *job)
{
	t->stats.died_count++;
	free(t->died_path);
	t->died_path = strdup(job->source.path);
	memcpy(t->death, job->death, sizeof(t->death));
}

/* No process mapped the file anew while the job ran. */
static bool is_source(const struct table *f, const struct mapping *m)
{
	return f->source.pid == m->pid && f->source.seen_by == m->seen_by &&
	       f->source.start == m->start;
}

static void take_job(struct table_store *t, struct table_job *job)
{
	struct table *f = &t->table[job->number];
	struct module_table_view view;
	enum state state = STATE_NONE;

	if (f->prioritized || f->tried_ns)
		f->used_ns = clock_ns(CLOCK_MONOTONIC);
	f->prioritized = false;
	if (job->err == -ESTALE) {
		state = is_source(f, &job->source) ? STATE_UNREACHABLE : STATE_PENDING;
	} else if (job->err) {
		t->stats.failed_count++;
		if (job->err == -ECHILD)
			note_death(t, job);
	} else if (job->table) {
		module_table_view(job->table, &view);
		t->stats.row_count += job->from_cache ? 0 : view.n_rows;
		t->stats.cached_count += job->from_cache;
		t->stats.built_count += !job->from_cache;
		state = settle(t, f, job->table, job->rules);
		job->table = NULL;
	}
	if (job->reader_ns)
		t->stats.reader_ns = job->reader_ns;
	*(job->from_cache ? &t->stats.cached_ns : &t->stats.build_ns) += job->took_ns;
	table_store_set_state(t, f, state);
}

bool table_store_is_pending(const struct table_store *t, uint32_t number)
{
	return number != TABLE_STORE_NONE &&
	       (t->table[number].state == STATE_PENDING || t->table[number].state == STATE_WORK);
}

void table_store_prioritize(struct table_store *t, uint32_t number)
{
	if (number != TABLE_STORE_NONE)
		t->table[number].prioritized = true;
}

bool table_store_is_busy(const struct table_store *t)
{
	return t->lazy ? table_builder_count(t->worker) > 0 : t->pending_count > 0;
}

static bool goes_before(const struct table *a, const struct table *b)
{
	if (a->prioritized != b->prioritized)
		return a->prioritized;
	return a->mapping_count > b->mapping_count;
}

static struct table *next_pending(const struct table_store *t)
{
	struct table *best = NULL;
	size_t i;

	for (i = 0; i < t->count; i++) {
		if (t->table[i].state == STATE_PENDING && (t->table[i].prioritized || !t->lazy) &&
		    (!best || goes_before(&t->table[i], best)))
			best = &t->table[i];
	}
	return best;
}

void table_store_pass(struct table_store *t)
{
	struct table_job *job;
	struct table *f;

	while ((job = table_builder_take(t->worker))) {
		take_job(t, job);
		tablejob_free(job);
	}
	while (t->pending_count > table_builder_count(t->worker) &&
	       table_builder_count(t->worker) < JOBS) {
		f = next_pending(t);
		if (!f)
			return;
		if (table_builder_put(t->worker, (uint32_t)(f - t->table), &f->source))
			return;
		f->state = STATE_WORK;
	}
}

int table_store_fd(const struct table_store *t)
{
	return table_builder_fd(t->worker);
}

void table_store_wait(struct table_store *t, uint64_t max_ns)
{
	table_builder_wait(t->worker, max_ns);
}

uint32_t table_store_version(const struct table_store *t, uint32_t number)
{
	return number == TABLE_STORE_NONE ? 0 : t->table[number].version;
}

uint64_t table_store_versions(const struct table_store *t)
{
	return t->versions;
}

/* ---- answers ---- */

void table_store_place(const struct table_store *t, uint32_t number, uint64_t start,
		       uint64_t file_off_bytes, struct walk_map *out)
{
	const struct table *f;
	uint64_t bias;

	out->kind = number == TABLE_STORE_NONE ? WALK_MADE : WALK_NO_TABLE;
	if (number == TABLE_STORE_NONE)
		return;
	f = &t->table[number];
	if (table_store_is_pending(t, number)) {
		out->kind = WALK_PENDING;
	} else if (f->state == STATE_NO_ROOM) {
		out->kind = WALK_NO_ROOM;
	} else if (f->state == STATE_UNREACHABLE) {
		out->kind = WALK_UNREACHED;
	} else if (f->state == STATE_READY &&
		   !module_table_bias(f->elf, start, file_off_bytes, &bias)) {
		out->base = bias + f->vaddr;
		out->first_page = f->first_page;
		out->page_count = (uint16_t)f->page_count;
		out->kind = WALK_TABLE;
	}
}

const struct unwind_rule *table_store_rule(struct table_store *t, const struct walk_map *map,
					   uint64_t pc)
{
	const struct unwind_rule *rules = rule_table_rules(t->rules);
	uint64_t off = pc - map->base, page_number = off >> WALK_PAGE_BITS;
	const struct walk_chunk *chunk;
	const struct walk_page *page;
	size_t row;

	if (map->kind != WALK_TABLE)
		return NULL;
	if (page_number >= map->page_count)
		return &rules[RULE_TABLE_ID_END];
	page = &t->space->pages[map->first_page + page_number];
	chunk = unwind_bpf_maps_chunk(t->space, page->chunk);
	if (!chunk)
		return NULL;
	row = lower_bound(i, 1, page->row_count,
			  chunk->pc_low[page->first_row + i] <= (uint16_t)off) -
	      1;
	return &rules[chunk->rule_id[page->first_row + row]];
}

void table_store_touch(struct table_store *t, uint32_t number, uint64_t now_ns)
{
	if (number == TABLE_STORE_NONE)
		return;
	t->table[number].used = true;
	t->table[number].used_ns = now_ns;
}

void table_store_get_stats(const struct table_store *t, struct table_store_stats *out)
{
	*out = t->stats;
	out->died_path = t->died_path;
	out->death = t->died_path ? t->death : NULL;
	out->table_bytes = unwind_bpf_maps_table_bytes(t->space);
}

/* ---- life ---- */

/* Its image is at hand and small, so it does not wait for the thread. */
static int add_vdso(struct table_store *t)
{
	struct module_table *elf = NULL;
	struct rule_table *rules = NULL;
	enum state state = STATE_NONE;
	int err;

	err = add_table(t, &t->vdso);
	if (!err)
		err = rule_table_new(&rules);
	if (err)
		return err;
	if (!module_table_from_bytes(t->vdso_facts->image, t->vdso_facts->size_bytes, rules, &elf,
				     NULL))
		state = settle(t, &t->table[t->vdso], elf, rules);
	table_store_set_state(t, &t->table[t->vdso], state);
	rule_table_free(rules);
	return 0;
}

int table_store_new(struct io_timeout *io, struct unwind_bpf_maps *space, const struct vdso *vdso,
		    struct table_cache *cache, const char *program, bool lazy,
		    struct table_store **out)
{
	struct table_store *t = calloc(1, sizeof(*t));
	int err;

	if (!t) {
		table_cache_close(cache);
		return -ENOMEM;
	}
	t->space = space;
	t->cache = cache;
	t->lazy = lazy;
	t->vdso_facts = vdso;
	t->vdso = t->first_free = TABLE_STORE_NONE;
	err = rule_table_new(&t->rules);
	if (!err) {
		copy_rules(t);
		err = table_builder_new(io, cache, program, &t->worker);
	}
	if (!err && vdso->image)
		err = add_vdso(t);
	if (err) {
		table_store_free(t);
		return err;
	}
	*out = t;
	return 0;
}

void table_store_free(struct table_store *t)
{
	size_t i;

	if (!t)
		return;
	if (table_builder_free(t->worker))
		table_cache_close(t->cache);
	for (i = 0; i < t->count; i++) {
		module_table_free(t->table[i].elf);
		free((char *)t->table[i].source.path);
	}
	free(t->died_path);
	u64map_done(&t->by_file);
	rule_table_free(t->rules);
	free(t->table);
	free(t);
}
