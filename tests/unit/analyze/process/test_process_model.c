/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* model: which process a thread is of at a time, its name, and whose maps it has */
#include <errno.h>

#include "tests/unit/modelstory.h"

static void forked_child_has_its_parents_maps_of_that_time(void **state)
{
	struct fixture f = setup();

	comm_at(&f, 0, 10, 10, "sh", false);
	map_at(&f, 0, 10, 0x1000, 0x2000, 0, "/bin/sh");
	fork_at(&f, 100, 10, 11, 11);
	map_at(&f, 200, 10, 0x5000, 0x6000, 0, "/lib/late");
	map_at(&f, 300, 11, 0x7000, 0x8000, 0, "/lib/child");
	seal(&f);
	assert_string_equal(ask(&f, 150, 11, 0x1000), "sh /bin/sh+0x0");
	assert_string_equal(ask(&f, 400, 11, 0x5000), "sh -");
	assert_string_equal(ask(&f, 400, 11, 0x7000), "sh /lib/child+0x0");
	assert_string_equal(ask(&f, 400, 10, 0x5000), "sh /lib/late+0x0");
	assert_string_equal(ask(&f, 400, 10, 0x7000), "sh -");
	teardown(&f);
}

static void exec_clears_the_maps(void **state)
{
	struct fixture f = setup();

	comm_at(&f, 0, 10, 10, "sh", false);
	map_at(&f, 0, 10, 0x1000, 0x2000, 0, "/bin/sh");
	comm_at(&f, 100, 10, 10, "ls", true);
	map_at(&f, 110, 10, 0x9000, 0xa000, 0, "/bin/ls");
	map_at(&f, 111, 10, 0xb000, 0xc000, 0, "[vdso]");
	map_at(&f, 112, 10, 0xd000, 0xe000, 0, "/lib/libc.so");
	seal(&f);
	assert_string_equal(ask(&f, 99, 10, 0x1000), "sh /bin/sh+0x0");
	assert_string_equal(ask(&f, 112, 10, 0x1000), "ls -");
	assert_string_equal(ask(&f, 120, 10, 0x9000), "ls /bin/ls+0x0");
	assert_string_equal(ask(&f, 99, 10, 0x9000), "sh -");
	teardown(&f);
}

/* The thread that calls exec has its old user stack until the new program is mapped. */
static void stack_that_called_exec_keeps_its_maps_until_it_is_over(void **state)
{
	struct fixture f = setup();

	comm_at(&f, 0, 10, 10, "sh", false);
	map_at(&f, 0, 10, 0x1000, 0x3000, 0, "/bin/sh");
	comm_at(&f, 100, 10, 10, "ls", true);
	map_at(&f, 110, 10, 0x2000, 0x4000, 0, "/bin/ls");
	map_at(&f, 120, 10, 0x8000, 0x9000, 0, "[vdso]");
	fork_at(&f, 125, 10, 11, 11);
	map_at(&f, 130, 10, 0xd000, 0xe000, 0, "/lib/libc.so");
	seal(&f);
	assert_string_equal(ask(&f, 100, 10, 0x1000), "ls /bin/sh+0x0");
	assert_string_equal(ask(&f, 105, 10, 0x2000), "ls /bin/sh+0x1000");
	assert_string_equal(ask(&f, 110, 10, 0x2000), "ls /bin/ls+0x0");
	assert_string_equal(ask(&f, 125, 10, 0x1000), "ls /bin/sh+0x0");
	assert_string_equal(ask(&f, 126, 11, 0x1000), "ls -");
	assert_string_equal(ask(&f, 130, 10, 0x1000), "ls -");
	teardown(&f);
}

/* Without a vdso, the fourth mapping is not the exec's any more. */
static void exec_is_over_after_three_mappings(void **state)
{
	struct fixture f = setup();

	comm_at(&f, 0, 10, 10, "sh", false);
	map_at(&f, 0, 10, 0x1000, 0x2000, 0, "/bin/sh");
	comm_at(&f, 100, 10, 10, "ls", true);
	for (unsigned i = 0; i < 4; i++)
		map_at(&f, 110 + i, 10, 0x8000 + i * 0x1000, 0x9000 + i * 0x1000, 0, "/lib/x");
	seal(&f);
	assert_string_equal(ask(&f, 112, 10, 0x1000), "ls /bin/sh+0x0");
	assert_string_equal(ask(&f, 113, 10, 0x1000), "ls -");
	teardown(&f);
}

