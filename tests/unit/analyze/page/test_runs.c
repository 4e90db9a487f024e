/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* Runs of a page: their order, the places of threads among those that ran last, and which lengths they leave out. */
#include "analyze/page/runs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A reader's list: thread by place, by the rules of docs/PAGE.md. */
struct list {
	uint32_t threads[PAGE_RUNS_RECENT];
};

static uint32_t read_place(struct list *l, uint64_t place)
{
	uint64_t moved = place < PAGE_RUNS_RECENT ? place : PAGE_RUNS_RECENT - 1;
	uint32_t thread = place < PAGE_RUNS_RECENT ? l->threads[place]
						   : (uint32_t)(place - PAGE_RUNS_RECENT);

	memmove(l->threads + 1, l->threads, moved * sizeof(l->threads[0]));
	l->threads[0] = thread;
	return thread;
}

static void threads_come_back_from_their_places(void **state)
{
	for (uint32_t threads = 1; threads < 200; threads += 33) {
		struct page_runs_recent recent = { .count = 0 };
		struct list list = { { 0 } };
		uint32_t x = threads;

		for (int i = 0; i < 2000; i++) {
			uint32_t thread;

			x = x * 1664525u + 1013904223u;
			thread = (x >> 8) % threads;
			assert_int_equal(read_place(&list, page_runs_place(&recent, thread)),
					 thread);
		}
	}
}

static void the_65th_thread_has_a_number_and_the_64th_a_place(void **state)
{
	struct page_runs_recent recent = { .count = 0 };

	for (uint32_t i = 0; i < 65; i++)
		assert_int_equal(page_runs_place(&recent, i), 64 + i);
	assert_int_equal(page_runs_place(&recent, 1), 63);
	assert_int_equal(page_runs_place(&recent, 0), 64);
	assert_int_equal(page_runs_place(&recent, 0), 0);
}

/* Two threads: 0 sleeps, waits for a CPU and runs on CPU 1, then on 0, and sleeps; 1 runs between on CPU 0. */
static struct page_piece pieces[] = {
	{ 100, 300, 0, 0, THREAD_STATES_SLEEP, 0 }, { 300, 310, 0, 0, THREAD_STATES_WAIT, 0 },
	{ 310, 400, 0, 1, THREAD_STATES_RUN, 0 },   { 400, 500, 0, 0, THREAD_STATES_WAIT, 0 },
	{ 500, 600, 0, 0, THREAD_STATES_RUN, 0 },   { 600, 700, 0, 0, THREAD_STATES_SLEEP, 0 },
	{ 200, 500, 1, 0, THREAD_STATES_RUN, 0 },   { 500, 550, 1, 0, THREAD_STATES_UNKNOWN, 0 },
};
static struct page_thread threads[] = {
	{ .piece = 0, .pieces = 6 },
	{ .piece = 6, .pieces = 2 },
};
static const struct page_waits waits = {
	.threads = threads,
	.thread_count = 2,
	.pieces = pieces,
	.piece_count = 8,
};

static void runs_are_by_cpu_and_then_by_time(void **state)
{
	static const struct page_run want[] = {
		{ 200, 500, 1, 0 },
		{ 500, 600, 0, 0 },
		{ 310, 400, 0, 1 },
	};
	struct page_run *runs;
	size_t count;

	assert_int_equal(page_runs_list(&waits, &runs, &count), 0);
	assert_int_equal(count, 3);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(runs[i].from_ns, want[i].from_ns);
		assert_int_equal(runs[i].to_ns, want[i].to_ns);
		assert_int_equal(runs[i].thread, want[i].thread);
		assert_int_equal(runs[i].cpu, want[i].cpu);
	}
	free(runs);
}

struct lengths {
	uint64_t ns[8];
	size_t count;
};

static void add_length(void *ctx, uint64_t ns)
{
	struct lengths *l = ctx;

	assert_true(l->count < 8);
	l->ns[l->count++] = ns;
}

static void the_first_piece_before_a_run_is_left_out(void **state)
{
	struct lengths l = { .count = 0 };

	assert_int_equal(page_runs_lengths(&waits, NULL, NULL), 3);
	assert_int_equal(page_runs_lengths(&waits, add_length, &l), 3);
	assert_int_equal(l.count, 3);
	assert_int_equal(l.ns[0], 10);
	assert_int_equal(l.ns[1], 100);
	assert_int_equal(l.ns[2], 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_come_back_from_their_places),
		cmocka_unit_test(the_65th_thread_has_a_number_and_the_64th_a_place),
		cmocka_unit_test(runs_are_by_cpu_and_then_by_time),
		cmocka_unit_test(the_first_piece_before_a_run_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
