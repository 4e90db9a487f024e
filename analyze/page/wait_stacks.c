/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/page/wait_stacks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/radix_sort.h"
#include "analyze/report/wait_table.h"
#include "format/base/vec.h"

/* By number of a wait's stack: the nodes of its ends, and when it was taken. */
struct taken {
	struct page_wait_stack nodes;
	uint32_t order;
	bool taken;
};

static int name_waker(struct page_waits *w, const struct offcpu_end *end, struct page_texts *texts,
		      uint32_t *out)
{
	const struct offcpu_end *waker = &w->report.waits.ends[end->waker];

	return page_texts_add_name(texts,
				   waker->kind ? "[interrupt]"
				   : waker->comm == PROCESS_MODEL_NONE
					   ? "[unknown thread]"
					   : string_table_text(w->report.names, waker->comm),
				   out);
}

/* The frame on the way to node that is this function, and 1; 0: none is. */
static int find_frame(const struct page_waits *w, const struct page_stacks *stacks, uint32_t node,
		      const struct function *f, struct page_texts *texts, uint32_t *out)
{
	uint32_t name, path;
	int err = page_texts_add_name(texts, string_table_text(w->report.names, f->name), &name);

	if (!err)
		err = page_texts_add(texts, string_table_text(w->report.names, f->dso), &path);
	for (*out = 0; !err && node && !*out; node = stacks->nodes[node].parent) {
		const struct page_frame *frame = &stacks->frames[stacks->nodes[node].frame];

		if (frame->name == name && stacks->objects[frame->object].path == path)
			*out = stacks->nodes[node].frame + 1;
	}
	return err;
}

static int take_where(struct page_waits *w, const struct page_stacks *stacks, size_t entry,
		      struct page_texts *texts, uint32_t *out)
{
	const struct report *r = &w->report;
	const struct function *f = wait_table_where(&r->stacks, &r->naming, r->names,
						    &r->stacks.entries[entry].key);

	return f ? find_frame(w, stacks, stacks->node_of[w->number][entry], f, texts, out) : 0;
}

static int take_entry(struct page_waits *w, const struct page_stacks *stacks, size_t entry,
		      struct page_texts *texts, struct taken *list)
{
	const struct stack_table_entry *e = &w->report.stacks.entries[entry];
	const struct offcpu *o = &w->report.waits;
	bool woken = e->key.end >= o->end_count, queue;
	uint32_t number = woken ? e->key.end - (uint32_t)o->end_count : e->key.end;
	const struct offcpu_end *end = &o->ends[number];
	struct page_wait_stack *n;
	struct taken *t;

	if (!end->stack)
		return 0;
	t = &list[end->stack - 1];
	n = &t->nodes;
	queue = end->kind == WAIT_RUN_QUEUE;
	*(woken   ? queue ? &n->queue_woken : &n->woken
	  : queue ? &n->queue
		  : &n->node) = stacks->node_of[w->number][entry];
	n->end = end->walk_end;
	if (!t->taken || number < t->order)
		t->order = number;
	t->taken = true;
	if (woken)
		return n->waker ? 0 : name_waker(w, end, texts, &n->waker);
	return n->where ? 0 : take_where(w, stacks, entry, texts, &n->where);
}

/* The number of these nodes, and 1; each is counted. */
static int find_stack(struct page_waits *w, struct hash_index *index, uint64_t **counts,
		      size_t *capacity, const struct page_wait_stack *nodes, uint32_t *out)
{
	uint32_t pos, id;
	uint64_t hash;

	if (hash_index_reserve(index))
		return -ENOMEM;
	hash = hash_index_bytes(index, nodes, sizeof(*nodes));
	pos = hash_index_start(index, hash);
	while ((id = hash_index_match(index, hash, &pos)) != HASH_INDEX_NONE)
		if (!memcmp(&w->stacks[id], nodes, sizeof(*nodes)))
			break;
	if (id == HASH_INDEX_NONE) {
		if (vec_reserve(&w->stacks, &w->stack_capacity, w->stack_count + 1) ||
		    vec_reserve(counts, capacity, w->stack_count + 1))
			return -ENOMEM;
		id = (uint32_t)w->stack_count++;
		w->stacks[id] = *nodes;
		(*counts)[id] = 0;
		hash_index_put(index, hash, pos, id);
	}
	(*counts)[id]++;
	*out = id + 1;
	return 0;
}

