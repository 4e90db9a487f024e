/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "analyze/report/process/summary.h"

static const struct tasks no_tasks;

/* Stacks without frames: thread and time are all that matters. */
static void count(struct report *r, uint32_t pid, uint64_t time_ns, uint64_t samples)
{
	struct group g = { .pid = pid, .comm = 1, .time_ns = time_ns };
	struct stack_table_key key = { .user = STACK_TABLE_USER_ROOT,
				       .kernel = STACK_TABLE_KERNEL_ROOT };

	assert_int_equal(groups_add(r->groups, &g, &key.group), 0);
	assert_int_equal(stack_table_count(&r->stacks, &key, samples, 10 * samples), 0);
}

static void rows_add_up_and_their_slices_too(void **state)
{
	struct time_span recording = { .from_ns = 1000000, .to_ns = 1000000 + 40 * 1000 - 1 };
	struct report r = { 0 };
	struct summary s;
	uint64_t sum = 0;

	assert_int_equal(summary_quantum_ns(&recording), 1000);
	assert_int_equal(stack_table_init(&r.stacks, NULL), 0);
	assert_int_equal(groups_new(summary_fields(), 1000, &r.groups), 0);
	count(&r, 7, 1000000, 6);
	count(&r, 7, 1000999, 1); /* the same slice */
	count(&r, 7, 1039999, 3); /* the last one */
	count(&r, 8, 1020000, 20);
	assert_int_equal(summary_make(&r, &recording, &no_tasks, &s), 0);
	assert_int_equal(s.count, 2);
	assert_int_equal(s.samples, 30);
	assert_int_equal(s.busiest, 20);
	assert_int_equal(s.rows[0].pid, 8);
	assert_int_equal(s.rows[1].samples, 10);
	assert_int_equal(s.rows[1].period, 100);
	assert_int_equal(s.strips[s.rows[1].strip][0], 7);
	assert_int_equal(s.strips[s.rows[1].strip][39], 3);
	assert_int_equal(s.rows[1].first_ns, 1000000);
	assert_int_equal(s.rows[1].last_ns, 1039000);
	for (size_t i = 0; i < s.count; i++)
		for (size_t k = 0; k < SUMMARY_SLICES; k++)
			sum += s.strips[s.rows[i].strip][k];
	assert_int_equal(sum, s.samples);
	summary_done(&s);
	stack_table_done(&r.stacks);
	groups_free(r.groups);
}

static void a_thread_that_ran_too_shortly_for_a_sample_has_a_row(void **state)
{
	struct time_span recording = { .from_ns = 1000000, .to_ns = 1000000 + 40 * 1000 - 1 };
	struct sched_stats_thread threads[] = {
		{ .pid = 7, .tid = 7, .comm = 1, .ns = { [THREAD_STATES_RUN] = 500 } },
		{ .pid = 7, .tid = 8, .comm = 2, .ns = { [THREAD_STATES_RUN] = 70 } },
		{ .pid = 9, .tid = 9, .comm = 3, .ns = { [THREAD_STATES_RUN] = 40 } },
		{ .pid = 10, .tid = 10, .comm = 3, .ns = { [THREAD_STATES_SLEEP] = 40 } },
		{ .pid = UINT32_MAX, .tid = 11, .comm = 3, .ns = { [THREAD_STATES_RUN] = 40 } },
		{ .pid = 12, .tid = 12, .comm = 3, .ns = { [THREAD_STATES_RUN] = 41 } },
	};
	struct sched_stats runs = { .threads = threads, .thread_count = 6 };
	struct report r = { 0 };
	struct summary s;

	assert_int_equal(stack_table_init(&r.stacks, NULL), 0);
	assert_int_equal(groups_new(summary_fields(), 1000, &r.groups), 0);
	count(&r, 7, 1000000, 6);
	assert_int_equal(summary_make(&r, &recording, &no_tasks, &s), 0);
	assert_int_equal(summary_add_runs(&s, &runs, &no_tasks), 0);
	assert_int_equal(s.count,
			 3); /* not threads that only slept, nor those of an unknown process */
	assert_int_equal(s.rows[0].pid, 7);
	assert_int_equal(s.rows[0].run_ns, 570);
	assert_int_equal(s.rows[1].pid, 12);
	assert_int_equal(s.rows[2].pid, 9);
	assert_int_equal(s.rows[2].samples, 0);
	assert_int_equal(s.strip_count, 1); /* only threads with samples get space for slices */
	assert_true(s.rows[2].strip == SUMMARY_NO_STRIP);
	assert_int_equal(s.samples, 6);
	summary_done(&s);
	stack_table_done(&r.stacks);
	groups_free(r.groups);
}

static void the_process_that_ran_longest_comes_first_whatever_was_sampled(void **state)
{
	struct time_span recording = { .from_ns = 1000000, .to_ns = 1000000 + 40 * 1000 - 1 };
	struct sched_stats_thread threads[] = {
		{ .pid = 7, .tid = 7, .comm = 1, .ns = { [THREAD_STATES_RUN] = 500 } },
		{ .pid = 8, .tid = 8, .comm = 1, .ns = { [THREAD_STATES_RUN] = 700 } },
		{ .pid = 9, .tid = 9, .comm = 1, .ns = { [THREAD_STATES_RUN] = 600 } },
	};
	struct sched_stats runs = { .threads = threads, .thread_count = 3 };
	struct report r = { 0 };
	struct summary s;

	assert_int_equal(stack_table_init(&r.stacks, NULL), 0);
	assert_int_equal(groups_new(summary_fields(), 1000, &r.groups), 0);
	count(&r, 7, 1000000, 6);
	count(&r, 8, 1000000, 5);
	assert_int_equal(summary_make(&r, &recording, &no_tasks, &s), 0);
	assert_int_equal(s.rows[0].pid, 7); /* as long as samples alone are known */
	assert_int_equal(summary_add_runs(&s, &runs, &no_tasks), 0);
	assert_int_equal(summary_group(&s, &no_tasks), 0);
	assert_int_equal(s.rows[0].pid, 8);
	assert_int_equal(s.rows[1].pid, 9);
	assert_int_equal(s.rows[2].pid, 7);
	summary_done(&s);
	stack_table_done(&r.stacks);
	groups_free(r.groups);
}

