/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/process/thread_list.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/saturate.h"
#include "analyze/input/event_iter.h"
#include "format/base/hash_index.h"
#include "format/base/vec.h"

#define NO_ENTRY UINT32_MAX

struct loader {
	const struct capture *c;
	struct thread_list *l;
	struct string_table *names;
	struct hash_index index; /* tid -> slot */
	uint32_t *last;          /* of each slot: the last entry of its tid */
	size_t slot_count, slot_capacity;
};

/* The slot of that tid, whose entry is NO_ENTRY when it is new. */
static int slot_of(struct loader *to, uint32_t tid, uint32_t **out)
{
	uint32_t pos, slot;
	uint64_t hash;

	if (hash_index_reserve(&to->index))
		return -ENOMEM;
	hash = hash_index_pair(&to->index, tid, 0);
	pos = hash_index_start(&to->index, hash);
	while ((slot = hash_index_match(&to->index, hash, &pos)) != HASH_INDEX_NONE) {
		/* NOLINTNEXTLINE: what the index finds is in the list */
		if (to->l->list[to->last[slot]].tid == tid) {
			*out = &to->last[slot];
			return 0;
		}
	}
	if (vec_reserve(&to->last, &to->slot_capacity, to->slot_count + 1))
		return -ENOMEM;
	hash_index_put(&to->index, hash, pos, (uint32_t)to->slot_count);
	to->last[to->slot_count] = NO_ENTRY;
	*out = &to->last[to->slot_count++];
	return 0;
}

/* Whether a FORK is of another thread than the last one that had the id. */
static bool begins_anew(const struct thread_list_entry *e, const struct perfrec_side *side)
{
	if (side->type != PERF_RECORD_FORK || !side->id.time_ns)
		return false;
	/* Its name may have been told before its beginning. */
	return e->ppid != UINT32_MAX || side->id.time_ns > e->told_ns;
}

/* The entry of the thread that the record is of. */
static int entry_of(struct loader *to, uint32_t tid, const struct perfrec_side *side,
		    struct thread_list_entry **out)
{
	struct thread_list *l = to->l;
	uint32_t *last;
	int err = 0;

	/* First the list: a slot that is new has an entry from then on. */
	if (l->count >= NO_ENTRY)
		return -EOVERFLOW;
	if (vec_reserve(&l->list, &l->capacity, l->count + 1))
		return -ENOMEM;
	err = slot_of(to, tid, &last);
	if (err)
		return err;
	if (*last == NO_ENTRY || begins_anew(&l->list[*last], side)) {
		*last = (uint32_t)l->count++;
		l->list[*last] = (struct thread_list_entry){
			.told_ns = side->id.time_ns,
			.tid = tid,
			.ppid = UINT32_MAX,
			.comm = UINT32_MAX,
		};
	}
	*out = &l->list[*last];
	return 0;
}

static void see_lost(struct loader *to, const struct perfrec_lost *lost)
{
	const struct capture_attr *attr = capture_attr_by_id(to->c, lost->id);
	size_t count;

	if (attr) {
		uint64_t *sum = &to->l->lost[attr - capture_attrs(to->c, &count)];

		*sum = saturate_add(*sum, lost->count);
	}
}

static int see(void *ctx, const struct perfrec_side *side)
{
	struct loader *to = ctx;
	struct thread_list_entry *e;
	int err;

	if (side->type == PERF_RECORD_FORK) {
		err = entry_of(to, side->task.tid, side, &e);
		if (err)
			return err;
		e->pid = side->task.pid;
		e->ppid = side->task.ppid;
		e->time_ns = side->id.time_ns;
	} else if (side->type == PERF_RECORD_COMM) {
		err = entry_of(to, side->comm.tid, side, &e);
		if (err)
			return err;
		e->pid = side->comm.pid;
		return string_table_add(to->names, side->comm.comm, strlen(side->comm.comm),
					&e->comm);
	} else if (side->type == PERF_RECORD_LOST) {
		see_lost(to, &side->lost);
	}
	return 0;
}

static int by_tid(const void *va, const void *vb, void *ctx)
{
	const struct thread_list *l = ctx;
	uint32_t ia = *(const uint32_t *)va, ib = *(const uint32_t *)vb;
	const struct thread_list_entry *a = &l->list[ia], *b = &l->list[ib];

	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return ia < ib ? -1 : ia > ib;
}

static int sort_by_tid(struct thread_list *l)
{
	l->by_tid = calloc(l->count + 1, sizeof(*l->by_tid));
	if (!l->by_tid)
		return -ENOMEM;
	for (size_t i = 0; i < l->count; i++)
		l->by_tid[i] = (uint32_t)i;
	qsort_r(l->by_tid, l->count, sizeof(*l->by_tid), by_tid, l);
	return 0;
}

int thread_list_load(const struct capture *c, struct string_table *names, struct thread_list *out)
{
	struct thread_list fresh = { 0 };
	struct loader to = { .c = c, .l = &fresh, .names = names };
	size_t count;
	int err;

	(void)capture_attrs(c, &count);
	fresh.lost = calloc(count + 1, sizeof(*fresh.lost));
	err = fresh.lost ? event_iter_tasks(c, see, &to) : -ENOMEM;
	if (!err)
		err = sort_by_tid(&fresh);
	hash_index_done(&to.index);
	free(to.last);
	if (err) {
		thread_list_done(&fresh);
		return err;
	}
	*out = fresh;
	return 0;
}

void thread_list_done(struct thread_list *l)
{
	free(l->list);
	free(l->by_tid);
	free(l->lost);
	*l = (struct thread_list){ 0 };
}

/* Whether the thread stands behind the place of one that has that id and began at that time. */
static bool is_behind(const struct thread_list_entry *e, uint32_t tid, uint64_t time_ns)
{
	return e->tid != tid ? e->tid > tid : e->time_ns > time_ns;
}

const struct thread_list_entry *thread_list_at(const struct thread_list *l, uint32_t tid,
					       uint64_t time_ns)
{
	size_t lo = 0, hi = l->count;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (is_behind(&l->list[l->by_tid[mid]], tid, time_ns))
			hi = mid;
		else
			lo = mid + 1;
	}
	if (lo && l->list[l->by_tid[lo - 1]].tid == tid)
		return &l->list[l->by_tid[lo - 1]];
	return lo < l->count && l->list[l->by_tid[lo]].tid == tid ? &l->list[l->by_tid[lo]] : NULL;
}