/* The most frequent first. */
static int rank_stacks(struct page_waits *w, const uint64_t *counts)
{
	struct radix_item *order = calloc(w->stack_count + 1, sizeof(*order));
	struct page_wait_stack *stacks = calloc(w->stack_count + 1, sizeof(*stacks));
	uint32_t *numbers = calloc(w->stack_count + 1, sizeof(*numbers));
	int err = order && stacks && numbers ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < w->stack_count; i++)
		order[i] = (struct radix_item){ UINT64_MAX - counts[i], (uint32_t)i };
	if (!err)
		err = radix_sort(&order, w->stack_count);
	for (size_t i = 0; !err && i < w->stack_count; i++) {
		stacks[i] = w->stacks[order[i].value];
		numbers[order[i].value] = (uint32_t)i;
	}
	for (size_t i = 0; !err && i < w->wait_count; i++)
		if (w->waits[i].combination)
			w->waits[i].combination = numbers[w->waits[i].combination - 1] + 1;
	free(order);
	free(numbers);
	if (err) {
		free(stacks);
		return err;
	}
	free(w->stacks);
	w->stacks = stacks;
	return 0;
}

static int combine_stacks(struct page_waits *w, const struct taken *list, size_t count)
{
	struct hash_index index = { .slots = NULL };
	uint64_t *counts = NULL;
	size_t capacity = 0;
	int err = 0;

	for (size_t i = 0; !err && i < w->wait_count; i++) {
		struct page_wait *wait = &w->waits[i];
		const struct taken *t = wait->stack < count ? &list[wait->stack] : NULL;

		if (!t || !t->taken)
			continue;
		wait->order = t->order;
		err = find_stack(w, &index, &counts, &capacity, &t->nodes, &wait->combination);
	}
	if (!err)
		err = rank_stacks(w, counts);
	hash_index_done(&index);
	free(counts);
	return err;
}

static int name_threads(struct page_waits *w, struct page_texts *texts)
{
	size_t count;
	const struct thread_states_thread *threads = thread_states_threads(w->times.run.timeline,
									   &count);
	char unknown[16];
	uint32_t comm;
	int err = 0;

	for (size_t i = 0; !err && i < w->thread_count; i++) {
		struct page_thread *t = &w->threads[i];

		comm = sched_replay_comm(&w->times.run, &threads[t->index]);
		snprintf(unknown, sizeof(unknown), ":%u", t->tid);
		err = page_texts_add_name(texts,
					  comm == SCHED_EVENT_NONE
						  ? unknown
						  : string_table_text(w->report.names, comm),
					  &t->comm);
	}
	return err;
}

int page_wait_stacks_make(struct page_waits *w, const struct page_stacks *stacks,
			  struct page_texts *texts)
{
	const struct stack_table *s = &w->report.stacks;
	size_t count = w->any ? sched_order_stack_count(w->times.run.flow) : 0;
	struct taken *list;
	uint32_t no_waker;
	int err;

	if (!w->any)
		return 0;
	list = calloc(count + 1, sizeof(*list));
	err = list ? page_texts_add(texts, "", &no_waker) : -ENOMEM;
	for (size_t i = 0; !err && i < s->entry_count; i++)
		err = take_entry(w, stacks, i, texts, list);
	if (!err)
		err = combine_stacks(w, list, count);
	free(list);
	if (err)
		return err;
	for (size_t i = 0; i < w->stack_count; i++)
		if (!w->stacks[i].woken && !w->stacks[i].queue_woken)
			w->stacks[i].waker = no_waker;
	return name_threads(w, texts);
}
