/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/unwtables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/cursor.h"
#include "format/unwtable.h"
#include "record/clock.h"
#include "record/keymap.h"
#include "record/mapfile.h"

#define EVICT_PAUSE_NS 500000000ULL /* tables in turn for too little room would only cost time */

enum state {
	STATE_PENDING,
	STATE_READY,
	STATE_NONE,        /* no table in it, or it cannot be read */
	STATE_UNREACHABLE, /* not to be opened by the ways we know: another mapping may do */
	STATE_NO_ROOM,
};

struct table {
	enum state state;
	uint32_t version;
	struct unwtable *elf; /* without rows: knows where mappings begin; NULL before READY */
	uint64_t vaddr;       /* of the first page */
	uint32_t first_page, page_count;
	uint32_t mapping_count; /* seen while it was not built: who has most goes first */
	uint64_t used_ns;
	struct siderec_map source; /* path is owned; NULL: the vdso, or not needed any more */
};

struct unwtables {
	struct walkspace *space; /* borrowed */
	struct ruleset *rules;
	struct table *table;
	size_t count, room;
	struct keymap by_file;
	uint32_t vdso; /* its number; UNWTABLES_NONE */
	const struct vdso *vdso_facts;
	uint32_t rules_copied;
	uint32_t pending_count;
	uint64_t versions, evicted_ns;
	struct unwtables_stats stats;
};

static void set_state(struct unwtables *t, struct table *f, enum state state)
{
	t->pending_count -= f->state == STATE_PENDING;
	t->pending_count += state == STATE_PENDING;
	f->state = state;
	f->version++;
	t->versions++;
}

static int add_table(struct unwtables *t, uint32_t *number)
{
	struct table *p = t->table;
	size_t room = t->room ? 2 * t->room : 64;

	if (t->count == t->room) {
		p = realloc(p, room * sizeof(*p));
		if (!p)
			return -ENOMEM;
		t->table = p;
		t->room = room;
	}
	p[t->count] = (struct table){ .state = STATE_PENDING };
	t->pending_count++;
	*number = (uint32_t)t->count++;
	return 0;
}

/* ---- which file ---- */

/* Device and inode; the build-id tells a file from one that had the same numbers before it. */
static void keys(const struct siderec_map *m, uint64_t *a, uint64_t *b)
{
	uint8_t id[24] = { 0 };

	memcpy(id, m->build_id.bytes, m->build_id.size_bytes);
	*a = ((uint64_t)m->dev_major << 32 | m->dev_minor) ^ le64_load(id) ^ le64_load(id + 16);
	*b = m->inode ^ le64_load(id + 8);
}

static bool is_file(const struct siderec_map *m)
{
	return m->inode && m->path[0] == '/' && m->path[1] != '/';
}

/* Another way to a file that is not read yet. */
static void remember_source(struct table *f, const struct siderec_map *m)
{
	char *path = strdup(m->path);

	if (!path)
		return;
	free((char *)f->source.path);
	f->source = *m;
	f->source.path = path;
}

uint32_t unwtables_of(struct unwtables *t, const struct siderec_map *m)
{
	const uint32_t *known;
	struct table *f;
	uint32_t number;
	uint64_t a, b;

	if (vdso_is(t->vdso_facts, m->path, m->size_bytes))
		return t->vdso;
	if (!is_file(m))
		return UNWTABLES_NONE;
	keys(m, &a, &b);
	known = keymap_get(&t->by_file, a, b);
	if (known) {
		number = *known;
	} else {
		if (add_table(t, &number))
			return UNWTABLES_NONE;
		if (keymap_put(&t->by_file, a, b, number)) {
			t->count--;
			t->pending_count--;
			return UNWTABLES_NONE;
		}
	}
	f = &t->table[number];
	f->mapping_count++;
	if (f->state == STATE_UNREACHABLE)
		set_state(t, f, STATE_PENDING);
	if (f->state != STATE_READY && f->state != STATE_NONE)
		remember_source(f, m);
	return number;
}

/* ---- tables into the maps ---- */

