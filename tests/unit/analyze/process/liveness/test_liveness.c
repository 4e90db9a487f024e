/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* liveness: which records matter, shown from the last to the first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "analyze/process/liveness/liveness.h"
#include "analyze/process/liveness/reverse_merge.h"

/* ---- liveness ---- */

/* In the order of time; of ids that are used again. */
struct story_event {
	char kind; /* f: fork; c: comm; x: exec; m: map */
	uint32_t pid, tid, ppid, ptid;
	uint64_t time_ns;
};

struct story_sample {
	uint32_t pid, tid;
	uint64_t time_ns;
};

/*
 * Shows all of them from the last; needed[i] is '1' where event i matters.  Whether it has to be done
 * again.  Samples in the order of time.
 */
static bool show(struct liveness *k, const struct story_event *e, size_t count,
		 const struct story_sample *samples, size_t sample_count, char *needed)
{
	size_t retained[16];

	memset(needed, '0', count);
	needed[count] = '\0';
	while (count--) {
		const struct liveness_task task = { e[count].pid, e[count].tid, e[count].ppid,
						    e[count].ptid };
		uint32_t number;
		int needed_now;

		for (; sample_count && samples[sample_count - 1].time_ns >= e[count].time_ns;
		     sample_count--)
			assert_int_equal(liveness_ask(k, samples[sample_count - 1].pid,
						      samples[sample_count - 1].tid),
					 0);
		if (e[count].kind == 'f')
			needed_now = liveness_fork(k, &task, &number);
		else if (e[count].kind == 'm')
			needed_now = liveness_map(k, task.pid, e[count].time_ns, &number);
		else
			needed_now = liveness_comm(k, task.pid, task.tid, e[count].kind == 'x',
						   &number);
		assert_true(needed_now >= 0);
		if (needed_now)
			retained[number] = count;
	}
	while (sample_count--)
		assert_int_equal(
			liveness_ask(k, samples[sample_count].pid, samples[sample_count].tid), 0);
	for (uint32_t i = 0; i < k->record_count; i++)
		needed[retained[i]] = '1';
	for (uint32_t i = 0; i < k->free_count; i++)
		needed[retained[k->free[i]]] = '0';
	return liveness_again(k);
}

static void expect_samples(struct liveness *k, const struct story_sample *samples, size_t count)
{
	for (size_t i = 0; i < count; i++)
		assert_int_equal(
			liveness_expect(k, samples[i].pid, samples[i].tid, samples[i].time_ns), 0);
}

/* The records that matter to samples at 10 and at 20 of this thread. */
static void check_needed(const struct story_event *events, size_t count, uint32_t pid, uint32_t tid,
			 const char *want)
{
	const struct story_sample samples[] = { { pid, tid, 10 }, { pid, tid, 20 } };
	struct liveness k = { 0 };
	char needed[16];

	expect_samples(&k, samples, 2);
	assert_false(show(&k, events, count, samples, 2, needed));
	assert_string_equal(needed, want);
	liveness_done(&k);
}

static void what_an_id_was_before_its_fork_is_not_needed(void **state)
{
	static const struct story_event events[] = {
		{ 'm', 1, 0, 0, 0, 1 }, /* of the ancestor, by the time of the fork */
		{ 'm', 9, 0, 0, 0, 2 }, /* of a stranger */
		{ 'f', 5, 5, 9, 9, 3 }, /* another 5 */
		{ 'm', 5, 0, 0, 0, 4 },  { 'f', 5, 5, 1, 1, 5 }, /* the one that is asked for */
		{ 'm', 1, 0, 0, 0, 6 },                          /* not of its child any more */
		{ 'm', 5, 0, 0, 0, 7 },  { 'x', 5, 5, 0, 0, 8 }, /* its maps still count */
		{ 'f', 6, 6, 5, 5, 9 },                          /* 5 is known */
		{ 'm', 5, 0, 0, 0, 30 },                         /* behind the slice */
		{ 'm', 6, 0, 0, 0, 31 },
	};

	check_needed(events, 11, 5, 5, "10001011010");
}

static void a_process_known_by_nothing_else_is_known_by_a_fork(void **state)
{
	static const struct story_event events[] = {
		{ 'f', 7, 7, 5, 5, 3 },
		{ 'f', 8, 8, 5, 5, 4 },
	};

	check_needed(events, 2, 5, 5, "10");
}

static void threads_may_be_of_what_their_process_was(void **state)
{
	static const struct story_event events[] = {
		{ 'm', 5, 0, 0, 0, 1 },
		{ 'f', 5, 55, 5, 5, 2 }, /* the thread */
		{ 'm', 5, 0, 0, 0, 3 },
		{ 'f', 5, 5, 1, 1, 4 }, /* the same process id again */
	};

	check_needed(events, 4, 5, 55, "1111");
}

/* Only its records contain which of the two it is at a moment. */
static void threads_of_two_processes_keep_both(void **state)
{
	static const struct story_event events[] = {
		{ 'm', 5, 0, 0, 0, 1 }, { 'f', 5, 55, 5, 5, 2 },  { 'm', 5, 0, 0, 0, 3 },
		{ 'f', 5, 5, 1, 1, 4 }, { 'f', 6, 55, 6, 6, 12 },
	};
	static const struct story_sample samples[] = { { 5, 55, 13 }, { 6, 55, 14 } };
	struct liveness k = { 0 };
	char needed[16];

	expect_samples(&k, samples, 2);
	assert_false(show(&k, events, 5, samples, 2, needed));
	assert_string_equal(needed, "11111");
	liveness_done(&k);
}

