/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "analyze/process/tasks.h"
#include "tests/lib/gen/captures.h"

struct world {
	struct bytes bytes;
	struct capture *capture;
	struct string_table *strings;
	struct tasks_reader *reader;
	struct tasks tasks;
};

static int open_world(void **state)
{
	static struct world w;
	struct maker m;

	memset(&w, 0, sizeof(w));
	maker_begin(&m, false);
	assert_int_equal(writer_finish(m.w, NULL, 0), 0);
	w.bytes = maker_bytes(&m);
	maker_end(&m);
	assert_int_equal(capture_from_bytes(w.bytes.data, w.bytes.size, &w.capture, NULL), 0);
	assert_int_equal(string_table_new(&w.strings), 0);
	assert_int_equal(tasks_reader_new(w.capture, w.strings, &w.reader), 0);
	*state = &w;
	return 0;
}

static int close_world(void **state)
{
	struct world *w = *state;

	tasks_done(&w->tasks);
	tasks_reader_free(w->reader);
	string_table_free(w->strings);
	capture_close(w->capture);
	free(w->bytes.data);
	return 0;
}

static void add_task(struct world *w, uint32_t type, uint32_t pid, uint32_t tid, uint32_t parent,
		     uint64_t time_ns)
{
	struct perfrec_side side = {
		.type = type,
		.id = { .time_ns = time_ns },
		.task = { .pid = pid, .tid = tid, .ppid = parent, .ptid = parent },
	};

	assert_int_equal(tasks_reader_add(w->reader, &side), 0);
}

static void add_comm(struct world *w, uint32_t pid, uint32_t tid, const char *comm, bool exec,
		     uint64_t time_ns)
{
	struct perfrec_side side = {
		.type = PERF_RECORD_COMM,
		.id = { .time_ns = time_ns },
		.comm = { .pid = pid, .tid = tid, .exec = exec, .comm = comm },
	};

	assert_int_equal(tasks_reader_add(w->reader, &side), 0);
}

static void finish(struct world *w)
{
	assert_int_equal(tasks_reader_finish(w->reader, &w->tasks), 0);
}

static const char *comm_at(const struct world *w, uint32_t tid, uint64_t time_ns)
{
	const struct tasks_life *life = tasks_at(&w->tasks, tid, time_ns);
	uint32_t comm = life ? tasks_comm_at(&w->tasks, life, time_ns) : TASKS_NONE;

	return comm == TASKS_NONE ? "none" : string_table_text(w->strings, comm);
}

static void a_renamed_task_has_the_name_of_each_moment(void **state)
{
	struct world *w = *state;

	add_comm(w, 7, 7, "sh", false, 0);
	add_comm(w, 7, 7, "make", true, 100);
	add_comm(w, 7, 7, "cc", true, 200);
	finish(w);
	assert_string_equal(comm_at(w, 7, 0), "sh");
	assert_string_equal(comm_at(w, 7, 99), "sh");
	assert_string_equal(comm_at(w, 7, 100), "make");
	assert_string_equal(comm_at(w, 7, 199), "make");
	assert_string_equal(comm_at(w, 7, 1000), "cc");
	assert_string_equal(comm_at(w, 8, 1000), "none");
	assert_int_equal(w->tasks.lives[0].comm,
			 tasks_comm_at(&w->tasks, &w->tasks.lives[0], UINT64_MAX));
}

static void names_of_tasks_that_rename_themselves_in_turn_stay_apart(void **state)
{
	struct world *w = *state;
	char name[16];

	for (uint32_t i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "%u-%u", 10 + i % 3, i);
		add_comm(w, 10 + i % 3, 10 + i % 3, name, false, 10 + i);
	}
	finish(w);
	for (uint32_t i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "%u-%u", 10 + i % 3, i);
		assert_string_equal(comm_at(w, 10 + i % 3, 10 + i), name);
	}
}

