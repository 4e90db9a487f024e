/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/process/thread_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/saturate.h"
#include "analyze/input/event_iter.h"
#include "format/base/vec.h"

static uint32_t find(const struct threadlist *l, uint32_t tid)
{
	uint64_t hash = hash_pair(tid, 0);
	uint32_t pos = hashidx_start(&l->index, hash), id;

	while ((id = hashidx_match(&l->index, hash, &pos)) != HASHIDX_NONE)
		if (l->list[id].tid == tid) /* NOLINT: what the index finds is in the list */
			return id;
	return HASHIDX_NONE;
}

const struct threadlist_entry *threadlist_find(const struct threadlist *l, uint32_t tid)
{
	uint32_t id = find(l, tid);

	return id == HASHIDX_NONE ? NULL : &l->list[id];
}

/* The entry of that thread, made when there is none. */
static int entry_of(struct threadlist *l, uint32_t tid, struct threadlist_entry **out)
{
	uint64_t hash = hash_pair(tid, 0);
	uint32_t id = find(l, tid), pos;

	if (id == HASHIDX_NONE) {
		if (l->count >= UINT32_MAX - 1)
			return -EOVERFLOW;
		if (vec_reserve(&l->list, &l->capacity, l->count + 1) || hashidx_reserve(&l->index))
			return -ENOMEM;
		id = (uint32_t)l->count++;
		l->list[id] = (struct threadlist_entry){
			.tid = tid,
			.ppid = UINT32_MAX,
			.comm = UINT32_MAX,
		};
		pos = hashidx_start(&l->index, hash);
		while (hashidx_match(&l->index, hash, &pos) != HASHIDX_NONE)
			;
		hashidx_put(&l->index, hash, pos, id);
	}
	*out = &l->list[id];
	return 0;
}

struct loader {
	const struct capture *c;
	struct threadlist *l;
	struct strings *names;
};

static void see_lost(struct loader *to, const struct perfrec_lost *lost)
{
	const struct capture_attr *attr = capture_attr_by_id(to->c, lost->id);
	size_t count;

	if (attr) {
		uint64_t *sum = &to->l->lost[attr - capture_attrs(to->c, &count)];

		*sum = bounded_add(*sum, lost->count);
	}
}

static int see(void *ctx, const struct perfrec_side *side)
{
	struct loader *to = ctx;
	struct threadlist_entry *e;
	int err;

	if (side->type == PERF_RECORD_FORK) {
		err = entry_of(to->l, side->task.tid, &e);
		if (err)
			return err;
		e->pid = side->task.pid;
		e->ppid = side->task.ppid;
		e->time_ns = side->id.time_ns;
	} else if (side->type == PERF_RECORD_COMM) {
		err = entry_of(to->l, side->comm.tid, &e);
		if (err)
			return err;
		e->pid = side->comm.pid;
		return strings_add(to->names, side->comm.comm, strlen(side->comm.comm), &e->comm);
	} else if (side->type == PERF_RECORD_LOST) {
		see_lost(to, &side->lost);
	}
	return 0;
}

int threadlist_load(const struct capture *c, struct strings *names, struct threadlist *out)
{
	struct threadlist fresh = { 0 };
	struct loader to = { c, &fresh, names };
	size_t count;
	int err;

	(void)capture_attrs(c, &count);
	fresh.lost = calloc(count + 1, sizeof(*fresh.lost));
	err = fresh.lost ? eventwalk_tasks(c, see, &to) : -ENOMEM;
	if (err) {
		threadlist_done(&fresh);
		return err;
	}
	*out = fresh;
	return 0;
}

void threadlist_done(struct threadlist *l)
{
	free(l->list);
	free(l->lost);
	hashidx_done(&l->index);
	*l = (struct threadlist){ 0 };
}
