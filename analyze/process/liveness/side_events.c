/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/process/liveness/side_events.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/base/merge_runs.h"
#include "format/base/vec.h"

#define GONE          UINT64_MAX /* the place of what does not matter after all */
#define GIVEN_AT_ONCE 16384u     /* events: memory is given back so often */

int side_events_put(struct side_events *l, uint32_t number, const struct side_event *event,
		    uint64_t place)
{
	int err = vec_reserve(&l->list, &l->capacity, (size_t)number + 1);

	if (err)
		return err;
	l->list[number] = (struct side_events_event){ .place = event ? place : GONE };
	if (event)
		l->list[number].event = *event;
	l->count += number == l->count;
	return 0;
}

static int from_the_last(const void *pa, const void *pb)
{
	const struct side_events_event *a = pa, *b = pb;

	if (a->event.time_ns != b->event.time_ns)
		return a->event.time_ns < b->event.time_ns ? 1 : -1;
	return a->place < b->place ? 1 : -(a->place > b->place);
}

void side_events_drop(struct side_events *l, const uint32_t *numbers, size_t number_count)
{
	size_t count = 0;

	for (size_t i = 0; i < number_count; i++)
		l->list[numbers[i]].place = GONE;
	for (size_t i = 0; i < l->count; i++)
		if (l->list[i].place != GONE)
			l->list[count++] = l->list[i];
	l->count = count;
}

static bool has_file(const struct side_event *e)
{
	return e->kind == SIDE_MAP || e->kind == SIDE_KSYMBOL;
}

/* keys: by number; those that are left are the files of any event. */
static size_t list_files(const struct side_events *l, struct time_key *keys, size_t all)
{
	size_t count = 0;

	for (size_t i = 0; i < all; i++)
		keys[i] = (struct time_key){ GONE, i };
	for (size_t i = 0; i < l->count; i++)
		if (has_file(&l->list[i].event) &&
		    l->list[i].place < keys[l->list[i].event.id].time_ns)
			keys[l->list[i].event.id].time_ns = l->list[i].place;
	for (size_t i = 0; i < all; i++)
		if (keys[i].time_ns != GONE)
			keys[count++] = keys[i];
	return count;
}

/* The name of a file that reports print depends on the order of its names. */
int side_events_number_files(struct side_events *l, side_events_choose_fn choose, void *ctx)
{
	struct time_key *keys, *room, *sorted;
	uint32_t *order, *numbers;
	size_t all = 0, count;
	int err = -ENOMEM;

	for (size_t i = 0; i < l->count; i++)
		if (has_file(&l->list[i].event) && l->list[i].event.id >= all)
			all = (size_t)l->list[i].event.id + 1;
	keys = calloc(all + 1, sizeof(*keys));
	room = calloc(all + 1, sizeof(*room));
	order = calloc(all + 1, sizeof(*order));
	numbers = calloc(all + 1, sizeof(*numbers));
	if (keys && room && order && numbers) {
		count = list_files(l, keys, all);
		sorted = merge_runs(keys, room, count);
		for (size_t i = 0; i < count; i++)
			order[i] = (uint32_t)sorted[i].index;
		err = choose(ctx, order, count, numbers);
	}
	for (size_t i = 0; !err && i < l->count; i++)
		if (has_file(&l->list[i].event))
			l->list[i].event.id = numbers[l->list[i].event.id];
	free(keys);
	free(room);
	free(order);
	free(numbers);
	return err;
}

int side_events_give(struct side_events *l, side_queue_fn give, void *ctx)
{
	int err = 0;

	if (l->count)
		qsort(l->list, l->count, sizeof(*l->list), from_the_last);
	while (!err && l->count) {
		err = give(ctx, &l->list[--l->count].event);
		if (!(l->count % GIVEN_AT_ONCE))
			vec_trim(&l->list, &l->capacity, l->count);
	}
	return err;
}

void side_events_done(struct side_events *l)
{
	free(l->list);
	*l = (struct side_events){ 0 };
}