static void a_child_is_called_as_its_parent_was_at_the_fork(void **state)
{
	struct world *w = *state;

	add_comm(w, 7, 7, "sh", false, 0);
	add_task(w, PERF_RECORD_FORK, 8, 8, 7, 50);
	add_comm(w, 7, 7, "bash", false, 60);
	add_task(w, PERF_RECORD_FORK, 9, 9, 7, 70);
	add_comm(w, 9, 9, "ls", true, 80);
	finish(w);
	assert_string_equal(comm_at(w, 8, 100), "sh");
	assert_string_equal(comm_at(w, 9, 79), "bash");
	assert_string_equal(comm_at(w, 9, 80), "ls");
}

static void a_tid_that_is_used_again_is_another_life(void **state)
{
	struct world *w = *state;
	const struct tasks_life *life;

	add_task(w, PERF_RECORD_FORK, 8, 8, 1, 100);
	add_comm(w, 8, 8, "first", true, 101);
	add_task(w, PERF_RECORD_EXIT, 8, 8, 1, 200);
	add_task(w, PERF_RECORD_FORK, 8, 8, 2, 300);
	add_comm(w, 8, 8, "second", true, 301);
	finish(w);
	assert_int_equal(w->tasks.count, 2);
	assert_string_equal(comm_at(w, 8, 250), "first");
	assert_string_equal(comm_at(w, 8, 301), "second");
	life = tasks_at(&w->tasks, 8, 150);
	assert_non_null(life);
	assert_int_equal(life->ppid, 1);
	assert_int_equal(life->start_ns, 100);
	assert_int_equal(life->end_ns, 200);
	assert_int_equal(tasks_process(&w->tasks, 8), 1);
	assert_int_equal(tasks_process_during(&w->tasks, 8, 0, 250), 0);
	assert_int_equal(tasks_process_during(&w->tasks, 8, 190, 1000), 1);
	assert_int_equal(tasks_process_during(&w->tasks, 8, 210, 220),
			 1); /* no process is known: the last */
	assert_int_equal(tasks_process(&w->tasks, 9), TASKS_NONE);
}

static void a_fork_without_an_exit_before_it_ends_the_earlier_life(void **state)
{
	struct world *w = *state;

	add_task(w, PERF_RECORD_FORK, 8, 8, 1, 100);
	add_task(w, PERF_RECORD_FORK, 8, 8, 2, 300);
	finish(w);
	assert_int_equal(w->tasks.count, 2);
	assert_int_equal(w->tasks.lives[0].end_ns, 300);
	assert_int_equal(w->tasks.lives[1].end_ns, 0);
}

static void a_process_lasts_until_its_last_thread_ends(void **state)
{
	struct world *w = *state;

	add_task(w, PERF_RECORD_FORK, 8, 8, 1, 100);
	add_task(w, PERF_RECORD_FORK, 8, 9, 8, 110);
	add_task(w, PERF_RECORD_EXIT, 8, 8, 1, 200);
	add_task(w, PERF_RECORD_EXIT, 8, 9, 8, 300);
	finish(w);
	assert_int_equal(w->tasks.lives[0].end_ns, 300);
	assert_int_equal(w->tasks.lives[1].end_ns, 300);
	assert_true(tasks_is_process(&w->tasks.lives[0]));
	assert_false(tasks_is_process(&w->tasks.lives[1]));
	assert_int_equal(tasks_process(&w->tasks, 9), TASKS_NONE);
}

static void records_of_several_rings_are_put_into_the_order_of_time(void **state)
{
	struct world *w = *state;

	add_task(w, PERF_RECORD_EXIT, 8, 8, 1, 200);
	add_comm(w, 8, 8, "ls", true, 110);
	add_task(w, PERF_RECORD_FORK, 8, 8, 7, 100);
	add_comm(w, 7, 7, "sh", false, 0);
	finish(w);
	assert_int_equal(w->tasks.count, 2);
	assert_string_equal(comm_at(w, 8, 105), "sh");
	assert_string_equal(comm_at(w, 8, 110), "ls");
	assert_int_equal(w->tasks.lives[tasks_process(&w->tasks, 8)].end_ns, 200);
}

