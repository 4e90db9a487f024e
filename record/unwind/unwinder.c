/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/unwind/unwinder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/cursor.h"
#include "format/unwind/walk.h"
#include "format/base/clock.h"

#define USED_NS      2000000000ULL /* walks' marks are collected this often */
#define USED_SOON_NS 500000000ULL  /* when a table found no room */
#define LAST_NS      1000000000ULL /* the end waits for tables */
#define TABLE_NS     1000000000ULL /* as does who cannot keep a copy */

/* An event that waits for its stack. */
struct copied {
	struct event_header *ev; /* owned; stack lies in it */
	uint32_t pid;
	struct walker_stack stack;
	walker_take *take;
	void *ctx;
};

/* And what was mapped at its moment. */
struct held {
	struct copied copy;
	struct unwmaps_run *run;
	uint32_t table; /* that it waits for */
};

struct walker {
	const struct record_opts *opts; /* borrowed, as is emit */
	struct emit *emit;
	struct walkspace space;
	struct unwtables *tables;
	struct unwmaps *maps;
	struct copied *copy; /* waiting, by time once sorted */
	size_t copy_count, copy_room;
	bool copies_sorted;
	struct held *held; /* waiting for tables, by time */
	size_t held_count, held_room;
	uint64_t used_ns; /* marks were collected */
	uint64_t frames[CPU_USER_MAX];
};

/* ---- copies ---- */

int walker_defer(struct walker *u, const struct event_header *ev, uint32_t pid,
		 const struct walker_stack *stack, walker_take *take, void *ctx)
{
	size_t room = u->copy_room ? 2 * u->copy_room : 64;
	struct copied *p = u->copy, *c;
	struct event_header *own;

	if (u->copy_count == u->copy_room) {
		p = realloc(p, room * sizeof(*p));
		if (!p)
			return -ENOMEM;
		u->copy = p;
		u->copy_room = room;
	}
	own = malloc(ev->size_bytes);
	if (!own)
		return -ENOMEM;
	memcpy(own, ev, ev->size_bytes);
	c = &p[u->copy_count++];
	*c = (struct copied){ .ev = own, .pid = pid, .stack = *stack, .take = take, .ctx = ctx };
	c->stack.bytes = (uint8_t *)own + ((const uint8_t *)stack->bytes - (const uint8_t *)ev);
	c->stack.regs = (const __u64 *)((uint8_t *)own +
					((const uint8_t *)stack->regs - (const uint8_t *)ev));
	u->copies_sorted = false;
	return 0;
}

struct lookup {
	struct walker *u;
	const struct unwmaps_run *run;
	uint32_t pending; /* the first table that was not there; UNWTABLES_NONE */
};

static enum unwind_why lacks(uint32_t kind)
{
	switch (kind) {
	case WALK_PENDING:
		return UNWIND_NO_TABLE;
	case WALK_NO_ROOM:
		return UNWIND_NO_ROOM;
	case WALK_UNREACHED:
		return UNWIND_NO_FILE;
	default:
		return UNWIND_NO_CFI;
	}
}

static void look_up(void *ctx, uint64_t pc, struct stackwalk_code *out)
{
	struct lookup *l = ctx;
	struct walk_map map;
	uint32_t table;

	if (!unwmaps_find(l->u->maps, l->run, pc, &map, &table))
		return;
	out->executable = true;
	out->lacks = lacks(map.kind);
	out->rule = unwtables_rule(l->u->tables, &map, pc);
	unwtables_touch(l->u->tables, table, l->u->used_ns);
	if (map.kind == WALK_PENDING && l->pending == UNWTABLES_NONE)
		l->pending = table;
}

/* Walks into u->frames and *out.  The table that it needs first, or UNWTABLES_NONE. */
static uint32_t walk_stack(struct walker *u, const struct unwmaps_run *run,
			   const struct walker_stack *stack, struct walker_found *out)
{
	struct lookup lookup = { .u = u, .run = run, .pending = UNWTABLES_NONE };
	struct stackwalk walk = { .arch = UNWIND_X86_64,
				  .lookup = look_up,
				  .ctx = &lookup,
				  .frame_max = u->opts->max_frames };
	struct unwind_regs regs;
	struct unwind_copy copy;

	unwind_copy_init(&copy, stack->bytes, stack->size_bytes, stack->addr, stack->regs,
			 COPY_REGS);
	unwind_regs_leaf(&regs, stack->regs[UNWIND_X86_RA], stack->regs[UNWIND_X86_SP],
			 stack->regs[UNWIND_X86_FP], 0);
	out->frames = (const __u64 *)u->frames;
	out->count = stackwalk_run(&walk, &regs, &copy.mem, u->frames, &out->info);
	out->info.flags |= STACKINFO_COPY;
	if (lookup.pending != UNWTABLES_NONE)
		unwtables_hurry(u->tables, lookup.pending);
	return lookup.pending;
}