static void copy_rules(struct unwtables *t)
{
	uint32_t count = ruleset_count(t->rules);

	memcpy(t->space->rules + t->rules_copied, ruleset_rules(t->rules) + t->rules_copied,
	       (count - t->rules_copied) * sizeof(struct unwind_rule));
	t->rules_copied = count;
}

static int lay_page(struct unwtables *t, const struct unwtable_view *v, uint32_t i,
		    struct walk_page *page)
{
	const struct unwtable_page *from = &v->pages[i];
	struct walk_chunk *chunk;
	int err;

	err = walkspace_take_rows(t->space, from->n_rows, page);
	if (err)
		return err;
	chunk = walkspace_chunk(t->space, page->chunk);
	if (!chunk) {
		walkspace_give_rows(t->space, page);
		return -ENOMEM;
	}
	memcpy(chunk->pc_low + page->first_row, v->pc_low + from->first_row,
	       from->n_rows * sizeof(*v->pc_low));
	memcpy(chunk->rule_id + page->first_row, v->rule_id + from->first_row,
	       from->n_rows * sizeof(*v->rule_id));
	return 0;
}

/* All or nothing. */
static int lay(struct unwtables *t, struct table *f, const struct unwtable_view *v)
{
	uint32_t i = 0;
	int err;

	if (v->n_pages > UINT16_MAX)
		return -EFBIG;
	err = extents_take(&t->space->free_pages, v->n_pages, &f->first_page);
	if (err)
		return err;
	copy_rules(t);
	for (; i < v->n_pages && !err; i++)
		err = lay_page(t, v, i, &t->space->pages[f->first_page + i]);
	if (!err) {
		f->page_count = v->n_pages;
		f->vaddr = v->first_page << UNWTABLE_PAGE_BITS;
		return 0;
	}
	while (--i > 0)
		walkspace_give_rows(t->space, &t->space->pages[f->first_page + i - 1]);
	(void)extents_give(&t->space->free_pages, f->first_page, v->n_pages);
	return err;
}

/* ---- building ---- */

static int read_table(struct unwtables *t, const struct table *f, struct unwtable **out)
{
	int fd, err;

	if (!f->source.path)
		return unwtable_from_bytes(t->vdso_facts->image, t->vdso_facts->size_bytes,
					   t->rules, out, NULL);
	fd = mapfile_open(&f->source);
	if (fd < 0)
		return -ESTALE;
	err = unwtable_from_fd(fd, t->rules, out, NULL);
	close(fd);
	return err == -ESTALE ? -EIO : err;
}

static enum state build(struct unwtables *t, struct table *f)
{
	struct unwtable_view view;
	struct unwtable *elf = NULL;
	int err;

	err = read_table(t, f, &elf);
	if (err == -ESTALE)
		return STATE_UNREACHABLE;
	if (err) {
		t->stats.failed_count++;
		return STATE_NONE;
	}
	t->stats.built_count++;
	unwtable_view(elf, &view);
	t->stats.row_count += view.n_rows;
	if (!view.n_rows || view.arch != UNWIND_X86_64) {
		unwtable_free(elf);
		return STATE_NONE;
	}
	err = lay(t, f, &view);
	if (err) {
		unwtable_free(elf);
		t->stats.no_room_count++;
		return STATE_NO_ROOM;
	}
	unwtable_drop_rows(elf);
	f->elf = elf;
	return STATE_READY;
}

bool unwtables_build(struct unwtables *t, uint32_t number)
{
	uint64_t start_ns;
	struct table *f;
	enum state state;

	if (number == UNWTABLES_NONE)
		return false;
	f = &t->table[number];
	if (f->state != STATE_PENDING)
		return f->state == STATE_READY;
	start_ns = clock_ns(CLOCK_MONOTONIC);
	state = build(t, f);
	f->used_ns = clock_ns(CLOCK_MONOTONIC);
	t->stats.build_ns += f->used_ns - start_ns;
	set_state(t, f, state);
	if (state == STATE_READY || state == STATE_NONE) {
		free((char *)f->source.path);
		f->source.path = NULL;
	}
	return state == STATE_READY;
}

