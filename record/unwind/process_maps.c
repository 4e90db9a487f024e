/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/unwind/process_maps.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/vec.h"
#include "format/os/clock.h"
#include "format/base/lower_bound.h"
#include "record/base/u64map.h"
#include "record/runtime/runtimes.h"

#define SETTLE_MAX_NS 10000000000ULL /* an exec that takes longer is not waited for */

/* One executable mapping. */
struct map {
	uint64_t start, end, file_off_bytes;
	uint32_t table;   /* number, or TABLE_STORE_NONE */
	uint32_t version; /* of the table, when it was published */
};

/* The mappings of one process, or of several since a fork. */
struct process_maps_run {
	struct map *map; /* by address; no two overlap */
	uint32_t count;
	size_t room;
	uint32_t refs;
	uint32_t first, published; /* in the BPF map, and how many there; 0: not at all */
	bool changed;              /* since then */
	uint32_t slot;             /* in unwmaps.run */
	uint32_t runtime;          /* the number of an interpreter that is mapped; 0: none */
	uint64_t runtime_base;
};

struct proc {
	uint32_t pid; /* 0: free */
	uint32_t threads;
	uint32_t scan; /* of the last process_maps_anew() */
	struct process_maps_run *run;
	bool dirty;       /* BPF does not know it as it is */
	bool has_code;    /* the capture maps interpreted code into it */
	uint64_t exec_ns; /* BPF may not have seen this exec yet; 0: none */
};

struct process_maps {
	struct unwind_bpf_maps *space; /* borrowed */
	struct table_store *tables;    /* borrowed */
	struct runtimes *runtimes;     /* borrowed; NULL: interpreters are not looked for */
	struct proc *proc;
	size_t proc_count, proc_room;
	uint32_t *free_proc; /* places in proc[] */
	size_t free_count;
	struct u64map by_pid;
	struct process_maps_run **run;
	size_t run_count, run_room;
	uint32_t *dirty; /* places in proc[], some no longer dirty, none twice */
	size_t dirty_count, dirty_room;
	uint32_t scan;
	uint64_t versions; /* of all tables, when the runs were last looked at */
	struct process_maps_stats stats;
};

/* ---- runs ---- */

static struct process_maps_run *run_new(struct process_maps *u)
{
	struct process_maps_run *r;

	if (vec_reserve(&u->run, &u->run_room, u->run_count + 1))
		return NULL;
	r = calloc(1, sizeof(*r));
	if (!r)
		return NULL;
	r->refs = 1;
	r->changed = true;
	r->slot = (uint32_t)u->run_count;
	u->run[u->run_count++] = r;
	return r;
}

static void run_put(struct process_maps *u, struct process_maps_run *r)
{
	if (!r || --r->refs)
		return;
	unwind_bpf_maps_retire_maps(u->space, r->first, r->published, clock_ns(CLOCK_MONOTONIC));
	u->run[r->slot] = u->run[--u->run_count];
	u->run[r->slot]->slot = r->slot;
	free(r->map);
	free(r);
}

/* The run of p, for p alone and to be changed. */
static struct process_maps_run *run_own(struct process_maps *u, struct proc *p)
{
	struct process_maps_run *r = p->run, *own;

	if (r && r->refs == 1)
		return r;
	own = run_new(u);
	if (!own)
		return NULL;
	if (r && r->count) {
		own->map = malloc(r->count * sizeof(*own->map));
		if (!own->map) {
			run_put(u, own);
			return NULL;
		}
		memcpy(own->map, r->map, r->count * sizeof(*own->map));
		own->count = own->room = r->count;
	}
	if (r) {
		own->runtime = r->runtime;
		own->runtime_base = r->runtime_base;
	}
	run_put(u, r);
	p->run = own;
	return own;
}

/* The first mapping that ends behind addr. */
static uint32_t run_place(const struct process_maps_run *r, uint64_t addr)
{
	return (uint32_t)lower_bound(i, 0, r->count, r->map[i].end <= addr);
}

static bool same_place(const struct map *a, const struct map *b)
{
	return a->start == b->start && a->end == b->end && a->table == b->table &&
	       a->file_off_bytes == b->file_off_bytes;
}

/* Lays a mapping over the others: they lose what it covers.  Room for two more is there. */
static void run_insert(struct process_maps_run *r, const struct map *m)
{
	uint32_t i = run_place(r, m->start), end = i;
	struct map left = { 0 }, right = { 0 };
	uint32_t pieces = 1;

	while (end < r->count && r->map[end].start < m->end)
		end++;
	if (i < end && r->map[i].start < m->start) {
		left = r->map[i];
		left.end = m->start;
		pieces++;
	}
	if (i < end && r->map[end - 1].end > m->end) {
		right = r->map[end - 1];
		right.file_off_bytes += m->end - right.start;
		right.start = m->end;
		pieces++;
	}
	memmove(r->map + i + pieces, r->map + end, (r->count - end) * sizeof(*r->map));
	r->count = r->count - (end - i) + pieces;
	if (left.end)
		r->map[i++] = left;
	r->map[i++] = *m;
	if (right.end)
		r->map[i] = right;
}

