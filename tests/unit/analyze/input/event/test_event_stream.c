/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyze/input/event/event_stream.h"

#define BATCHES 40
#define EVENTS  50 /* of a batch */
#define STRIDE  30 /* ns from the beginning of a batch to that of the next */

struct event {
	uint64_t time_ns, batch, place;
};

struct seen {
	const struct event *expected;
	size_t count;
	uint64_t until_ns;
	int stop_after; /* 0: never */
};

/* By time, then by batch, then as they were added. */
static int by_order(const void *va, const void *vb)
{
	const struct event *a = va, *b = vb;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	if (a->batch != b->batch)
		return a->batch < b->batch ? -1 : 1;
	return a->place < b->place ? -1 : 1;
}

static int see(void *ctx, const void *event)
{
	struct seen *s = ctx;

	assert_int_equal((uintptr_t)event % 8, 0);
	assert_memory_equal(event, &s->expected[s->count], sizeof(struct event));
	assert_true(((const struct event *)event)->time_ns <= s->until_ns);
	return ++s->count == (size_t)s->stop_after ? -ECANCELED : 0;
}

/* An event of batch b, at most twice a stride behind its beginning; many times are equal. */
static struct event make_event(uint64_t b, uint64_t place)
{
	return (struct event){ STRIDE * b + (b * 7919 + place * place * 104729) % (2 * STRIDE), b,
			       place };
}

static void put_batch(struct event_stream *s, uint64_t b)
{
	struct event_batch *batch;

	assert_int_equal(event_stream_begin(s, b, &batch), 0);
	for (uint64_t place = 0; place < EVENTS; place++) {
		struct event e = make_event(b, place);

		assert_int_equal(event_batch_add(batch, e.time_ns, &e, sizeof(e)), 0);
	}
	assert_int_equal(event_batch_count(batch), EVENTS);
	assert_int_equal(event_stream_end(s, batch), 0);
}

static struct event *all_in_order(void)
{
	struct event *list = calloc(BATCHES * EVENTS, sizeof(*list));

	assert_non_null(list);
	for (uint64_t b = 0; b < BATCHES; b++)
		for (uint64_t place = 0; place < EVENTS; place++)
			list[b * EVENTS + place] = make_event(b, place);
	qsort(list, BATCHES * EVENTS, sizeof(*list), by_order);
	return list;
}

static void events_of_overlapping_batches_come_as_if_all_were_sorted(void **state)
{
	struct event *expected = all_in_order();
	struct seen seen = { .expected = expected };
	struct event_stream *s;

	assert_int_equal(event_stream_new(&s), 0);
	for (uint64_t b = 0; b < BATCHES; b++) {
		seen.until_ns = STRIDE * b - (b != 0);
		assert_int_equal(event_stream_pass(s, seen.until_ns, see, &seen), 0);
		put_batch(s, b);
	}
	/* Later events than the last beginning had to wait. */
	assert_in_range(seen.count, 1, BATCHES * EVENTS - EVENTS);
	seen.until_ns = UINT64_MAX;
	assert_int_equal(event_stream_pass(s, UINT64_MAX, see, &seen), 0);
	assert_int_equal(seen.count, BATCHES * EVENTS);
	event_stream_free(s);
	free(expected);
}

static void batches_that_come_in_another_order_give_the_same(void **state)
{
	struct event *expected = all_in_order();
	struct seen seen = { .expected = expected, .until_ns = UINT64_MAX };
	struct event_batch *empty;
	struct event_stream *s;

	assert_int_equal(event_stream_new(&s), 0);
	for (uint64_t b = BATCHES; b--;)
		put_batch(s, b);
	assert_int_equal(event_stream_begin(s, 0, &empty), 0);
	assert_int_equal(event_stream_end(s, empty), 0);
	assert_int_equal(event_stream_pass(s, UINT64_MAX, see, &seen), 0);
	assert_int_equal(seen.count, BATCHES * EVENTS);
	event_stream_free(s);
	free(expected);
}

static void what_the_caller_returns_ends_it(void **state)
{
	struct event *expected = all_in_order();
	struct seen seen = { .expected = expected, .until_ns = UINT64_MAX, .stop_after = 60 };
	struct event_stream *s;

	assert_int_equal(event_stream_new(&s), 0);
	for (uint64_t b = 0; b < BATCHES; b++)
		put_batch(s, b);
	assert_int_equal(event_stream_pass(s, UINT64_MAX, see, &seen), -ECANCELED);
	assert_int_equal(seen.count, 60);
	assert_int_equal(event_stream_pass(s, UINT64_MAX, see, &seen), 0); /* the rest is there */
	assert_int_equal(seen.count, BATCHES * EVENTS);
	event_stream_free(s);
	free(expected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_of_overlapping_batches_come_as_if_all_were_sorted),
		cmocka_unit_test(batches_that_come_in_another_order_give_the_same),
		cmocka_unit_test(what_the_caller_returns_ends_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