int walker_emit(struct walker *u, struct samplerec *rec, const struct walker_stack *stack)
{
	struct unwmaps_run *run = unwmaps_hold(u->maps, rec->pid);
	uint64_t end_ns = 0, now_ns;
	struct walker_found found;

	while (walk_stack(u, run, stack, &found) != UNWTABLES_NONE) {
		now_ns = clock_ns(CLOCK_MONOTONIC);
		end_ns = end_ns ? end_ns : now_ns + TABLE_NS;
		if (now_ns >= end_ns)
			break;
		unwtables_pass(u->tables);
		unwtables_wait(u->tables, end_ns - now_ns);
		unwtables_pass(u->tables);
	}
	unwmaps_release(u->maps, run);
	rec->user = found.frames;
	rec->user_count = found.count;
	rec->stack = found.info;
	emit_count_stack(u->emit, &rec->stack);
	return emit_sample(u->emit, ATTR_SAMPLE, rec);
}

/* 1: h->table has to be there first.  wait false: does without. */
static int walk_copy(struct walker *u, struct held *h, bool wait)
{
	const struct copied *c = &h->copy;
	struct walker_found found;

	h->table = walk_stack(u, h->run, &c->stack, &found);
	if (wait && h->table != UNWTABLES_NONE)
		return 1;
	return c->take(c->ctx, c->ev, &found);
}

static void drop(struct walker *u, struct held *h)
{
	unwmaps_release(u->maps, h->run);
	free(h->copy.ev);
}

/* Walks a copy, which is taken, by what is mapped now; or keeps both for later. */
static int first_walk(struct walker *u, const struct copied *copy)
{
	size_t room = u->held_room ? 2 * u->held_room : 64;
	struct held h = { .copy = *copy, .run = unwmaps_hold(u->maps, copy->pid) }, *p;
	int err = walk_copy(u, &h, true);

	if (err == 1 && u->held_count == u->held_room) {
		p = realloc(u->held, room * sizeof(*p));
		if (p) {
			u->held = p;
			u->held_room = room;
		} else {
			err = walk_copy(u, &h, false);
		}
	}
	if (err == 1) {
		u->held[u->held_count++] = h;
		return 0;
	}
	drop(u, &h);
	return err;
}

/* Those whose table has come, or never will; and those that are older than a moment anyway. */
static int walk_held(struct walker *u, uint64_t before_ns)
{
	size_t i, kept = 0;
	struct held *h;
	int err = 0, one;

	for (i = 0; i < u->held_count; i++) {
		h = &u->held[i];
		one = 1;
		if (h->copy.ev->time_ns < before_ns)
			one = err ? err : walk_copy(u, h, false);
		else if (!unwtables_is_pending(u->tables, h->table))
			one = err ? err : walk_copy(u, h, true);
		if (one == 1) {
			u->held[kept++] = *h;
			continue;
		}
		err = one;
		drop(u, h);
	}
	u->held_count = kept;
	return err;
}

