/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/process/process_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/input/event_iter.h"
#include "format/base/vec.h"

#define ANCESTORS_MAX 256 /* a circle of forks is a broken file's */

/* The last one of that pid. */
static uint32_t find(const struct process_list *l, uint32_t pid)
{
	uint64_t hash = hash_index_pair(&l->index, pid, 0);
	uint32_t pos = hash_index_start(&l->index, hash), id;

	while ((id = hash_index_match(&l->index, hash, &pos)) != HASH_INDEX_NONE)
		if (l->list[id].pid == pid) /* NOLINT: what the index finds is in the list */
			break;
	return id;
}

/* Makes the entry behind the list the last one of its pid; returns the last one so far. */
static uint32_t put_last(struct process_list *l, uint32_t pid)
{
	uint64_t hash = hash_index_pair(&l->index, pid, 0);
	uint32_t pos = hash_index_start(&l->index, hash), id;

	while ((id = hash_index_match(&l->index, hash, &pos)) != HASH_INDEX_NONE) {
		if (l->list[id].pid == pid) {
			hash_index_replace(&l->index, pos, (uint32_t)l->count);
			return id;
		}
	}
	hash_index_put(&l->index, hash, pos, (uint32_t)l->count);
	return HASH_INDEX_NONE;
}

const struct process_list_entry *process_list_find(const struct process_list *l, uint32_t pid)
{
	uint32_t id = find(l, pid);

	return id == HASH_INDEX_NONE ? NULL : &l->list[id];
}

static int add(struct process_list *l, uint32_t pid, struct process_list_entry **out)
{
	uint32_t earlier;

	if (l->count >= UINT32_MAX - 1)
		return -EOVERFLOW;
	if (vec_reserve(&l->list, &l->capacity, l->count + 1) || hash_index_reserve(&l->index))
		return -ENOMEM;
	earlier = put_last(l, pid);
	l->list[l->count] = (struct process_list_entry){
		.pid = pid,
		.ppid = UINT32_MAX,
		.comm = UINT32_MAX,
		.named_only = true,
		.earlier = earlier,
	};
	*out = &l->list[l->count++];
	return 0;
}

/* How much of [from_ns, to_ns] is in the life. */
static uint64_t overlap_ns(const struct process_list_entry *e, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t start_ns = e->was_there ? 0 : e->start_ns;
	uint64_t end_ns = e->end_ns ? e->end_ns : UINT64_MAX;

	start_ns = start_ns > from_ns ? start_ns : from_ns;
	end_ns = end_ns < to_ns ? end_ns : to_ns;
	return end_ns > start_ns ? end_ns - start_ns : 0;
}

uint32_t process_list_at(const struct process_list *l, uint32_t pid, uint64_t from_ns,
			 uint64_t to_ns)
{
	uint32_t best = find(l, pid), id = best;
	uint64_t most_ns = 0, ns;

	for (; id != HASH_INDEX_NONE; id = l->list[id].earlier) {
		ns = overlap_ns(&l->list[id], from_ns, to_ns);
		if (ns > most_ns) {
			most_ns = ns;
			best = id;
		}
	}
	return best;
}

static int see_fork(struct process_list *l, const struct perfrec_side *side)
{
	uint64_t start_ns = side->task.time_ns ? side->task.time_ns : side->id.time_ns;
	uint32_t earlier = find(l, side->task.pid);
	struct process_list_entry *e;
	int err;

	if (side->task.pid != side->task.tid)
		return 0;
	e = earlier == HASH_INDEX_NONE ? NULL : &l->list[earlier];
	/* Of who was there before, the name may be told first. */
	if (!e || e->start_ns || e->was_there || e->end_ns || side->id.time_ns) {
		if (e && !e->end_ns)
			e->end_ns = start_ns;
		err = add(l, side->task.pid, &e);
		if (err)
			return err;
	}
	e->ppid = side->task.ppid;
	e->named_only = false;
	e->was_there = !side->id.time_ns;
	e->start_ns = start_ns;
	return 0;
}

static int see_comm(struct process_list *l, struct string_table *names,
		    const struct perfrec_side *side)
{
	const struct perfrec_comm *comm = &side->comm;
	uint32_t id = find(l, comm->pid);
	struct process_list_entry *e = id == HASH_INDEX_NONE ? NULL : &l->list[id];
	int err = 0;

	if (comm->pid != comm->tid)
		return 0;
	if (!e)
		err = add(l, comm->pid, &e);
	if (!err && comm->exec)
		e->named_only = false;
	return err ? err : string_table_add(names, comm->comm, strlen(comm->comm), &e->comm);
}

/* A process lives until its last thread ends; that of its leader says that it does end. */
static void see_exit(struct process_list *l, const struct perfrec_side *side)
{
	uint32_t id = find(l, side->task.pid);

	if (id == HASH_INDEX_NONE)
		return;
	if (side->task.tid == side->task.pid ||
	    (l->list[id].end_ns && l->list[id].end_ns < side->id.time_ns))
		l->list[id].end_ns = side->id.time_ns;
}

struct loader {
	struct process_list *l;
	struct string_table *names;
};

static int see(void *ctx, const struct perfrec_side *side)
{
	struct loader *to = ctx;

	switch (side->type) {
	case PERF_RECORD_FORK:
		return see_fork(to->l, side);
	case PERF_RECORD_COMM:
		return see_comm(to->l, to->names, side);
	case PERF_RECORD_EXIT:
		see_exit(to->l, side);
		return 0;
	default:
		return 0;
	}
}

int process_list_load(const struct capture *c, struct string_table *names, struct process_list *out)
{
	struct process_list fresh = { 0 };
	struct loader to = { &fresh, names };
	int err = event_iter_tasks(c, see, &to);

	if (!err)
		err = cmdlines_load(c, &fresh.args);
	if (err) {
		process_list_done(&fresh);
		return err;
	}
	*out = fresh;
	return 0;
}

void process_list_done(struct process_list *l)
{
	free(l->list);
	hash_index_done(&l->index);
	cmdlines_done(&l->args);
	*l = (struct process_list){ 0 };
}

const struct cmdline_record *process_list_args(const struct process_list *l, uint32_t pid,
					       uint64_t time_ns)
{
	const struct cmdline_record *args = NULL;
	uint32_t id;

	for (unsigned i = 0; i < ANCESTORS_MAX; i++) {
		args = cmdlines_find(&l->args, pid, time_ns);
		for (id = find(l, pid); id != HASH_INDEX_NONE && !l->list[id].was_there &&
					l->list[id].start_ns > time_ns;)
			id = l->list[id].earlier;
		if (id == HASH_INDEX_NONE || l->list[id].was_there ||
		    (args && args->time_ns >= l->list[id].start_ns))
			return args;
		pid = l->list[id].ppid;
		time_ns = l->list[id].start_ns;
	}
	return NULL;
}