static void rename_keeps_the_maps(void **state)
{
	struct fixture f = setup();

	comm_at(&f, 0, 10, 10, "java", false);
	map_at(&f, 0, 10, 0x1000, 0x2000, 0, "/bin/java");
	fork_at(&f, 50, 10, 10, 12);
	comm_at(&f, 60, 10, 12, "GC Thread#0", false);
	seal(&f);
	assert_string_equal(ask_thread(&f, 55, 10, 12, 0x1000), "java /bin/java+0x0");
	assert_string_equal(ask_thread(&f, 60, 10, 12, 0x1000), "GC Thread#0 /bin/java+0x0");
	assert_string_equal(ask_thread(&f, 60, 10, 10, 0x1000), "java /bin/java+0x0");
	teardown(&f);
}

static void thread_sees_what_its_process_maps_later(void **state)
{
	struct fixture f = setup();

	comm_at(&f, 0, 10, 10, "a", false);
	fork_at(&f, 50, 10, 10, 12);
	map_at(&f, 60, 10, 0x1000, 0x2000, 0, "/lib/x");
	seal(&f);
	assert_string_equal(ask_thread(&f, 70, 10, 12, 0x1000), "a /lib/x+0x0");
	teardown(&f);
}

static void reused_pid_is_another_process(void **state)
{
	struct fixture f = setup();

	comm_at(&f, 0, 10, 10, "one", false);
	map_at(&f, 0, 10, 0x1000, 0x2000, 0, "/bin/one");
	comm_at(&f, 0, 20, 20, "two", false);
	map_at(&f, 0, 20, 0x1000, 0x2000, 0, "/bin/two");
	fork_at(&f, 500, 20, 10, 10);
	seal(&f);
	assert_string_equal(ask(&f, 499, 10, 0x1000), "one /bin/one+0x0");
	assert_string_equal(ask(&f, 500, 10, 0x1000), "two /bin/two+0x0");
	teardown(&f);
}

static void tid_reused_by_another_process_moves_there(void **state)
{
	struct fixture f = setup();

	comm_at(&f, 0, 10, 10, "one", false);
	fork_at(&f, 5, 10, 10, 15);
	comm_at(&f, 0, 20, 20, "two", false);
	fork_at(&f, 100, 20, 20, 15);
	seal(&f);
	assert_string_equal(ask_thread(&f, 50, 10, 15, 0), "one -");
	assert_string_equal(ask_thread(&f, 100, 20, 15, 0), "two -");
	teardown(&f);
}

static void order_of_arrival_does_not_matter(void **state)
{
	struct fixture f = setup();

	map_at(&f, 112, 11, 0xd000, 0xe000, 0, "/lib/libc.so");
	map_at(&f, 111, 11, 0xb000, 0xc000, 0, "[vdso]");
	map_at(&f, 110, 11, 0x9000, 0xa000, 0, "/bin/ls");
	comm_at(&f, 105, 11, 11, "ls", true);
	fork_at(&f, 100, 10, 11, 11);
	map_at(&f, 0, 10, 0x1000, 0x2000, 0, "/bin/sh");
	comm_at(&f, 0, 10, 10, "sh", false);
	seal(&f);
	assert_string_equal(ask(&f, 101, 11, 0x1000), "sh /bin/sh+0x0");
	assert_string_equal(ask(&f, 111, 11, 0x9000), "ls /bin/ls+0x0");
	assert_string_equal(ask(&f, 112, 11, 0x1000), "ls -");
	teardown(&f);
}

static void equal_times_apply_in_order_of_arrival(void **state)
{
	struct fixture f = setup();

	for (unsigned i = 0; i < 100; i++) {
		char comm[16];

		snprintf(comm, sizeof(comm), "c%u", i);
		comm_at(&f, 7, 10, 10, comm, false);
	}
	map_at(&f, 7, 10, 0x1000, 0x2000, 0, "/first");
	map_at(&f, 7, 10, 0x1000, 0x2000, 0, "/second");
	seal(&f);
	assert_string_equal(ask(&f, 7, 10, 0x1000), "c99 /second+0x0");
	teardown(&f);
}

