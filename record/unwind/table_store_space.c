/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* Space for tables: idle ones go for others that are used, and files that are gone for new ones. */
#include <stdlib.h>

#include "record/unwind/table_store_priv.h"

#define IDLE_NS      10000000000ULL /* not used, or not mapped, for so long: may go */
#define TRY_AGAIN_NS 5000000000ULL  /* for room; or tables in turn would cost more than they give */
#define FILES_MANY   1024           /* from so many on, files that no process maps are forgotten */

/* ---- room ---- */

static void evict(struct table_store *t, struct table *f, uint64_t now_ns)
{
	unwind_bpf_maps_retire_pages(t->space, f->first_page, f->page_count, now_ns);
	module_table_free(f->elf);
	f->elf = NULL;
	f->tried_ns = now_ns;
	t->stats.evicted_count++;
	table_store_set_state(t, f, STATE_NO_ROOM);
}

/*
 * A table that was laid because its file was mapped, and never used, is idle at once; the vdso is
 * not.
 */
static bool is_idle(const struct table *f, uint64_t now_ns)
{
	return f->state == STATE_READY && f->source.path &&
	       (!f->used_ns || now_ns - f->used_ns >= IDLE_NS);
}

/* The idle table that was used the longest time ago. */
static struct table *most_idle(const struct table_store *t, uint64_t now_ns)
{
	struct table *best = NULL, *f;
	size_t i;

	for (i = 0; i < t->count; i++) {
		f = &t->table[i];
		if (is_idle(f, now_ns) && (!best || f->used_ns < best->used_ns))
			best = f;
	}
	return best;
}

static uint64_t idle_rows(const struct table_store *t, uint64_t now_ns)
{
	uint64_t rows = 0;
	size_t i;

	for (i = 0; i < t->count; i++)
		rows += is_idle(&t->table[i], now_ns) ? t->table[i].row_count : 0;
	return rows;
}

/* Evicts for a table, or has it made again when there is room. */
static void make_room_for(struct table_store *t, struct table *f, uint64_t now_ns)
{
	uint64_t room = unwind_bpf_maps_free_rows(t->space);
	struct table *idle;

	if (f->row_count <= room) {
		f->tried_ns = now_ns;
		table_store_set_state(t, f, STATE_PENDING);
		return;
	}
	room += unwind_bpf_maps_retired_rows(t->space);
	if (f->row_count > room + idle_rows(t, now_ns))
		return;
	while (f->row_count > room && (idle = most_idle(t, now_ns))) {
		room += idle->row_count;
		evict(t, idle, now_ns);
	}
}

void table_store_make_room(struct table_store *t, uint64_t now_ns)
{
	struct table *f;
	size_t i;

	t->wants_room = false;
	for (i = 0; i < t->count; i++) {
		f = &t->table[i];
		if (f->state == STATE_NO_ROOM && f->used && now_ns - f->tried_ns >= TRY_AGAIN_NS)
			make_room_for(t, f, now_ns);
		else
			f->used = false;
	}
}

bool table_store_wants_room(const struct table_store *t)
{
	return t->wants_room;
}

/* ---- files that are gone ---- */

void table_store_see(struct table_store *t, uint32_t number, uint64_t now_ns)
{
	if (number != TABLE_STORE_NONE)
		t->table[number].mapped_ns = now_ns;
}

bool table_store_are_many(const struct table_store *t)
{
	return t->by_file.key_count >= FILES_MANY;
}

static void forget(struct table_store *t, struct table *f, uint64_t now_ns)
{
	if (f->state == STATE_READY)
		unwind_bpf_maps_retire_pages(t->space, f->first_page, f->page_count, now_ns);
	module_table_free(f->elf);
	free((char *)f->source.path);
	u64map_remove(&t->by_file, f->key[0], f->key[1]);
	table_store_free_number(t, (uint32_t)(f - t->table));
}

void table_store_forget(struct table_store *t, uint64_t now_ns)
{
	struct table *f;
	size_t i;

	for (i = 0; i < t->count; i++) {
		f = &t->table[i];
		if (f->state != STATE_FREE && f->state != STATE_WORK && f->mapped_ns &&
		    now_ns > f->mapped_ns && now_ns - f->mapped_ns >= IDLE_NS)
			forget(t, f, now_ns);
	}
}
