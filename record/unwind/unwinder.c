/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/unwind/unwinder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/cursor.h"
#include "format/base/vec.h"
#include "format/unwind/table/walk.h"
#include "format/os/clock.h"

#define USED_NS      2000000000ULL /* walks' marks are collected this often */
#define USED_SOON_NS 500000000ULL  /* when a table found no room */
#define LAST_NS      1000000000ULL /* the end waits for tables */
#define HELD_BYTES   (64u << 20)   /* of copies that wait; more are walked without their tables */

/* An event that waits for its stack. */
struct copied {
	struct event_header *ev; /* owned; stack lies in it, or behind it */
	size_t bytes;            /* of both */
	uint32_t pid;
	struct unwinder_stack stack;
	unwinder_take *take;
	void *ctx;
};

/* And what was mapped at its moment. */
struct held {
	struct copied copy;
	struct process_maps_run *run;
	uint32_t table; /* that it waits for */
};

struct unwinder {
	const struct record_opts *opts; /* borrowed, as is emit */
	struct sink *emit;
	struct unwind_bpf_maps space;
	struct table_store *tables;
	struct process_maps *maps;
	struct copied *copy; /* waiting, by time once sorted */
	size_t copy_count, copy_room;
	bool copies_sorted;
	struct held *held; /* waiting for tables, by time */
	size_t held_count, held_room, held_bytes;
	uint64_t used_ns; /* marks were collected */
	uint64_t frames[CPU_SAMPLE_MAX];
	bool made[CPU_SAMPLE_MAX];
};

/* ---- copies ---- */

int unwinder_defer(struct unwinder *u, const struct event_header *ev, uint32_t pid,
		   const struct unwinder_stack *stack, unwinder_take *take, void *ctx)
{
	struct event_header *own;
	struct copied *c;

	if (vec_reserve(&u->copy, &u->copy_room, u->copy_count + 1))
		return -ENOMEM;
	own = malloc(ev->size_bytes);
	if (!own)
		return -ENOMEM;
	memcpy(own, ev, ev->size_bytes);
	c = &u->copy[u->copy_count++];
	*c = (struct copied){ .ev = own,
			      .bytes = ev->size_bytes,
			      .pid = pid,
			      .stack = *stack,
			      .take = take,
			      .ctx = ctx };
	c->stack.bytes = (uint8_t *)own + ((const uint8_t *)stack->bytes - (const uint8_t *)ev);
	c->stack.regs = (const __u64 *)((uint8_t *)own +
					((const uint8_t *)stack->regs - (const uint8_t *)ev));
	u->copies_sorted = false;
	return 0;
}

struct lookup {
	struct unwinder *u;
	const struct process_maps_run *run;
	uint32_t pending; /* the first table that was not there; TABLE_STORE_NONE */
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

static void look_up(void *ctx, uint64_t pc, struct walk_stack_code *out)
{
	struct lookup *l = ctx;
	struct walk_map map;
	uint32_t table;

	if (!process_maps_find(l->u->maps, l->run, pc, &map, &table))
		return;
	out->executable = true;
	out->lacks = lacks(map.kind);
	out->rule = table_store_rule(l->u->tables, &map, pc);
	table_store_touch(l->u->tables, table, l->u->used_ns);
	if (map.kind == WALK_PENDING && l->pending == TABLE_STORE_NONE)
		l->pending = table;
}

/* Notes which frames are in code without a file. */
static void find_made(struct unwinder *u, const struct process_maps_run *run,
		      struct unwinder_found *out)
{
	struct walk_map map;
	uint32_t table;