/* perf lists the processes that already run as FORK, COMM, MMAP at time 0. */
static void listed_process_does_not_inherit(void **state)
{
	struct fixture f = setup();

	map_at(&f, 0, 1, 0x1000, 0x2000, 0, "/sbin/init");
	fork_at(&f, 0, 1, 10, 10);
	comm_at(&f, 0, 10, 10, "cat", false);
	map_at(&f, 0, 10, 0x9000, 0xa000, 0, "/bin/cat");
	add(&f, &(struct perfrec_side){
			.type = PERF_RECORD_FORK,
			.misc = PERF_RECORD_MISC_FORK_EXEC,
			.task = { .pid = 11, .ppid = 1, .tid = 11, .ptid = 1, .time_ns = 5 },
		});
	seal(&f);
	assert_string_equal(ask(&f, 10, 10, 0x1000), "cat -");
	assert_string_equal(ask(&f, 10, 10, 0x9000), "cat /bin/cat+0x0");
	assert_string_equal(ask(&f, 10, 11, 0x1000), "- -");
	teardown(&f);
}

/* The time inside a listed FORK is the process's start; the record itself is from time 0. */
static void listed_process_keeps_what_follows_its_fork(void **state)
{
	struct fixture f = setup();

	add(&f, &(struct perfrec_side){
			.type = PERF_RECORD_FORK,
			.misc = PERF_RECORD_MISC_FORK_EXEC,
			.task = { .pid = 10, .tid = 10, .time_ns = 500 },
		});
	comm_at(&f, 0, 10, 10, "cat", false);
	map_at(&f, 0, 10, 0x9000, 0xa000, 0, "/bin/cat");
	seal(&f);
	assert_string_equal(ask(&f, 1000, 10, 0x9000), "cat /bin/cat+0x0");
	teardown(&f);
}

static void exit_of_the_leader_leaves_its_threads(void **state)
{
	struct fixture f = setup();

	comm_at(&f, 0, 10, 10, "a", false);
	map_at(&f, 0, 10, 0x1000, 0x2000, 0, "/a");
	fork_at(&f, 5, 10, 10, 12);
	add(&f, &(struct perfrec_side){
			.type = PERF_RECORD_EXIT,
			.id.time_ns = 50,
			.task = { .pid = 10, .tid = 10, .time_ns = 50 },
		});
	seal(&f);
	assert_string_equal(ask_thread(&f, 60, 10, 12, 0x1000), "a /a+0x0");
	assert_string_equal(ask(&f, 60, 10, 0x1000), "a /a+0x0");
	assert_int_equal(process_model_counts(f.m)->exits, 1);
	teardown(&f);
}

static void unknown_thread_borrows_the_maps_of_its_process(void **state)
{
	struct fixture f = setup();

	comm_at(&f, 0, 10, 10, "a", false);
	map_at(&f, 0, 10, 0x1000, 0x2000, 0, "/a");
	seal(&f);
	assert_string_equal(ask_thread(&f, 60, 10, 99, 0x1000), "- /a+0x0");
	teardown(&f);
}

static void unknown_process_has_nothing(void **state)
{
	struct fixture f = setup();
	struct process_model_where where;

	seal(&f);
	process_model_thread(f.m, 4711, 4711, 5, &where);
	assert_int_equal(where.epoch, PROCESS_MODEL_NONE);
	assert_string_equal(ask(&f, 5, 4711, 0x1000), "- -");
	teardown(&f);
}

static void idle_task_is_called_swapper(void **state)
{
	struct fixture f = setup();

	seal(&f);
	assert_string_equal(ask(&f, 5, 0, 0x1000), "swapper -");
	teardown(&f);
}

static void losses_are_added_up(void **state)
{
	struct fixture f = setup();
	struct perfrec_side side = { .type = PERF_RECORD_LOST, .lost.count = 7 };

	add(&f, &side);
	add(&f, &side);
	side.type = PERF_RECORD_LOST_SAMPLES;
	add(&f, &side);
	process_model_add_unread(f.m, PERF_RECORD_THROTTLE, false);
	process_model_add_unread(f.m, 4000, false);
	assert_int_equal(process_model_counts(f.m)->lost_events, 14);
	assert_int_equal(process_model_counts(f.m)->lost_samples, 7);
	assert_int_equal(process_model_counts(f.m)->throttled, 1);
	assert_int_equal(process_model_counts(f.m)->unknown, 1);
	teardown(&f);
}