static int run_add(struct process_maps_run *r, const struct map *m)
{
	if (vec_reserve(&r->map, &r->room, r->count + 2))
		return -ENOMEM;
	run_insert(r, m);
	r->changed = true;
	return 0;
}

/* ---- processes ---- */

static struct proc *proc_of(const struct process_maps *u, uint32_t pid)
{
	const uint32_t *at = u64map_get(&u->by_pid, pid, 0);

	return at ? &u->proc[*at] : NULL;
}

static void mark(struct process_maps *u, struct proc *p)
{
	if (u->space->own || p->dirty || vec_reserve(&u->dirty, &u->dirty_room, u->dirty_count + 1))
		return;
	p->dirty = true;
	u->dirty[u->dirty_count++] = (uint32_t)(p - u->proc);
}

static struct proc *proc_make(struct process_maps *u, uint32_t pid)
{
	struct proc *p = proc_of(u, pid);
	size_t room = u->proc_room;
	uint32_t at;

	if (p)
		return p;
	if (u->free_count) {
		at = u->free_proc[--u->free_count];
	} else {
		if (vec_reserve(&u->proc, &u->proc_room, u->proc_count + 1))
			return NULL;
		if (room != u->proc_room || !u->free_proc) {
			uint32_t *f = realloc(u->free_proc, u->proc_room * sizeof(*f));

			if (!f)
				return NULL;
			u->free_proc = f;
		}
		at = (uint32_t)u->proc_count++;
		u->proc[at] = (struct proc){ 0 };
	}
	if (u64map_put(&u->by_pid, pid, 0, at)) {
		u->free_proc[u->free_count++] = at;
		return NULL;
	}
	p = &u->proc[at];
	p->pid = pid;
	p->threads = 1;
	u->stats.process_count++;
	return p;
}

/*
 * An interpreter may be known later than the mapping of its file; where BPF knew it, there are samples with its frames
 * from that mapping on.
 */
static void see_runtime(struct process_maps *u, struct proc *p, const struct mapping *m,
			uint64_t time_ns)
{
	uint64_t base = 0;
	uint32_t number = u->runtimes ? runtimes_in_map(u->runtimes, m, &base) : 0;

	if (number && !p->has_code) {
		runtimes_map_code(u->runtimes, number, p->pid, time_ns);
		p->has_code = true;
	}
	if (!number || (p->run->runtime == number && p->run->runtime_base == base))
		return;
	p->run->runtime = number;
	p->run->runtime_base = base;
	mark(u, p);
}

int process_maps_map(struct process_maps *u, const struct mapping *m, uint64_t time_ns)
{
	struct map map = { .start = m->start,
			   .end = m->start + m->size_bytes,
			   .file_off_bytes = m->file_off_bytes };
	struct proc *p = proc_make(u, m->pid);
	struct process_maps_run *r;
	uint32_t at;
	int err;

	if (!p)
		return -ENOMEM;
	if (map.start >= map.end || (int64_t)map.end < 0)
		return 0; /* nothing, or the kernel's page of old system calls */
	map.table = table_store_of(u->tables, m);
	if (p->run) {
		at = run_place(p->run, map.start);
		if (at < p->run->count && same_place(&p->run->map[at], &map))
			return 0; /* mprotect reports a known mapping again */
	}
	r = run_own(u, p);
	err = r ? run_add(r, &map) : -ENOMEM;
	if (!err)
		mark(u, p);
	if (!err)
		see_runtime(u, p, m, time_ns);
	return err;
}

int process_maps_renew(struct process_maps *u, const struct mapping *m, uint64_t time_ns)
{
	const struct proc *p = proc_of(u, m->pid);
	const struct map *was;
	uint32_t at;

	if (!p || !p->run)
		return 0;
	at = run_place(p->run, m->start);
	was = &p->run->map[at];
	if (at == p->run->count || was->start != m->start || was->end != m->start + m->size_bytes ||
	    was->file_off_bytes != m->file_off_bytes || was->table != TABLE_STORE_NONE)
		return 0;
	return process_maps_map(u, m, time_ns);
}

