/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/walker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/cursor.h"
#include "format/stackwalk.h"
#include "record/clock.h"

struct walker {
	const struct record_opts *opts; /* borrowed, as is emit */
	struct emit *emit;
	struct walkspace space;
	struct unwtables *tables;
	struct unwmaps *maps;
	struct copy_event **copy; /* waiting, by time once sorted */
	size_t copy_count, copy_room;
	bool copies_sorted;
	uint64_t frames[CPU_USER_MAX];
};

/* ---- copies ---- */

int walker_copy(struct walker *u, const struct copy_event *ev)
{
	struct copy_event **p = u->copy, *own;
	size_t room = u->copy_room ? 2 * u->copy_room : 64;

	if (ev->h.size_bytes < COPY_EVENT_HEAD_BYTES ||
	    ev->stack_bytes > (uint32_t)ev->h.size_bytes - COPY_EVENT_HEAD_BYTES ||
	    ev->kernel_count > CPU_KERNEL_MAX)
		return -EBADMSG;
	if (u->copy_count == u->copy_room) {
		p = realloc(p, room * sizeof(*p));
		if (!p)
			return -ENOMEM;
		u->copy = p;
		u->copy_room = room;
	}
	own = malloc(ev->h.size_bytes);
	if (!own)
		return -ENOMEM;
	memcpy(own, ev, ev->h.size_bytes);
	p[u->copy_count++] = own;
	u->copies_sorted = false;
	return 0;
}

struct lookup {
	struct walker *u;
	uint32_t pid;
};

static void look_up(void *ctx, uint64_t pc, struct stackwalk_code *out)
{
	struct lookup *l = ctx;
	struct walk_map map;

	if (!unwmaps_find(l->u->maps, l->pid, pc, &map))
		return;
	out->executable = true;
	out->pending = map.kind == WALK_PENDING;
	out->rule = unwtables_rule(l->u->tables, &map, pc);
}

int walker_emit(struct walker *u, struct samplerec *rec, const struct walker_stack *stack)
{
	struct lookup lookup = { .u = u, .pid = rec->pid };
	struct stackwalk walk = { .arch = UNWIND_X86_64,
				  .lookup = look_up,
				  .ctx = &lookup,
				  .frame_max = u->opts->max_frames };
	struct unwind_regs regs;
	struct unwind_copy copy;
	struct stackinfo info;

	unwind_copy_init(&copy, stack->bytes, stack->size_bytes, stack->addr, stack->regs,
			 COPY_REGS);
	unwind_regs_leaf(&regs, stack->regs[UNWIND_X86_RA], stack->regs[UNWIND_X86_SP],
			 stack->regs[UNWIND_X86_FP], 0);
	rec->user = (const __u64 *)u->frames;
	rec->user_count = stackwalk_run(&walk, &regs, &copy.mem, u->frames, &info);
	info.flags |= STACKINFO_COPY;
	rec->stack = info;
	emit_count_stack(u->emit, &info);
	return emit_sample(u->emit, ATTR_SAMPLE, rec);
}

static int walk_copy(struct walker *u, const struct copy_event *ev)
{
	struct walker_stack stack = {
		.bytes = ev->stack,
		.size_bytes = ev->stack_bytes,
		.addr = ev->stack_addr,
		.regs = ev->regs,
	};
	struct samplerec rec = {
		.pid = ev->pid,
		.tid = ev->tid,
		.cpu = ev->h.cpu,
		.time_ns = ev->h.time_ns,
		.period = ev->period,
		.kernel = ev->kernel,
		.kernel_count = ev->kernel_count,
		.cgroup_id = ev->cgroup_id,
	};

	return walker_emit(u, &rec, &stack);
}

static int by_time(const void *a, const void *b)
{
	const struct copy_event *x = *(const struct copy_event *const *)a,
				*y = *(const struct copy_event *const *)b;

	return x->h.time_ns < y->h.time_ns ? -1 : x->h.time_ns > y->h.time_ns;
}

/* Walks the copies that are older than a moment. */
static int run_copies(struct walker *u, uint64_t before_ns)
{
	size_t i;
	int err = 0;

	if (!u->copy_count)
		return 0;
	if (!u->copies_sorted)
		qsort(u->copy, u->copy_count, sizeof(struct copy_event *), by_time);
	u->copies_sorted = true;
	for (i = 0; i < u->copy_count && u->copy[i]->h.time_ns < before_ns && !err; i++) {
		err = walk_copy(u, u->copy[i]);
		free(u->copy[i]);
	}
	u->copy_count -= i;
	memmove(u->copy, u->copy + i, u->copy_count * sizeof(struct copy_event *));
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

int walker_pass(struct walker *u, uint64_t until_ns, uint64_t budget_ns)
{
	uint64_t start_ns = clock_ns(CLOCK_MONOTONIC);
	uint32_t next;
	int err = run_copies(u, until_ns == UINT64_MAX ? UINT64_MAX : until_ns + 1);

	if (err || until_ns == UINT64_MAX)
		return err;
	unwmaps_publish(u->maps, until_ns);
	while (clock_ns(CLOCK_MONOTONIC) - start_ns < budget_ns) {
		next = unwtables_next_pending(u->tables);
		if (next == UNWTABLES_NONE)
			break;
		(void)unwtables_build(u->tables, next);
	}
	unwmaps_publish(u->maps, until_ns);
	return 0;
}

bool walker_is_busy(const struct walker *u)
{
	return unwtables_next_pending(u->tables) != UNWTABLES_NONE;
}

void walker_account(const struct walker *u, struct account *a)
{
	struct unwtables_stats tables;
	struct unwmaps_stats maps;

	unwtables_get_stats(u->tables, &tables);
	unwmaps_get_stats(u->maps, &maps);
	a->table_count = tables.built_count;
	a->table_failed_count = tables.failed_count;
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

int walker_new(const struct record_opts *opts, const struct vdso *vdso, struct emit *emit, bool bpf,
	       struct walker **out)
{
	struct walker *u = calloc(1, sizeof(*u));
	int err;

	if (!u)
		return -ENOMEM;
	u->opts = opts;
	u->emit = emit;
	err = walkspace_init(&u->space, opts->table_bytes, bpf);
	if (!err)
		err = unwtables_new(&u->space, vdso, &u->tables);
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
		free(u->copy[i]);
	free(u->copy);
	unwmaps_free(u->maps);
	unwtables_free(u->tables);
	walkspace_done(&u->space);
	free(u);
}