bool unwtables_is_pending(const struct unwtables *t, uint32_t number)
{
	return number != UNWTABLES_NONE && t->table[number].state == STATE_PENDING;
}

uint32_t unwtables_next_pending(const struct unwtables *t)
{
	uint32_t best = UNWTABLES_NONE;
	size_t i;

	if (!t->pending_count)
		return best;
	for (i = 0; i < t->count; i++) {
		if (t->table[i].state == STATE_PENDING &&
		    (best == UNWTABLES_NONE ||
		     t->table[i].mapping_count > t->table[best].mapping_count))
			best = (uint32_t)i;
	}
	return best;
}

uint32_t unwtables_version(const struct unwtables *t, uint32_t number)
{
	return number == UNWTABLES_NONE ? 0 : t->table[number].version;
}

uint64_t unwtables_versions(const struct unwtables *t)
{
	return t->versions;
}

/* ---- answers ---- */

void unwtables_place(const struct unwtables *t, uint32_t number, uint64_t start,
		     uint64_t file_off_bytes, struct walk_map *out)
{
	const struct table *f;
	uint64_t bias;

	out->kind = WALK_NO_TABLE;
	if (number == UNWTABLES_NONE)
		return;
	f = &t->table[number];
	if (f->state == STATE_PENDING) {
		out->kind = WALK_PENDING;
	} else if (f->state == STATE_READY &&
		   !unwtable_bias(f->elf, start, file_off_bytes, &bias)) {
		out->base = bias + f->vaddr;
		out->first_page = f->first_page;
		out->page_count = (uint16_t)f->page_count;
		out->kind = WALK_TABLE;
	}
}

const struct unwind_rule *unwtables_rule(struct unwtables *t, const struct walk_map *map,
					 uint64_t pc)
{
	const struct unwind_rule *rules = ruleset_rules(t->rules);
	uint64_t off = pc - map->base, page_number = off >> WALK_PAGE_BITS;
	const struct walk_chunk *chunk;
	const struct walk_page *page;
	uint32_t lo = 0, hi, mid;

	if (map->kind != WALK_TABLE)
		return NULL;
	if (page_number >= map->page_count)
		return &rules[RULESET_ID_END];
	page = &t->space->pages[map->first_page + page_number];
	chunk = walkspace_chunk(t->space, page->chunk);
	if (!chunk)
		return NULL;
	hi = page->row_count;
	while (hi - lo > 1) {
		mid = lo + (hi - lo) / 2;
		if (chunk->pc_low[page->first_row + mid] <= (uint16_t)off)
			lo = mid;
		else
			hi = mid;
	}
	return &rules[chunk->rule_id[page->first_row + lo]];
}

void unwtables_touch(struct unwtables *t, uint32_t number, uint64_t now_ns)
{
	if (number != UNWTABLES_NONE)
		t->table[number].used_ns = now_ns;
}

void unwtables_get_stats(const struct unwtables *t, struct unwtables_stats *out)
{
	*out = t->stats;
	out->table_bytes = walkspace_table_bytes(t->space);
}

/* ---- life ---- */

int unwtables_new(struct walkspace *space, const struct vdso *vdso, struct unwtables **out)
{
	struct unwtables *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return -ENOMEM;
	t->space = space;
	t->vdso_facts = vdso;
	t->vdso = UNWTABLES_NONE;
	err = ruleset_new(&t->rules);
	if (!err)
		copy_rules(t);
	if (!err && vdso->image) {
		err = add_table(t, &t->vdso);
		if (!err)
			unwtables_build(t, t->vdso);
	}
	if (err) {
		unwtables_free(t);
		return err;
	}
	*out = t;
	return 0;
}

void unwtables_free(struct unwtables *t)
{
	size_t i;

	if (!t)
		return;
	for (i = 0; i < t->count; i++) {
		unwtable_free(t->table[i].elf);
		free((char *)t->table[i].source.path);
	}
	keymap_done(&t->by_file);
	ruleset_free(t->rules);
	free(t->table);
	free(t);
}
