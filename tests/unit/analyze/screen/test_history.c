/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "tests/unit/analyze/screen/seconds.h"

/* The sum of all samples of some seconds. */
static uint64_t samples_in(const struct history *h, size_t first, size_t count)
{
	struct stack_table stacks;
	uint64_t sum = 0;

	assert_int_equal(history_select(h, first, count, HISTORY_CPU, &stacks), 0);
	for (size_t i = 0; i < stacks.entry_count; i++)
		sum += stacks.entries[i].sample_count;
	stack_table_done(&stacks);
	return sum;
}

static void put_second(struct history *h, uint64_t second, uint64_t samples)
{
	struct history_second *s = begin_second(h, second);

	put_stack(h, s, "a", 1, "main work", samples, 0);
	assert_int_equal(history_close_second(h, s), 0);
}

static void any_run_of_seconds_adds_up(void **state)
{
	struct history h;

	(void)state;
	assert_int_equal(history_init(&h, 100, 1 << 20), 0);
	for (uint64_t second = 1; second <= 5; second++)
		put_second(&h, second, second);
	assert_int_equal(samples_in(&h, 0, 5), 15);
	assert_int_equal(samples_in(&h, 1, 2), 5);
	assert_int_equal(samples_in(&h, 4, 9), 5);
	history_done(&h);
}

static void a_second_that_is_open_is_added_to_and_none_before_it(void **state)
{
	struct history h;
	struct history_second *s;

	(void)state;
	assert_int_equal(history_init(&h, 100, 1 << 20), 0);
	s = begin_second(&h, 4);
	put_stack(&h, s, "a", 1, "main", 1, 0);
	assert_ptr_equal(history_second_of(&h, 4), s);
	assert_null(history_second_of(&h, 3));
	history_done(&h);
}

static void the_oldest_seconds_are_dropped_with_their_marks(void **state)
{
	struct history h;

	(void)state;
	assert_int_equal(history_init(&h, 3, 1 << 20), 0);
	assert_int_equal(history_add_mark(&h, 2500000000, "later"), 0);
	assert_int_equal(history_add_mark(&h, 1500000000, "first"), 0);
	assert_string_equal(h.marks[0].text, "first");
	for (uint64_t second = 1; second <= 4; second++)
		put_second(&h, second, 1);
	assert_int_equal(h.count, 3);
	assert_int_equal(h.seconds[0].second, 2);
	assert_int_equal(h.mark_count, 1);
	assert_string_equal(h.marks[0].text, "later");
	history_done(&h);
}

static void marks_that_any_process_sets_are_bounded_and_the_last_ones_stay(void **state)
{
	struct history h;
	char text[16];

	(void)state;
	assert_int_equal(history_init(&h, 3, 1 << 20), 0);
	for (uint64_t i = 1; i <= 100000; i++) {
		snprintf(text, sizeof(text), "%d", (int)i);
		assert_int_equal(history_add_mark(&h, i, text), 0);
	}
	assert_in_range(h.mark_count, 10000, 20000);
	assert_string_equal(h.marks[h.mark_count - 1].text, "100000");
	history_done(&h);
}

static void memory_is_bounded_and_the_last_second_stays(void **state)
{
	struct history h;

	(void)state;
	assert_int_equal(history_init(&h, 1000, 2000), 0);
	for (uint64_t second = 1; second <= 200; second++)
		put_second(&h, second, 1);
	assert_in_range(h.count, 1, 20);
	assert_in_range(history_bytes(&h), 1, 2000);
	assert_int_equal(h.seconds[h.count - 1].second, 200);
	history_done(&h);
}

