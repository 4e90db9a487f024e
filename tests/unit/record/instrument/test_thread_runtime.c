/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/instrument/thread_runtime.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BOTH (SWITCH_WANTS_PREV | SWITCH_WANTS_NEXT)
#define CPUS 2

/* A switch on a CPU, and what both threads have run in all. */
struct step {
	uint32_t cpu;
	uint64_t time_ns;
	uint32_t prev;
	uint64_t prev_ran_ns;
	uint32_t next;
	uint64_t next_ran_ns;
	uint32_t wanted;
	uint32_t state;
};

static int do_step(struct thread_runtimes *r, const struct step *s)
{
	struct switch_event ev = {
		.h = { .cpu = s->cpu, .time_ns = s->time_ns },
		.prev_pid = s->prev * 10,
		.prev_tid = s->prev,
		.prev_ran_ns = s->prev_ran_ns,
		.prev_state = (uint16_t)s->state,
		.next_pid = s->next * 10,
		.next_tid = s->next,
		.next_ran_ns = s->next_ran_ns,
		.wanted = s->wanted,
	};

	memcpy(ev.prev_comm, "leaves", 7);
	memcpy(ev.next_comm, "comes", 6);
	return thread_runtimes_switch(r, &ev);
}

static struct thread_runtimes *after(const struct step *steps, size_t count)
{
	struct thread_runtimes *r;

	assert_int_equal(thread_runtimes_new(CPUS, 1000, &r), 0);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(do_step(r, &steps[i]), 0);
	return r;
}

#define AFTER(...)                                  \
	after((const struct step[]){ __VA_ARGS__ }, \
	      sizeof((const struct step[]){ __VA_ARGS__ }) / sizeof(struct step))

/* The time that was counted for tid since the last time, or 0; how many threads there are in *count. */
static uint64_t take(struct thread_runtimes *r, uint32_t tid, struct runtime *out)
{
	const struct runtime *runtimes;
	uint64_t sum_ns = 0;
	size_t count;

	assert_int_equal(thread_runtimes_take(r, &runtimes, &count), 0);
	for (size_t i = 0; i < count; i++) {
		assert_true(runtimes[i].sum_ns > 0);
		if (runtimes[i].tid != tid)
			continue;
		assert_int_equal(sum_ns, 0);
		sum_ns = runtimes[i].sum_ns;
		if (out)
			*out = runtimes[i];
	}
	return sum_ns;
}

static void runtimes_are_what_the_kernel_counted(void **state)
{
	/* 7 runs on CPU 0, then on CPU 1, whose switches are handed over first. */
	struct thread_runtimes *r = AFTER(
		{ 1, 1500, 0, 0, 7, 5100, BOTH, 0 }, { 1, 1700, 7, 5290, 0, 0, BOTH, 0 },
		{ 0, 1100, 0, 0, 7, 5000, BOTH, 0 }, { 0, 1200, 7, 5100, 0, 0, BOTH, 0 });
	struct runtime t;

	assert_int_equal(take(r, 7, &t), 290); /* 5000 to 5290 */
	assert_true(t.pid == 70 && t.cpu == 1 && t.from_ns == 1500);
	assert_string_equal(t.comm, "leaves");
	assert_int_equal(take(r, 7, NULL), 0);
	thread_runtimes_free(r);

	r = AFTER({ 0, 1100, 0, 0, 7, 5000, BOTH, 0 }, { 0, 1200, 7, 5099, 0, 0, BOTH, 0 });
	assert_int_equal(take(r, 7, NULL), 99);
	assert_int_equal(do_step(r, &(struct step){ 0, 1300, 0, 0, 7, 5099, BOTH, 0 }), 0);
	assert_int_equal(do_step(r, &(struct step){ 0, 1400, 7, 5150, 0, 0, BOTH, 0 }), 0);
	assert_int_equal(take(r, 7, NULL), 51);
	thread_runtimes_free(r);
}