static bool same_where(const struct process_model_where *a, const struct process_model_where *b)
{
	return a->epoch == b->epoch && a->space == b->space && a->comm == b->comm;
}

/* For all times that it names, process_model_thread() answers as it did. */
static void answer_holds_for_the_times_it_names(void **state)
{
	static const uint32_t tasks[][2] = { { 10, 10 }, { 10, 11 }, { 10, 12 },
					     { 20, 20 }, { 20, 11 }, { 77, 77 } };
	struct fixture f = setup();
	struct process_model_where where, there;
	uint64_t from_ns, to_ns;
	unsigned changes = 0;

	comm_at(&f, 10, 10, 10, "ten", true);
	map_at(&f, 12, 10, 0x1000, 0x2000, 0, "/bin/a");
	fork_at(&f, 20, 10, 10, 11);
	comm_at(&f, 25, 10, 11, "worker", false);
	map_at(&f, 30, 10, 0x1000, 0x2000, 0, "/bin/b"); /* another space */
	fork_at(&f, 40, 10, 20, 20);
	comm_at(&f, 45, 20, 20, "twenty", true);
	map_at(&f, 46, 20, 0x1000, 0x2000, 0, "/bin/c");
	fork_at(&f, 50, 20, 20, 11); /* the tid again */
	assert_int_equal(process_model_seal(f.m), 0);
	for (size_t t = 0; t < sizeof(tasks) / sizeof(tasks[0]); t++) {
		for (uint64_t now_ns = 0; now_ns < 60; now_ns++) {
			process_model_thread_while(f.m, tasks[t][0], tasks[t][1], now_ns, &where,
						   &from_ns, &to_ns);
			assert_true(from_ns <= now_ns && now_ns <= to_ns);
			for (uint64_t at_ns = from_ns; at_ns <= to_ns && at_ns < 60; at_ns++) {
				process_model_thread(f.m, tasks[t][0], tasks[t][1], at_ns, &there);
				assert_true(same_where(&where, &there));
			}
			changes += to_ns == now_ns;
		}
	}
	assert_true(changes >= 8); /* an answer is not always of one moment, nor of all */
	assert_true(changes < 60);
	teardown(&f);
}

static void sealed_model_takes_nothing_more(void **state)
{
	struct fixture f = setup();
	struct perfrec_side side = { .type = PERF_RECORD_COMM, .comm.comm = "x" };
	struct buildid id = { .size_bytes = 20 };

	seal(&f);
	assert_int_equal(process_model_add(f.m, &side), -EALREADY);
	assert_int_equal(process_model_add_build_id(f.m, "/x", &id), -EALREADY);
	assert_int_equal(process_model_seal(f.m), -EALREADY);
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forked_child_has_its_parents_maps_of_that_time),
		cmocka_unit_test(exec_clears_the_maps),
		cmocka_unit_test(stack_that_called_exec_keeps_its_maps_until_it_is_over),
		cmocka_unit_test(exec_is_over_after_three_mappings),
		cmocka_unit_test(rename_keeps_the_maps),
		cmocka_unit_test(thread_sees_what_its_process_maps_later),
		cmocka_unit_test(reused_pid_is_another_process),
		cmocka_unit_test(tid_reused_by_another_process_moves_there),
		cmocka_unit_test(order_of_arrival_does_not_matter),
		cmocka_unit_test(equal_times_apply_in_order_of_arrival),
		cmocka_unit_test(listed_process_does_not_inherit),
		cmocka_unit_test(listed_process_keeps_what_follows_its_fork),
		cmocka_unit_test(exit_of_the_leader_leaves_its_threads),
		cmocka_unit_test(unknown_thread_borrows_the_maps_of_its_process),
		cmocka_unit_test(unknown_process_has_nothing),
		cmocka_unit_test(idle_task_is_called_swapper),
		cmocka_unit_test(losses_are_added_up),
		cmocka_unit_test(answer_holds_for_the_times_it_names),
		cmocka_unit_test(sealed_model_takes_nothing_more),
	};

	return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}
