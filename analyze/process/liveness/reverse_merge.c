/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/process/liveness/reverse_merge.h"

#include <stdlib.h>
#include <string.h>

#include "format/base/heap.h"
#include "format/base/mmap_array.h"
#include "analyze/input/event/block_cache.h"
#include "format/base/vec.h"

#define LITTLE_WORDS (1u << 17) /* not worth moving */

int held_list_add(struct held_list *l, const struct held *h)
{
	int err = vec_reserve(&l->list, &l->capacity, l->count + 1);

	if (!err)
		l->list[l->count++] = *h;
	return err;
}

int record_pile_add(struct record_pile *p, const struct perf_event_header *header, size_t *word)
{
	size_t more = block_cache_words(header);
	int err = vec_reserve(&p->words, &p->capacity, p->count + more);

	if (err)
		return err;
	memcpy(p->words + p->count, header, header->size);
	*word = p->count;
	p->count += more;
	return 0;
}

int reverse_merge_reserve(struct reverse_merge *t, size_t size_bytes)
{
	/* Half of what keeping costs is that pages come one by one. */
	size_bytes = mmap_array_round(size_bytes);
	t->pile.words = mmap_array_raw(size_bytes);
	if (!t->pile.words)
		return -ENOMEM;
	t->pile.capacity = size_bytes / sizeof(*t->pile.words);
	return 0;
}

void reverse_merge_done(struct reverse_merge *t)
{
	free(t->pile.words);
	free(t->moved.words);
	free(t->turn.list);
	free(t->ready.list);
	free(t->waiting.list);
	free(t->undated.list);
	free(t->keys);
	free(t->room);
	*t = (struct reverse_merge){ 0 };
}

int reverse_merge_hold(struct reverse_merge *t, const struct record *rec, uint64_t time_ns)
{
	struct held h = { .time_ns = time_ns,
			  .place = (uint64_t)rec->block << 32 | t->ready.count };
	int err = record_pile_add(&t->pile, rec->header, &h.word);

	return err ? err : held_list_add(&t->ready, &h);
}

/* ---- the order ---- */

/* The last in time comes first. */
static bool is_after(const struct held *a, const struct held *b)
{
	return a->time_ns != b->time_ns ? a->time_ns > b->time_ns : a->place > b->place;
}

/* waiting is a heap: the last of them comes first. */
static int wait_for_turn(struct held_list *l, const struct held *h)
{
	int err = held_list_add(l, h);

	if (!err)
		heap_up(l->list, l->count - 1, is_after);
	return err;
}

static void drop_first(struct held_list *l)
{
	l->list[0] = l->list[--l->count];
	heap_down(l->list, l->count, is_after);
}

int held_by_place(const void *pa, const void *pb)
{
	const struct held *a = pa, *b = pb;

	return a->place < b->place ? -1 : a->place > b->place;
}

static int by_place_from_the_last(const void *pa, const void *pb)
{
	return held_by_place(pb, pa);
}

/* Those of one time, from first on, by place. */
static void order_equals(struct held_list *l, size_t first)
{
	for (size_t end; first < l->count; first = end) {
		bool in_order = true;

		for (end = first + 1;
		     end < l->count && l->list[end].time_ns == l->list[first].time_ns; end++)
			in_order &= l->list[end].place < l->list[end - 1].place;
		if (!in_order)
			qsort(l->list + first, end - first, sizeof(*l->list),
			      by_place_from_the_last);
	}
}

/* Puts ready behind turn, from the last one on. */
static int sort_turn(struct reverse_merge *t)
{
	const size_t count = t->ready.count, first = t->turn.count;
	struct time_key *sorted;
	int err = vec_reserve(&t->keys, &t->key_capacity, count + 1);

	if (!err)
		err = vec_reserve(&t->room, &t->room_capacity, count + 1);
	if (err)
		return err;
	for (size_t i = 0; i < count; i++)
		t->keys[i] = (struct time_key){ t->ready.list[i].time_ns, i };
	sorted = merge_runs(t->keys, t->room, count);
	for (size_t i = count; !err && i--;)
		err = held_list_add(&t->turn, &t->ready.list[sorted[i].index]);
	order_equals(&t->turn, first);
	t->ready.count = 0;
	return err;
}

/* Sets aside those that blocks still to be read may have later ones than. */
int reverse_merge_end_block(struct reverse_merge *t, uint64_t earlier_ns)
{
	size_t count = 0;
	int err = 0;

	for (size_t i = 0; !err && i < t->ready.count; i++) {
		const struct held h = t->ready.list[i];

		if (h.time_ns > earlier_ns)
			t->ready.list[count++] = h;
		else
			err = h.time_ns ? wait_for_turn(&t->waiting, &h)
					: held_list_add(&t->undated, &h);
	}
	t->ready.count = count;
	while (!err && t->waiting.count && t->waiting.list[0].time_ns > earlier_ns) {
		err = held_list_add(&t->ready, &t->waiting.list[0]);
		drop_first(&t->waiting);
	}
	return err ? err : sort_turn(t);
}

int reverse_merge_end(struct reverse_merge *t)
{
	struct held_list none = t->ready;

	t->ready = t->undated;
	t->undated = none;
	return sort_turn(t);
}

/* Moves those that are still held to the front, where that makes much room. */
int reverse_merge_forget(struct reverse_merge *t)
{
	struct held_list *const lists[] = { &t->waiting, &t->undated };
	size_t held_words = 0;
	int err = 0;

	t->turn.count = 0;
	if (t->pile.count < LITTLE_WORDS)
		return 0;
	for (size_t l = 0; l < 2; l++)
		for (size_t i = 0; i < lists[l]->count; i++)
			held_words += block_cache_words(
				record_pile_at(&t->pile, lists[l]->list[i].word));
	if (held_words > t->pile.count / 2)
		return 0;
	t->moved.count = 0;
	for (size_t l = 0; l < 2; l++)
		for (size_t i = 0; !err && i < lists[l]->count; i++)
			err = record_pile_add(&t->moved,
					      record_pile_at(&t->pile, lists[l]->list[i].word),
					      &lists[l]->list[i].word);
	if (err)
		return err;
	if (t->moved.count)
		memcpy(t->pile.words, t->moved.words, t->moved.count * sizeof(*t->pile.words));
	t->pile.count = t->moved.count;
	return 0;
}