/* As on a machine where programs come and go for days. */
static void names_of_tasks_that_are_gone_are_dropped_and_others_stay(void **state)
{
	struct history h;
	struct stack_table stacks;
	uint32_t pid = 1, label;

	(void)state;
	assert_int_equal(history_init(&h, 2, 16 << 20), 0);
	for (uint64_t second = 1; second <= 9; second++) {
		struct history_second *s = begin_second(&h, second);

		for (unsigned i = 0; i < 5000; i++, pid++) {
			char comm[16];

			snprintf(comm, sizeof(comm), "p%u", pid);
			put_stack(&h, s, comm, pid, "main work", 1, 0);
		}
		assert_int_equal(history_close_second(&h, s), 0);
	}
	assert_in_range(h.clean_ups, 1, 9);
	assert_in_range(h.task_count, 10000, 30010);
	assert_int_equal(samples_in(&h, 0, 2), 10000);
	assert_int_equal(history_select(&h, 1, 1, HISTORY_CPU, &stacks), 0);
	for (size_t i = 0; i < stacks.entry_count; i++) {
		char want[32];
		const struct history_task *t = &h.tasks[stacks.entries[i].key.group];

		snprintf(want, sizeof(want), "p%u %u", t->pid, t->pid);
		assert_in_range(t->pid, 40001, 45000);
		assert_int_equal(
			history_label(&h, HISTORY_BY_PROCESS, stacks.entries[i].key.group, &label),
			0);
		assert_string_equal(string_table_text(h.names, label), want);
	}
	stack_table_done(&stacks);
	assert_int_equal(history_find_frame(&h, "work", "/bin/p"), frame_of(&h, "work"));
	history_done(&h);
}

static void runnable_threads_are_the_mean_of_the_seconds_that_are_known(void **state)
{
	struct history h;

	(void)state;
	assert_int_equal(history_init(&h, 4, 1 << 20), 0);
	for (uint64_t second = 1; second <= 4; second++)
		put_second(&h, second, 1);
	assert_true(history_runnable(&h, 0, 4) < 0);
	history_set_runnable(&h, 2, 3.0);
	history_set_runnable(&h, 3, 6.0);
	assert_true(history_runnable(&h, 0, 4) == 4.5);
	assert_true(history_runnable(&h, 2, 1) == 6.0);
	history_set_runnable(&h, 6, 1.0); /* in place of second 2 */
	assert_true(history_runnable(&h, 0, 2) < 0);
	history_done(&h);
}

static void waits_are_added_to_a_closed_second(void **state)
{
	struct history h;
	struct stack_table times;

	(void)state;
	assert_int_equal(history_init(&h, 4, 1 << 20), 0);
	put_second(&h, 1, 5);
	assert_false(history_has(&h.seconds[0], HISTORY_OFFCPU));
	assert_true(history_has(&h.seconds[0], HISTORY_CPU));
	assert_int_equal(history_open(&h.seconds[0], HISTORY_WALL), 0);
	put_stack(&h, &h.seconds[0], "a", 1, "main k_wait [futex]", 1, 1000);
	history_close(&h.seconds[0], HISTORY_WALL);
	assert_true(history_has(&h.seconds[0], HISTORY_OFFCPU));
	assert_false(history_has(&h.seconds[0], HISTORY_WAKERS));
	assert_int_equal(history_select(&h, 0, 1, HISTORY_OFFCPU, &times), 0);
	assert_int_equal(times.entry_count, 1);
	assert_int_equal(times.entries[0].period_sum, 1000);
	stack_table_done(&times);
	assert_int_equal(samples_in(&h, 0, 1), 5);
	history_done(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_run_of_seconds_adds_up),
		cmocka_unit_test(a_second_that_is_open_is_added_to_and_none_before_it),
		cmocka_unit_test(the_oldest_seconds_are_dropped_with_their_marks),
		cmocka_unit_test(marks_that_any_process_sets_are_bounded_and_the_last_ones_stay),
		cmocka_unit_test(memory_is_bounded_and_the_last_second_stays),
		cmocka_unit_test(names_of_tasks_that_are_gone_are_dropped_and_others_stay),
		cmocka_unit_test(runnable_threads_are_the_mean_of_the_seconds_that_are_known),
		cmocka_unit_test(waits_are_added_to_a_closed_second),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