void process_maps_fork(struct process_maps *u, uint32_t parent, uint32_t child)
{
	struct proc *from, *p = proc_make(u, child);

	if (!p)
		return;
	if (parent == child) {
		p->threads++;
		return;
	}
	p->threads = 1; /* the process that had this id before is gone */
	from = proc_of(u, parent);
	if (!from || !from->run)
		return;
	from->run->refs++;
	run_put(u, p->run);
	p->run = from->run;
	p->has_code = from->has_code;
	p->exec_ns = 0;
	mark(u, p);
}

void process_maps_exec(struct process_maps *u, uint32_t pid, uint64_t time_ns)
{
	struct proc *p = proc_make(u, pid);

	if (!p)
		return;
	run_put(u, p->run);
	p->run = NULL;
	p->has_code = false;
	p->threads = 1;
	p->exec_ns = time_ns;
	mark(u, p);
}

void process_maps_exit(struct process_maps *u, uint32_t pid)
{
	struct proc *p = proc_of(u, pid);

	if (!p || --p->threads)
		return;
	/*
	 * A slot in dirty[] stays: the process that gets this slot next is published, which is no
	 * harm.
	 */
	if (u->space->procs_fd >= 0)
		(void)bpf_map_delete_elem(u->space->procs_fd, &pid);
	run_put(u, p->run);
	u64map_remove(&u->by_pid, pid, 0);
	u->free_proc[u->free_count++] = (uint32_t)(p - u->proc);
	*p = (struct proc){ .dirty = p->dirty };
	u->stats.process_count--;
}

void process_maps_anew(struct process_maps *u, uint32_t pid)
{
	struct proc *p = proc_make(u, pid);

	if (!p)
		return;
	run_put(u, p->run);
	p->run = NULL;
	p->has_code = false;
	p->scan = u->scan;
	mark(u, p);
}

void process_maps_keep(struct process_maps *u, uint32_t pid)
{
	struct proc *p = proc_of(u, pid);

	if (p)
		p->scan = u->scan;
}

void process_maps_sweep(struct process_maps *u)
{
	size_t i;

	for (i = 0; i < u->proc_count; i++) {
		if (u->proc[i].pid && u->proc[i].scan != u->scan) {
			u->proc[i].threads = 1;
			process_maps_exit(u, u->proc[i].pid);
		}
	}
	u->scan++;
}

/* ---- to BPF ---- */

static void fill(struct process_maps *u, struct map *m, struct walk_map *out)
{
	*out = (struct walk_map){ .start = m->start, .end = m->end };
	m->version = table_store_version(u->tables, m->table);
	table_store_place(u->tables, m->table, m->start, m->file_off_bytes, out);
}

static int publish_run(struct process_maps *u, struct process_maps_run *r)
{
	uint32_t first = 0, count = r->count, i;
	int err;

	if (count > WALK_MAPS_A_PROCESS)
		return -EOVERFLOW;
	err = count ? unwind_bpf_maps_take_maps(u->space, count, &first) : 0;
	if (err)
		return err;
	for (i = 0; i < count; i++)
		fill(u, &r->map[i], &u->space->maps[first + i]);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	unwind_bpf_maps_retire_maps(u->space, r->first, r->published, clock_ns(CLOCK_MONOTONIC));
	r->first = first;
	r->published = count;
	r->changed = false;
	return 0;
}

/* Updates tables that came or went in place, in an order that never lets a walk read nonsense. */
static void renew(struct process_maps *u, struct map *m, struct walk_map *to)
{
	struct walk_map new;

	fill(u, m, &new);
	__atomic_store_n(&to->kind, WALK_PENDING, __ATOMIC_RELEASE);
	to->base = new.base;
	to->first_page = new.first_page;
	to->page_count = new.page_count;
	__atomic_store_n(&to->kind, new.kind, __ATOMIC_RELEASE);
}

static void renew_all(struct process_maps *u)
{
	uint64_t versions = table_store_versions(u->tables);
	struct process_maps_run *r;
	uint32_t k;
	size_t i;

	if (versions == u->versions)
		return;
	u->versions = versions;
	for (i = 0; i < u->run_count; i++) {
		r = u->run[i];
		for (k = 0; !r->changed && k < r->published; k++) {
			if (r->map[k].version != table_store_version(u->tables, r->map[k].table))
				renew(u, &r->map[k], &u->space->maps[r->first + k]);
		}
	}
}

/* True: BPF has seen the exec that these mappings come from, and will not take them as older. */
static bool settled(struct process_maps *u, struct proc *p, uint64_t as_of_ns)
{
	uint64_t exec_ns;

	if (!p->exec_ns || as_of_ns - p->exec_ns > SETTLE_MAX_NS)
		return true;
	if (bpf_map_lookup_elem(u->space->execs_fd, &p->pid, &exec_ns))
		return false;
	return exec_ns >= p->exec_ns && exec_ns < as_of_ns;
}

