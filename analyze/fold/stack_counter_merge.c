/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * stack_counter_join - what several samplers counted becomes one
 *
 * Places are merged at once, since names need no more.  Stacks take five times as long, and are
 * left for callers with a thread for them: tables are joined two by two, each pair in a thread.
 */
#include <assert.h>
#include <pthread.h>

#include "analyze/fold/stack_counter_priv.h"
#include "format/os/threads.h"
#include "format/base/vec.h"

static int join_counts(struct stack_counter *s, const struct stack_counter *from)
{
	int err = 0;

	for (size_t i = 0; !err && i < from->sum_count; i++)
		err = stack_counter_add_to_sum(s, (uint32_t)i, &from->sums[i]);
	s->counts.samples += from->counts.samples;
	s->counts.without_chain += from->counts.without_chain;
	s->counts.deferred += from->counts.deferred;
	s->counts.frames_left_out += from->counts.frames_left_out;
	s->counts.unknown_contexts += from->counts.unknown_contexts;
	return err;
}

int stack_counter_join(struct stack_counter *s, struct stack_counter *from)
{
	int err = vec_reserve(&s->joined, &s->joined_capacity, s->joined_count + 1);

	assert(s->stack_slots && from->stack_slots && !from->item_count && !from->joined_count);
	locations_finish(&from->places);
	stack_counter_free_caches(from);
	from->number_count = from->places.count;
	from->numbers = calloc(from->number_count + 1, sizeof(*from->numbers));
	if (!err && !from->numbers)
		err = -ENOMEM;
	if (!err)
		err = locations_merge(&s->places, &from->places, from->numbers);
	if (!err)
		err = join_counts(s, from);
	if (err) {
		stack_counter_free(from);
		return err;
	}
	locations_done(&from->places);
	s->joined[s->joined_count++] = from;
	return 0;
}

int stack_counter_finish(struct stack_counter *s)
{
	uint32_t *numbers = calloc(s->places.count + 1, sizeof(*numbers));
	int err = numbers ? 0 : -ENOMEM;

	assert(s->stack_slots && !s->item_count);
	locations_finish(&s->places);
	stack_counter_free_caches(s);
	if (!err)
		err = locations_sort(&s->places, numbers);
	if (err) {
		free(numbers);
		return err;
	}
	for (size_t i = 0; i < s->joined_count; i++)
		for (size_t k = 0; k < s->joined[i]->number_count; k++)
			s->joined[i]->numbers[k] = numbers[s->joined[i]->numbers[k]];
	s->numbers = numbers;
	return 0;
}

/* ---- stacks ---- */

struct pair {
	struct stack_counter *to, *from; /* from is freed */
	int err;
	pthread_t thread;
};

static void renumber(struct stack_counter *s)
{
	if (s->numbers)
		stack_table_renumber(&s->stacks, s->numbers);
	free(s->numbers);
	s->numbers = NULL;
}

static void *join_pair(void *arg)
{
	struct pair *pair = arg;

	renumber(pair->to);
	renumber(pair->from);
	hash_index_done(&pair->from->stacks.node_index);
	hash_index_done(&pair->from->stacks.entry_index);
	pair->err = stack_table_join(&pair->to->stacks, &pair->from->stacks);
	stack_counter_free(pair->from);
	return NULL;
}

/* The last half of the list to the first.  Where no thread can be started, the caller does it. */
static int join_half(struct stack_counter **list, size_t *count)
{
	struct pair pairs[THREADS_AT_ONCE];
	size_t half = *count / 2 < THREADS_AT_ONCE ? *count / 2 : THREADS_AT_ONCE, started = 0;
	int err = 0;

	for (size_t i = 0; i < half; i++)
		pairs[i] = (struct pair){ .to = list[i], .from = list[--*count] };
	while (started + 1 < half &&
	       !pthread_create(&pairs[started].thread, NULL, join_pair, &pairs[started]))
		started++;
	for (size_t i = started; i < half; i++)
		join_pair(&pairs[i]);
	for (size_t i = 0; i < half; i++) {
		if (i < started)
			pthread_join(pairs[i].thread, NULL);
		err = err ? err : pairs[i].err;
	}
	return err;
}

int stack_counter_settle(struct stack_counter *s)
{
	size_t count = s->joined_count + 1;
	struct stack_counter **list = calloc(count, sizeof(*list));
	int err = 0;

	if (!list)
		return -ENOMEM;
	list[0] = s;
	for (size_t i = 1; i < count; i++)
		list[i] = s->joined[i - 1];
	s->joined_count = 0;
	while (!err && count > 1)
		err = join_half(list, &count);
	while (--count) /* after a failure */
		stack_counter_free(list[count]);
	free(list);
	renumber(s);
	stack_table_finish(&s->stacks);
	return err;
}