	for (size_t i = 0; i < out->count; i++)
		u->made[i] = process_maps_find(u->maps, run, u->frames[i] - (i > 0), &map,
					       &table) &&
			     map.kind == WALK_MADE;
	out->made = u->made;
}

/* Walks into u->frames and *out.  The table that it needs first, or TABLE_STORE_NONE. */
static uint32_t walk_stack(struct unwinder *u, const struct process_maps_run *run,
			   const struct unwinder_stack *stack, struct unwinder_found *out)
{
	struct lookup lookup = { .u = u, .run = run, .pending = TABLE_STORE_NONE };
	struct walk_stack walk = { .arch = UNWIND_HERE,
				   .lookup = look_up,
				   .ctx = &lookup,
				   .frame_max = u->opts->max_frames };
	struct unwind_regs regs;
	struct unwind_copy copy;

	unwind_copy_init(&copy, stack->bytes, stack->size_bytes, stack->addr, stack->regs,
			 COPY_REGS);
	unwind_regs_leaf(&regs, stack->regs[unwind_pc_regno(UNWIND_HERE)],
			 stack->regs[unwind_sp_regno(UNWIND_HERE)],
			 stack->regs[unwind_fp_regno(UNWIND_HERE)],
			 UNWIND_HERE == UNWIND_AARCH64 ? stack->regs[UNWIND_ARM_LR] : 0);
	out->frames = (const __u64 *)u->frames;
	out->count = walk_stack_run(&walk, &regs, &copy.mem, u->frames, &out->info);
	out->info.flags |= STACK_RESULT_COPY;
	out->runtime = process_maps_runtime(run, &out->runtime_base);
	out->made = NULL;
	if (out->runtime)
		find_made(u, run, out);
	if (lookup.pending != TABLE_STORE_NONE)
		table_store_prioritize(u->tables, lookup.pending);
	return lookup.pending;
}

/* 1: h->table has to be there first.  wait false: does without. */
static int walk_copy(struct unwinder *u, struct held *h, bool wait)
{
	const struct copied *c = &h->copy;
	struct unwinder_found found;
	int err;

	h->table = walk_stack(u, h->run, &c->stack, &found);
	if (wait && h->table != TABLE_STORE_NONE)
		return 1;
	err = c->take(c->ctx, c->ev, &found);
	u->emit->account.broken_event_count += err == -EBADMSG;
	return err == -EBADMSG ? 0 : err;
}

static void drop(struct unwinder *u, struct held *h)
{
	process_maps_release(u->maps, h->run);
	free(h->copy.ev);
}

/* Takes it, to be walked when its table is there; false: there is no room. */
static bool hold(struct unwinder *u, const struct held *h)
{
	if (u->held_bytes + h->copy.bytes > HELD_BYTES ||
	    vec_reserve(&u->held, &u->held_room, u->held_count + 1))
		return false;
	u->held_bytes += h->copy.bytes;
	u->held[u->held_count++] = *h;
	return true;
}

/* Walks a copy, which is taken, by what is mapped now; or keeps both for later. */
static int first_walk(struct unwinder *u, const struct copied *copy)
{
	struct held h = { .copy = *copy, .run = process_maps_hold(u->maps, copy->pid) };
	int err = walk_copy(u, &h, true);

	if (err == 1 && hold(u, &h))
		return 0;
	if (err == 1)
		err = walk_copy(u, &h, false);
	drop(u, &h);
	return err;
}

/* An event with the stack and the registers behind it; NULL: no memory. */
static struct event_header *join(const struct event_header *ev, struct unwinder_stack *stack,
				 size_t *bytes)
{
	size_t regs_bytes = COPY_REGS * sizeof(*stack->regs), head = (ev->size_bytes + 7u) & ~7u;
	uint8_t *own = malloc(head + regs_bytes + stack->size_bytes);

	if (!own)
		return NULL;
	memcpy(own, ev, ev->size_bytes);
	memcpy(own + head, stack->regs, regs_bytes);
	memcpy(own + head + regs_bytes, stack->bytes, stack->size_bytes);
	stack->regs = (const __u64 *)(own + head);
	stack->bytes = own + head + regs_bytes;
	*bytes = head + regs_bytes + stack->size_bytes;
	return (struct event_header *)own;
}

int unwinder_walk(struct unwinder *u, const struct event_header *ev, uint32_t pid,
		  const struct unwinder_stack *stack, unwinder_take *take, void *ctx)
{
	struct held h = { .copy = { .pid = pid, .stack = *stack, .take = take, .ctx = ctx },
			  .run = process_maps_hold(u->maps, pid) };
	struct unwinder_found found;
	int err;

	h.table = walk_stack(u, h.run, stack, &found);
	if (h.table != TABLE_STORE_NONE) {
		h.copy.ev = join(ev, &h.copy.stack, &h.copy.bytes);
		if (h.copy.ev && hold(u, &h))
			return 0;
	}
	err = take(ctx, ev, &found);
	drop(u, &h);
	return err;
}

/* Those whose table has come, or never will; and those that are older than a moment anyway. */
static int walk_held(struct unwinder *u, uint64_t before_ns)
{
	size_t i, left = 0;
	struct held *h;
	int err = 0, one;

	for (i = 0; i < u->held_count; i++) {
		h = &u->held[i];
		one = 1;
		if (h->copy.ev->time_ns < before_ns)
			one = err ? err : walk_copy(u, h, false);
		else if (!table_store_is_pending(u->tables, h->table))
			one = err ? err : walk_copy(u, h, true);
		if (one == 1) {
			u->held[left++] = *h;
			continue;
		}
		u->held_bytes -= h->copy.bytes;
		err = one;
		drop(u, h);
	}
	u->held_count = left;
	return err;
}

static int by_time(const void *a, const void *b)
{
	const struct event_header *x = ((const struct copied *)a)->ev,
				  *y = ((const struct copied *)b)->ev;

	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

/* Walks the copies that are older than a moment. */
static int run_copies(struct unwinder *u, uint64_t before_ns)
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

int unwinder_record(struct unwinder *u, const struct perf_event_header *h, const struct mapping *m,
		    uint64_t time_ns)
{
	const uint8_t *body = (const uint8_t *)(h + 1);
	int err = run_copies(u, time_ns);

	if (err)
		return err;
	switch (h->type) {
	case PERF_RECORD_MMAP2:
		return m ? process_maps_map(u->maps, m, time_ns) : 0;
	case PERF_RECORD_FORK: /* pid, ppid, tid, ptid */
		process_maps_fork(u->maps, le32_load(body + 4), le32_load(body));
		break;
	case PERF_RECORD_EXIT:
		process_maps_exit(u->maps, le32_load(body));
		break;
	case PERF_RECORD_COMM: /* pid, tid */
		if (h->misc & PERF_RECORD_MISC_COMM_EXEC)
			process_maps_exec(u->maps, le32_load(body), time_ns);
		break;
	default:
		break;
	}
	return 0;
}

static void look_for_room(struct unwinder *u, uint64_t now_ns)
{
	uint64_t every_ns = table_store_wants_room(u->tables) ? USED_SOON_NS : USED_NS;

	if (!clock_is_due(&u->used_ns, now_ns, every_ns))
		return;
	process_maps_collect_used(u->maps, now_ns);
	table_store_make_room(u->tables, now_ns);
	process_maps_forget_files(u->maps, now_ns);
}

/* The last copies may still need tables; then there are no more. */
static int last_pass(struct unwinder *u)
{
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + LAST_NS, now_ns = 0;
	int err = run_copies(u, UINT64_MAX);

	while (!err && u->held_count && now_ns < end_ns) {
		table_store_wait(u->tables, LAST_NS / 10);
		table_store_pass(u->tables);
		err = walk_held(u, 0);
		now_ns = clock_ns(CLOCK_MONOTONIC);
	}
	return err ? err : walk_held(u, UINT64_MAX);
}

int unwinder_pass(struct unwinder *u, uint64_t until_ns)
{
	int err;

	if (until_ns == UINT64_MAX)
		return last_pass(u);
	err = run_copies(u, until_ns + 1);
	table_store_pass(u->tables);
	if (!err)
		err = walk_held(u, 0);
	look_for_room(u, clock_ns(CLOCK_MONOTONIC));
	process_maps_publish(u->maps, until_ns);
	return err;
}

int unwinder_settle(struct unwinder *u, uint64_t before_ns)
{
	return walk_held(u, before_ns);
}

uint64_t unwinder_oldest_ns(const struct unwinder *u)
{
	uint64_t oldest_ns = UINT64_MAX;

	for (size_t i = 0; i < u->copy_count; i++)
		oldest_ns = u->copy[i].ev->time_ns < oldest_ns ? u->copy[i].ev->time_ns : oldest_ns;
	for (size_t i = 0; i < u->held_count; i++)
		oldest_ns = u->held[i].copy.ev->time_ns < oldest_ns ? u->held[i].copy.ev->time_ns
								    : oldest_ns;
	return oldest_ns;
}

bool unwinder_is_busy(const struct unwinder *u)
{
	return table_store_is_busy(u->tables);
}

int unwinder_fd(const struct unwinder *u)
{
	return table_store_fd(u->tables);
}

void unwinder_wait(struct unwinder *u, uint64_t max_ns)
{
	table_store_wait(u->tables, max_ns);
}

const char *unwinder_death(const struct unwinder *u, const char **path)
{
	struct table_store_stats tables;

	table_store_get_stats(u->tables, &tables);
	*path = tables.died_path;
	return tables.death;
}

void unwinder_account(const struct unwinder *u, struct account *a)
{
	struct table_store_stats tables;
	struct process_maps_stats maps;

	table_store_get_stats(u->tables, &tables);
	process_maps_get_stats(u->maps, &maps);
	a->table_count = tables.built_count;
	a->table_cached_count = tables.cached_count;
	a->table_cached_ns = tables.cached_ns;
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

struct unwind_bpf_maps *unwinder_space(struct unwinder *u)
{
	return &u->space;
}

struct process_maps *unwinder_maps(struct unwinder *u)
{
	return u->maps;
}

int unwinder_new(struct io_timeout *io, const struct record_opts *opts, const struct vdso *vdso,
		 struct table_cache *cache, struct sink *emit, struct runtimes *runtimes, bool bpf,
		 struct unwinder **out)
{
	struct unwinder *u = calloc(1, sizeof(*u));
	int err;

	if (!u) {
		table_cache_close(cache);
		return -ENOMEM;
	}
	u->opts = opts;
	u->emit = emit;
	err = unwind_bpf_maps_init(&u->space, opts->table_bytes, bpf);
	if (err)
		table_cache_close(cache);
	else
		err = table_store_new(io, &u->space, vdso, cache, opts->self_program,
				      !bpf && !opts->system_wide, &u->tables);
	if (!err)
		err = process_maps_new(&u->space, u->tables, runtimes, &u->maps);
	if (err) {
		unwinder_free(u);
		return err;
	}
	*out = u;
	return 0;
}

void unwinder_free(struct unwinder *u)
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
	process_maps_free(u->maps);
	table_store_free(u->tables);
	unwind_bpf_maps_done(&u->space);
	free(u);
}