/* 7 ran on CPU 0, then comes to CPU 1; the switches of CPU 0 are handed over after that one. */
static void runtimes_seen_by_a_later_switch_first_have_their_thread(void **state)
{
	struct thread_runtimes *r = AFTER({ 1, 1500, 0, 0, 7, 5100, BOTH, 0 },
					  { 0, 1100, 0, 0, 7, 5000, BOTH, 0 });
	struct runtime t;

	assert_int_equal(take(r, 7, &t), 100);
	assert_true(t.pid == 70 && t.cpu == 1 && t.from_ns == 1500);
	assert_string_equal(t.comm, "comes");
	assert_int_equal(do_step(r, &(struct step){ 0, 1200, 7, 5100, 0, 0, BOTH, 0 }), 0);
	assert_int_equal(take(r, 7, NULL), 0);
	thread_runtimes_free(r);
}

static void runtimes_before_the_beginning_do_not_count(void **state)
{
	struct thread_runtimes *r = AFTER({ 0, 1300, 7, 900000, 8, 50, BOTH, 0 },
					  { 1, 1300, 9, 200, 0, 0, BOTH, 0 });

	assert_int_equal(take(r, 7, NULL), 300); /* on the CPU at 1000 */
	assert_int_equal(take(r, 9, NULL), 0);   /* taken with the first */
	thread_runtimes_free(r);
	r = AFTER({ 1, 1300, 9, 200, 0, 0, BOTH, 0 });
	assert_int_equal(take(r, 9, NULL), 200); /* younger than that */
	thread_runtimes_free(r);
	r = AFTER({ 1, 900, 9, 200, 0, 0, BOTH, 0 });
	assert_int_equal(take(r, 9, NULL), 0); /* a switch from before it */
	thread_runtimes_free(r);
}

static void runtimes_survive_lost_switches(void **state)
{
	struct thread_runtimes *r = AFTER(
		{ 0, 1100, 0, 0, 7, 5000, BOTH, 0 },
		/* from 7, to 8, from 8, to 7: lost */
		{ 0, 1900, 7, 5600, 0, 0, BOTH, 0 },
		/* to 8: lost; it was not seen before and ran at most 50 */
		{ 0, 1950, 8, 777, 0, 0, BOTH, 0 });

	assert_int_equal(take(r, 7, NULL), 600);
	thread_runtimes_free(r);
	r = AFTER({ 0, 1900, 7, 5600, 0, 0, BOTH, 0 }, { 0, 1950, 8, 777, 0, 0, BOTH, 0 });
	assert_int_equal(take(r, 8, NULL), 50);
	thread_runtimes_free(r);
}

static void runtimes_of_others_and_of_idle_cpus_are_not_counted(void **state)
{
	struct thread_runtimes *r = AFTER({ 0, 1100, 0, 1, 7, 5000, SWITCH_WANTS_NEXT, 0 },
					  { 0, 1200, 7, 5100, 8, 10, SWITCH_WANTS_PREV, 0 },
					  { 0, 1300, 8, 20, 7, 5100, SWITCH_WANTS_NEXT, 0 },
					  { 0, 1400, 7, 5200, 0, 99, SWITCH_WANTS_PREV, 0 });
	const struct runtime *runtimes;
	size_t count;

	assert_int_equal(thread_runtimes_until(r, 9999), 0);
	assert_int_equal(thread_runtimes_take(r, &runtimes, &count), 0);
	assert_int_equal(count, 1);
	assert_int_equal(runtimes[0].tid, 7);
	assert_int_equal(runtimes[0].sum_ns, 200);
	thread_runtimes_free(r);
}

