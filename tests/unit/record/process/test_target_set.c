/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/process/target_set.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "record/events/side_record.h"

/* A set without its BPF half. */
static struct targets set_of(uint32_t pid)
{
	struct targets t = TARGETS_NONE;

	assert_int_equal(u64map_put(&t.pids, pid, 0, 0), 0);
	return t;
}

static bool want_fork(struct targets *t, uint32_t pid, uint32_t tid, uint32_t ppid)
{
	struct side_record r = { 0 };

	side_record_fork(&r, pid, tid, ppid, ppid, 0);
	return targets_want(t, (const void *)r.bytes, 0);
}

static bool want_comm(struct targets *t, uint32_t pid)
{
	struct side_record r = { 0 };

	side_record_comm(&r, pid, pid, "x");
	return targets_want(t, (const void *)r.bytes, 0);
}

static void targets_follow_children_and_their_children(void **state)
{
	struct targets t = set_of(10);

	assert_true(want_fork(&t, 11, 11, 10));
	assert_true(want_fork(&t, 12, 12, 11));
	assert_true(want_comm(&t, 10) && want_comm(&t, 11) && want_comm(&t, 12));
	targets_done(&t);
}

static void targets_take_threads_with_their_process(void **state)
{
	struct targets t = set_of(10);

	assert_true(want_fork(&t, 10, 1000, 10));
	assert_false(want_fork(&t, 20, 2000, 20));
	assert_false(targets_has(&t, 1000));
	targets_done(&t);
}

static void targets_leave_others_out(void **state)
{
	struct targets t = set_of(10);

	assert_false(want_fork(&t, 21, 21, 20));
	assert_false(want_comm(&t, 21));
	assert_false(want_comm(&t, 1));
	targets_done(&t);
}

static void targets_forget_an_id_that_another_process_gets(void **state)
{
	struct targets t = set_of(10);

	assert_true(want_fork(&t, 11, 11, 10));
	assert_false(want_fork(&t, 11, 11, 1));
	assert_false(want_comm(&t, 11));
	targets_done(&t);
}

static void targets_keep_what_is_of_the_machine(void **state)
{
	struct targets t = set_of(10);
	struct side_record r = { 0 };

	side_record_cgroup(&r, 21, "/");
	assert_true(targets_want(&t, (const void *)r.bytes, 0));
	side_record_lost(&r, 21, 1);
	assert_true(targets_want(&t, (const void *)r.bytes, 0));
	targets_done(&t);
}

#define SECOND_NS 1000000000ULL

/* The event that selects a process comes by another ring than its FORK record, and is read before. */
static void targets_selected_by_an_event_stay_until_a_later_fork(void **state)
{
	struct side_record r = { 0 };
	struct targets t = TARGETS_NONE;

	t.selects = true;
	assert_int_equal(targets_note_selected(&t, 11, 5 * SECOND_NS), 0);
	side_record_fork(&r, 11, 11, 1, 1, 0);
	assert_true(targets_want(&t, (const void *)r.bytes, 5 * SECOND_NS));
	assert_true(want_comm(&t, 11));
	side_record_fork(&r, 12, 12, 11, 11, 0);
	assert_false(targets_want(&t, (const void *)r.bytes, 6 * SECOND_NS));
	side_record_fork(&r, 11, 11, 1, 1, 0);
	assert_false(targets_want(&t, (const void *)r.bytes, 7 * SECOND_NS));
	assert_false(want_comm(&t, 11));
	targets_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(targets_follow_children_and_their_children),
		cmocka_unit_test(targets_take_threads_with_their_process),
		cmocka_unit_test(targets_leave_others_out),
		cmocka_unit_test(targets_forget_an_id_that_another_process_gets),
		cmocka_unit_test(targets_keep_what_is_of_the_machine),
		cmocka_unit_test(targets_selected_by_an_event_stay_until_a_later_fork),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