static void short_programs_of_one_name_are_one_row_from_three_on(void **state)
{
	struct tasks_life lives[] = {
		{ .start_ns = 100, .end_ns = 200, .pid = 1, .tid = 1, .comm = 5 },
		{ .start_ns = 150, .end_ns = 900, .pid = 2, .tid = 2, .comm = 5 },
		{ .start_ns = 120, .end_ns = 300, .pid = 3, .tid = 3, .comm = 5 },
		{ .start_ns = 100,
		  .end_ns = 200 + SUMMARY_SHORT_NS,
		  .pid = 4,
		  .tid = 4,
		  .comm = 5 },
		{ .start_ns = 100, .pid = 5, .tid = 5, .comm = 5 }, /* still there */
		{ .start_ns = 100, .end_ns = 200, .pid = 6, .tid = 6, .comm = 6 },
		{ .start_ns = 100, .end_ns = 200, .pid = 7, .tid = 7, .comm = 6 },
		{ .end_ns = 200, .pid = 8, .tid = 8, .comm = 5, .was_there = true },
	};
	const struct tasks known = { .lives = lives, .count = 8 };
	struct summary s = { 0 };

	for (size_t i = 0; i < 8; i++)
		lives[i].ppid = TASKS_NONE;
	s.rows = calloc(9, sizeof(*s.rows));
	assert_non_null(s.rows);
	for (uint32_t i = 0; i < 8; i++)
		s.rows[s.count++] = (struct summary_row){ .pid = 1 + i,
							  .life = i,
							  .strip = SUMMARY_NO_STRIP,
							  .samples = 80 - i,
							  .run_ns = 10,
							  .processes = 1 };
	s.rows[s.count++] =
		(struct summary_row){ .pid = 9, .life = TASKS_NONE, .samples = 1, .processes = 1 };
	assert_int_equal(summary_group(&s, &known), 0);
	assert_int_equal(s.count, 7);
	assert_int_equal(s.rows[0].processes, 3);
	assert_int_equal(s.rows[0].pid, 1);
	assert_int_equal(s.rows[0].samples, 80 + 79 + 78);
	assert_int_equal(s.rows[0].run_ns, 30);
	assert_int_equal(s.rows[0].started_ns, 100);
	assert_int_equal(s.rows[0].ended_ns, 900);
	for (size_t i = 1; i < s.count; i++)
		assert_int_equal(s.rows[i].processes, 1);
	summary_done(&s);
}

static void a_strip_shows_how_full_slices_are(void **state)
{
	uint64_t strips[2][SUMMARY_SLICES] = { { 0 }, { 100, 99, 50, 1, 0, 1 } };
	struct summary s = { .busiest = 100, .strips = strips, .strip_count = 2 };
	struct summary_row row = { .strip = 1 };
	char strip[SUMMARY_SLICES + 1];

	summary_strip(&s, &row, strip);
	assert_int_equal(strlen(strip), SUMMARY_SLICES);
	assert_int_equal(strip[0], '#');
	assert_int_equal(strip[3], '.');
	assert_int_equal(strip[4], ' ');
	assert_int_equal(strip[5], '.');
	s.busiest = 0;
	row.strip = 0;
	summary_strip(&s, &row, strip);
	assert_int_equal(strspn(strip, " "), SUMMARY_SLICES);
	row.strip = SUMMARY_NO_STRIP;
	summary_strip(&s, &row, strip);
	assert_int_equal(strspn(strip, " "), SUMMARY_SLICES);
}

static void groups_keep_apart_only_what_was_asked(void **state)
{
	struct group a = { .pid = 1, .tid = 2, .cpu = 3, .comm = 4, .cgroup = 5, .time_ns = 2500 };
	struct group b = { .pid = 1, .tid = 9, .cpu = 9, .comm = 9, .cgroup = 9, .time_ns = 2999 };
	struct groups *g;
	uint32_t first, second;
	size_t count;

	assert_int_equal(groups_new(GROUP_PID | GROUP_TIME, 1000, &g), 0);
	assert_int_equal(groups_add(g, &a, &first), 0);
	assert_int_equal(groups_add(g, &b, &second), 0);
	assert_int_equal(first, second);
	b.time_ns = 3000;
	assert_int_equal(groups_add(g, &b, &second), 0);
	assert_int_not_equal(first, second);
	assert_int_equal(groups_list(g, &count)[first].time_ns, 2000);
	assert_int_equal(groups_list(g, &count)[first].tid, 0);
	assert_int_equal(count, 2);
	groups_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_add_up_and_their_slices_too),
		cmocka_unit_test(a_thread_that_ran_too_shortly_for_a_sample_has_a_row),
		cmocka_unit_test(the_process_that_ran_longest_comes_first_whatever_was_sampled),
		cmocka_unit_test(short_programs_of_one_name_are_one_row_from_three_on),
		cmocka_unit_test(a_strip_shows_how_full_slices_are),
		cmocka_unit_test(groups_keep_apart_only_what_was_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