static void a_process_of_which_only_a_name_is_known_is_marked(void **state)
{
	struct world *w = *state;

	add_comm(w, 5, 5, "waker", false, 10);
	add_comm(w, 6, 6, "old", false, 0);
	add_task(w, PERF_RECORD_FORK, 6, 6, 1, 0);
	finish(w);
	assert_true(w->tasks.lives[tasks_process(&w->tasks, 5)].named_only);
	assert_false(w->tasks.lives[tasks_process(&w->tasks, 6)].named_only);
	assert_true(w->tasks.lives[tasks_process(&w->tasks, 6)].was_there);
	assert_int_equal(w->tasks.count, 2);
}

static void
kernel_threads_are_kthreadd_and_what_it_forked_and_never_was_another_program(void **state)
{
	struct world *w = *state;

	add_task(w, PERF_RECORD_FORK, 1, 1, 0, 0);
	add_comm(w, 1, 1, "init", false, 0);
	add_task(w, PERF_RECORD_FORK, 2, 2, 0, 0);
	add_comm(w, 2, 2, "kthreadd", false, 0);
	add_task(w, PERF_RECORD_FORK, 3, 3, 2, 0);
	add_task(w, PERF_RECORD_FORK, 4, 4, 1, 0);
	add_comm(w, 4, 4, "kthreadd", false, 0); /* only by name */
	add_task(w, PERF_RECORD_FORK, 5, 5, 2, 100);
	add_comm(w, 5, 5, "kworker/0:1", false, 101);
	add_task(w, PERF_RECORD_FORK, 6, 6, 5, 200);
	add_comm(w, 6, 6, "modprobe", true, 201); /* a program that the kernel started */
	add_task(w, PERF_RECORD_FORK, 7, 7, 6, 300);
	finish(w);
	for (uint32_t tid = 1; tid <= 7; tid++)
		assert_int_equal(tasks_at(&w->tasks, tid, UINT64_MAX)->is_kernel,
				 tid == 2 || tid == 3 || tid == 5);
}

/* More than wait at once: what is early enough in the file still comes in its turn. */
static void a_hundred_thousand_short_processes_are_as_many_lives(void **state)
{
	struct world *w = *state;
	enum { MANY = 100000 };

	for (uint32_t i = 0; i < MANY; i++) {
		uint32_t pid = 1000 + i % 5000;
		uint64_t time_ns = 1000 + 10ull * i;

		add_task(w, PERF_RECORD_EXIT, pid, pid, 1, time_ns + 5);
		add_task(w, PERF_RECORD_FORK, pid, pid, 1, time_ns);
	}
	finish(w);
	assert_int_equal(w->tasks.count, MANY);
	for (uint32_t i = 0; i < MANY; i++) {
		uint64_t time_ns = 1000 + 10ull * i;

		assert_int_equal(
			tasks_process_during(&w->tasks, 1000 + i % 5000, time_ns, time_ns + 5), i);
		assert_int_equal(w->tasks.lives[i].end_ns, time_ns + 5);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_world, close_world)
	const struct CMUnitTest tests[] = {
		TEST(a_renamed_task_has_the_name_of_each_moment),
		TEST(names_of_tasks_that_rename_themselves_in_turn_stay_apart),
		TEST(a_child_is_called_as_its_parent_was_at_the_fork),
		TEST(a_tid_that_is_used_again_is_another_life),
		TEST(a_fork_without_an_exit_before_it_ends_the_earlier_life),
		TEST(a_process_lasts_until_its_last_thread_ends),
		TEST(records_of_several_rings_are_put_into_the_order_of_time),
		TEST(a_process_of_which_only_a_name_is_known_is_marked),
		TEST(kernel_threads_are_kthreadd_and_what_it_forked_and_never_was_another_program),
		TEST(a_hundred_thousand_short_processes_are_as_many_lives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