static void latecomers_need_another_look(void **state)
{
	static const struct story_event events[] = {
		{ 'm', 1, 0, 0, 0, 1 },
		{ 'f', 5, 5, 1, 1, 30 },
		{ 'm', 5, 0, 0, 0, 31 },
	};
	static const struct story_sample samples[] = { { 5, 5, 20 } };
	struct liveness k = { 0 };
	char needed[16];

	expect_samples(&k, samples, 1);
	assert_true(show(&k, events, 3, samples, 1, needed));
	assert_string_equal(needed, "000");
	assert_false(show(&k, events, 3, samples, 1, needed));
	assert_string_equal(needed, "111");
	liveness_done(&k);
}

static void what_is_mapped_behind_a_sample_is_needed_until_the_next_program(void **state)
{
	static const struct story_event events[] = {
		{ 'f', 5, 5, 1, 1, 1 },  { 'm', 5, 0, 0, 0, 2 },  { 'm', 5, 0, 0, 0, 25 },
		{ 'x', 5, 5, 0, 0, 26 }, { 'm', 5, 0, 0, 0, 27 }, { 'f', 5, 5, 1, 1, 30 },
		{ 'm', 5, 0, 0, 0, 31 },
	};

	check_needed(events, 7, 5, 5, "1110000");
}

static void all_records_of_a_process_that_stays_are_needed(void **state)
{
	static const struct story_event events[] = {
		{ 'm', 1, 0, 0, 0, 1 }, { 'f', 5, 5, 1, 1, 2 },  { 'f', 5, 5, 9, 9, 3 },
		{ 'x', 5, 5, 0, 0, 4 }, { 'm', 5, 0, 0, 0, 50 },
	};
	struct liveness k = { 0 };
	char needed[16];

	assert_int_equal(liveness_keep(&k, 5), 0);
	assert_false(show(&k, events, 5, NULL, 0, needed));
	assert_string_equal(needed, "11111");
	liveness_done(&k);
}

static void long_chains_are_followed(void **state)
{
	struct liveness k = { 0 };
	uint32_t count = 0;

	assert_int_equal(liveness_expect(&k, 100000, 100000, 200000), 0);
	assert_int_equal(liveness_ask(&k, 100000, 100000), 0);
	for (uint32_t i = 100000; i > 1; i--) {
		const struct liveness_task child = { i, i, i - 1, i - 1 };
		const struct liveness_task other = { i + 200000, i + 200000, i + 1, i + 1 };

		assert_int_equal(liveness_fork(&k, &other, &count), 0);
		assert_int_equal(liveness_fork(&k, &child, &count), 1);
	}
	assert_false(liveness_again(&k));
	liveness_done(&k);
}

/* ---- turns ---- */

/* A block has eight records of its own time and two of the end of one before, which may stand behind it. */
static void turns_come_from_the_last_and_little_is_held(void **state)
{
	const uint64_t blocks = 4000;
	struct perf_event_header header[8] = { { .size = sizeof(header) } };
	struct reverse_merge t = { 0 };
	struct held last = { UINT64_MAX, UINT64_MAX, 0 };
	uint64_t seen = 0;

	for (uint64_t f = blocks; f-- > 0;) {
		const struct record rec = { .header = header, .block = (uint32_t)f ^ 1 };

		for (uint64_t i = 0; i < 10; i++)
			assert_int_equal(reverse_merge_hold(&t, &rec,
							    i < 2 ? (f ? f * 100 - 10 : 0)
								  : f * 100 + 10 * (i ^ 1)),
					 0);
		assert_int_equal(reverse_merge_end_block(&t, f ? (f - 1) * 100 + 90 : 0), 0);
		if (!f)
			assert_int_equal(reverse_merge_end(&t), 0);
		for (size_t i = 0; i < t.turn.count; i++, seen++) {
			const struct held *h = &t.turn.list[i];

			assert_true(h->time_ns < last.time_ns ||
				    (h->time_ns == last.time_ns && h->place < last.place));
			last = *h;
		}
		assert_int_equal(reverse_merge_forget(&t), 0);
		assert_true(t.pile.count < 200000);
	}
	assert_int_equal(seen, 10 * blocks);
	reverse_merge_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_an_id_was_before_its_fork_is_not_needed),
		cmocka_unit_test(a_process_known_by_nothing_else_is_known_by_a_fork),
		cmocka_unit_test(threads_may_be_of_what_their_process_was),
		cmocka_unit_test(threads_of_two_processes_keep_both),
		cmocka_unit_test(latecomers_need_another_look),
		cmocka_unit_test(what_is_mapped_behind_a_sample_is_needed_until_the_next_program),
		cmocka_unit_test(all_records_of_a_process_that_stays_are_needed),
		cmocka_unit_test(long_chains_are_followed),
		cmocka_unit_test(turns_come_from_the_last_and_little_is_held),
	};

	return cmocka_run_group_tests_name("liveness", tests, NULL, NULL);
}