/* True when there is nothing left to publish. */
static bool publish(struct process_maps *u, struct proc *p, uint64_t as_of_ns)
{
	struct walk_proc entry = { .as_of_ns = as_of_ns };

	if (p->run && p->run->changed && publish_run(u, p->run)) {
		u->stats.refused_count++;
		(void)bpf_map_delete_elem(u->space->procs_fd, &p->pid);
		return false;
	}
	if (p->run) {
		entry.first_map = p->run->first;
		entry.map_count = p->run->published;
		entry.runtime = p->run->runtime;
		entry.runtime_base = p->run->runtime_base;
	}
	if (bpf_map_update_elem(u->space->procs_fd, &p->pid, &entry, BPF_ANY)) {
		u->stats.refused_count++;
		return false;
	}
	if (!settled(u, p, as_of_ns))
		return false;
	p->exec_ns = 0;
	return true;
}

void process_maps_publish(struct process_maps *u, uint64_t as_of_ns)
{
	size_t i, left = 0;
	struct proc *p;

	unwind_bpf_maps_reclaim(u->space, clock_ns(CLOCK_MONOTONIC));
	if (u->space->own)
		return; /* no BPF program walks */
	renew_all(u);
	for (i = 0; i < u->dirty_count; i++) {
		p = &u->proc[u->dirty[i]];
		if (p->pid && !publish(u, p, as_of_ns))
			u->dirty[left++] = u->dirty[i];
		else
			p->dirty = false;
	}
	u->dirty_count = left;
}

void process_maps_collect_used(struct process_maps *u, uint64_t now_ns)
{
	struct process_maps_run *r;
	struct walk_map *m;
	uint32_t k;
	size_t i;

	for (i = 0; i < u->run_count; i++) {
		r = u->run[i];
		for (k = 0; !r->changed && k < r->published; k++) {
			m = &u->space->maps[r->first + k];
			if (!__atomic_load_n(&m->used, __ATOMIC_RELAXED))
				continue;
			__atomic_store_n(&m->used, 0, __ATOMIC_RELAXED);
			table_store_touch(u->tables, r->map[k].table, now_ns);
		}
	}
}

void process_maps_forget_files(struct process_maps *u, uint64_t now_ns)
{
	const struct process_maps_run *r;
	uint32_t k;
	size_t i;

	if (!table_store_are_many(u->tables))
		return;
	for (i = 0; i < u->run_count; i++) {
		r = u->run[i];
		for (k = 0; k < r->count; k++)
			table_store_see(u->tables, r->map[k].table, now_ns);
	}
	table_store_forget(u->tables, now_ns);
}

struct process_maps_run *process_maps_hold(struct process_maps *u, uint32_t pid)
{
	struct proc *p = proc_of(u, pid);

	if (!p || !p->run)
		return NULL;
	p->run->refs++;
	return p->run;
}

void process_maps_release(struct process_maps *u, struct process_maps_run *run)
{
	run_put(u, run);
}

bool process_maps_find(struct process_maps *u, const struct process_maps_run *run, uint64_t pc,
		       struct walk_map *out, uint32_t *table)
{
	const struct map *m;
	uint32_t at;

	if (!run)
		return false;
	at = run_place(run, pc);
	if (at == run->count || run->map[at].start > pc)
		return false;
	m = &run->map[at];
	*out = (struct walk_map){ .start = m->start, .end = m->end };
	table_store_place(u->tables, m->table, m->start, m->file_off_bytes, out);
	*table = m->table;
	return true;
}

uint32_t process_maps_runtime(const struct process_maps_run *run, uint64_t *base)
{
	*base = run ? run->runtime_base : 0;
	return run ? run->runtime : 0;
}

void process_maps_get_stats(const struct process_maps *u, struct process_maps_stats *out)
{
	*out = u->stats;
}

int process_maps_new(struct unwind_bpf_maps *space, struct table_store *tables,
		     struct runtimes *runtimes, struct process_maps **out)
{
	struct process_maps *u = calloc(1, sizeof(*u));

	if (!u)
		return -ENOMEM;
	u->space = space;
	u->tables = tables;
	u->runtimes = runtimes;
	*out = u;
	return 0;
}

void process_maps_free(struct process_maps *u)
{
	size_t i;

	if (!u)
		return;
	for (i = 0; i < u->run_count; i++) {
		free(u->run[i]->map);
		free(u->run[i]);
	}
	free(u->run);
	free(u->proc);
	free(u->free_proc);
	free(u->dirty);
	u64map_done(&u->by_pid);
	free(u);
}