static void runtimes_end_with_the_recording(void **state)
{
	struct thread_runtimes *r = AFTER({ 0, 1100, 0, 0, 7, 5000, BOTH, 0 },
					  { 1, 1200, 0, 0, 8, 100, SWITCH_WANTS_PREV, 0 });
	struct runtime t;

	assert_int_equal(thread_runtimes_until(r, 1600), 0);
	assert_int_equal(take(r, 7, &t), 500);
	assert_true(t.pid == 70 && t.cpu == 0 && t.from_ns == 1100);
	assert_string_equal(t.comm, "comes");
	thread_runtimes_free(r);
	r = AFTER({ 0, 1100, 0, 0, 7, 5000, BOTH, 0 });
	assert_int_equal(thread_runtimes_until(r, 1099), 0);
	assert_int_equal(take(r, 7, NULL), 0);
	thread_runtimes_free(r);
}

static void runtimes_of_ended_threads_are_not_counted_again(void **state)
{
	struct thread_runtimes *r = AFTER({ 0, 1100, 0, 0, 7, 0, BOTH, 0 },
					  { 0, 1200, 7, 100, 0, 0, BOTH, TASK_DEAD });

	assert_int_equal(take(r, 7, NULL), 100);
	/* Older ones of the other CPU. */
	assert_int_equal(do_step(r, &(struct step){ 1, 1050, 0, 0, 7, 20, BOTH, 0 }), 0);
	assert_int_equal(do_step(r, &(struct step){ 1, 1060, 7, 30, 0, 0, BOTH, 0 }), 0);
	assert_int_equal(take(r, 7, NULL), 0);
	/* A thread that has the id again. */
	assert_int_equal(do_step(r, &(struct step){ 1, 2060, 0, 0, 7, 0, BOTH, 0 }), 0);
	assert_int_equal(do_step(r, &(struct step){ 1, 2070, 7, 9, 0, 0, BOTH, 0 }), 0);
	assert_int_equal(take(r, 7, NULL), 9);
	thread_runtimes_free(r);
}

static void runtimes_of_many_threads_that_come_and_go(void **state)
{
	struct thread_runtimes *r = AFTER({ 0, 1001, 0, 0, 5, 0, BOTH, 0 });
	const struct runtime *runtimes;
	uint64_t now_ns = 1001, sum_ns = 0;
	size_t count;

	for (uint32_t tid = 5; tid < 20005; tid++) {
		struct step s = {
			0, now_ns += 3, tid, 3, tid + 1, 0, BOTH, tid % 3 ? TASK_DEAD : 0
		};

		assert_int_equal(do_step(r, &s), 0);
		if (tid % 100)
			continue;
		assert_int_equal(thread_runtimes_take(r, &runtimes, &count), 0);
		for (size_t i = 0; i < count; i++)
			sum_ns += runtimes[i].sum_ns;
	}
	assert_int_equal(thread_runtimes_take(r, &runtimes, &count), 0);
	for (size_t i = 0; i < count; i++)
		sum_ns += runtimes[i].sum_ns;
	assert_int_equal(sum_ns, 20000 * 3);
	thread_runtimes_free(r);
}

static void runtimes_refuse_a_cpu_that_is_none(void **state)
{
	struct thread_runtimes *r = AFTER({ 1, 1100, 0, 0, 7, 0, BOTH, 0 });

	assert_int_equal(do_step(r, &(struct step){ CPUS, 1200, 7, 5, 0, 0, BOTH, 0 }), -EBADMSG);
	thread_runtimes_free(r);
	thread_runtimes_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runtimes_are_what_the_kernel_counted),
		cmocka_unit_test(runtimes_seen_by_a_later_switch_first_have_their_thread),
		cmocka_unit_test(runtimes_before_the_beginning_do_not_count),
		cmocka_unit_test(runtimes_survive_lost_switches),
		cmocka_unit_test(runtimes_of_others_and_of_idle_cpus_are_not_counted),
		cmocka_unit_test(runtimes_end_with_the_recording),
		cmocka_unit_test(runtimes_of_ended_threads_are_not_counted_again),
		cmocka_unit_test(runtimes_of_many_threads_that_come_and_go),
		cmocka_unit_test(runtimes_refuse_a_cpu_that_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