static int by_time(const void *a, const void *b)
{
	const struct event_header *x = ((const struct copied *)a)->ev,
				  *y = ((const struct copied *)b)->ev;

	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

/* Walks the copies that are older than a moment. */
static int run_copies(struct walker *u, uint64_t before_ns)
{
	size_t i;
	int err = 0;

	if (!u->copy_count)
		return 0;
	if (!u->copies_sorted)
		qsort(u->copy, u->copy_count, sizeof(u->copy[0]), by_time);
	u->copies_sorted = true;
	for (i = 0; i < u->copy_count && u->copy[i].ev->time_ns < before_ns && !err; i++)
		err = first_walk(u, &u->copy[i]);
	u->copy_count -= i;
	memmove(u->copy, u->copy + i, u->copy_count * sizeof(u->copy[0]));
	return err;
}

/* ---- the side-band ---- */

int walker_record(struct walker *u, const struct perf_event_header *h, const struct siderec_map *m,
		  uint64_t time_ns)
{
	const uint8_t *body = (const uint8_t *)(h + 1);
	int err = run_copies(u, time_ns);

	if (err)
		return err;
	switch (h->type) {
	case PERF_RECORD_MMAP2:
		return m ? unwmaps_map(u->maps, m) : 0;
	case PERF_RECORD_FORK: /* pid, ppid, tid, ptid */
		unwmaps_fork(u->maps, le32_load(body + 4), le32_load(body));
		break;
	case PERF_RECORD_EXIT:
		unwmaps_exit(u->maps, le32_load(body));
		break;
	case PERF_RECORD_COMM: /* pid, tid */
		if (h->misc & PERF_RECORD_MISC_COMM_EXEC)
			unwmaps_exec(u->maps, le32_load(body), time_ns);
		break;
	default:
		break;
	}
	return 0;
}

static void look_for_room(struct walker *u, uint64_t now_ns)
{
	uint64_t every_ns = unwtables_wants_room(u->tables) ? USED_SOON_NS : USED_NS;

	if (now_ns - u->used_ns < every_ns)
		return;
	u->used_ns = now_ns;
	unwmaps_collect_used(u->maps, now_ns);
	unwtables_make_room(u->tables, now_ns);
	unwmaps_forget_files(u->maps, now_ns);
}

/* The last copies may still need tables; then there are no more. */
static int last_pass(struct walker *u)
{
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + LAST_NS, now_ns = 0;
	int err = run_copies(u, UINT64_MAX);

	while (!err && u->held_count && now_ns < end_ns) {
		unwtables_wait(u->tables, LAST_NS / 10);
		unwtables_pass(u->tables);
		err = walk_held(u, 0);
		now_ns = clock_ns(CLOCK_MONOTONIC);
	}
	return err ? err : walk_held(u, UINT64_MAX);
}

int walker_pass(struct walker *u, uint64_t until_ns)
{
	int err;

	if (until_ns == UINT64_MAX)
		return last_pass(u);
	err = run_copies(u, until_ns + 1);
	unwtables_pass(u->tables);
	if (!err)
		err = walk_held(u, 0);
	look_for_room(u, clock_ns(CLOCK_MONOTONIC));
	unwmaps_publish(u->maps, until_ns);
	return err;
}

int walker_settle(struct walker *u, uint64_t before_ns)
{
	return walk_held(u, before_ns);
}

bool walker_is_busy(const struct walker *u)
{
	return unwtables_is_busy(u->tables);
}

int walker_fd(const struct walker *u)
{
	return unwtables_fd(u->tables);
}

void walker_wait(struct walker *u, uint64_t max_ns)
{
	unwtables_wait(u->tables, max_ns);
}

const char *walker_death(const struct walker *u, const char **path)
{
	struct unwtables_stats tables;

	unwtables_get_stats(u->tables, &tables);
	*path = tables.died_path;
	return tables.death;
}

void walker_account(const struct walker *u, struct account *a)
{
	struct unwtables_stats tables;
	struct unwmaps_stats maps;

	unwtables_get_stats(u->tables, &tables);
	unwmaps_get_stats(u->maps, &maps);
	a->table_count = tables.built_count;
	a->table_kept_count = tables.kept_count;
	a->table_kept_ns = tables.kept_ns;
	a->table_failed_count = tables.failed_count;
	a->table_died_count = tables.died_count;
	a->table_reader_ns = tables.reader_ns;
	a->table_no_room_count = tables.no_room_count;
	a->table_evicted_count = tables.evicted_count;
	a->table_row_count = tables.row_count;
	a->table_bytes = tables.table_bytes;
	a->table_build_ns = tables.build_ns;
	a->maps_refused_count = maps.refused_count;
}

/* ---- life ---- */

struct walkspace *walker_space(struct walker *u)
{
	return &u->space;
}

struct unwmaps *walker_maps(struct walker *u)
{
	return u->maps;
}

int walker_new(const struct record_opts *opts, const struct vdso *vdso, struct tablecache *cache,
	       struct emit *emit, bool bpf, struct walker **out)
{
	struct walker *u = calloc(1, sizeof(*u));
	int err;

	if (!u) {
		tablecache_close(cache);
		return -ENOMEM;
	}
	u->opts = opts;
	u->emit = emit;
	err = walkspace_init(&u->space, opts->table_bytes, bpf);
	if (err)
		tablecache_close(cache);
	else
		err = unwtables_new(&u->space, vdso, cache, opts->self_program,
				    !bpf && !opts->system_wide, &u->tables);
	if (!err)
		err = unwmaps_new(&u->space, u->tables, &u->maps);
	if (err) {
		walker_free(u);
		return err;
	}
	*out = u;
	return 0;
}

void walker_free(struct walker *u)
{
	size_t i;

	if (!u)
		return;
	for (i = 0; i < u->copy_count; i++)
		free(u->copy[i].ev);
	free(u->copy);
	for (i = 0; i < u->held_count; i++)
		drop(u, &u->held[i]);
	free(u->held);
	unwmaps_free(u->maps);
	unwtables_free(u->tables);
	walkspace_done(&u->space);
	free(u);
}
