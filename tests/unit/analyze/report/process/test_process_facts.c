/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* A capture of a process that was forked, started a thread, and became another program */
#include "analyze/report/process/process_facts.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lib/gen/captures.h"

enum { PARENT = 7, PID = 8, THREAD = 9, PERIOD = 10101010 }; /* that of rec_sample() */

#define MOUNT_NS 4026531840u
#define HOST_PID 1234u

static void side(struct maker *m, size_t size, uint64_t time_ns)
{
	assert_int_equal(writer_record(m->w, EBX_STREAM_SIDE, m->rec, size, time_ns, -1), 0);
}

static void start_thread(struct maker *m, uint64_t time_ns)
{
	size_t size = rec_task(m->rec, PERF_RECORD_FORK, PID, PID, time_ns);

	le32_store(m->rec + 16, THREAD);
	side(m, size, time_ns);
	side(m, rec_comm(m->rec, PID, THREAD, "worker", time_ns + 1), time_ns + 1);
}

static void enter_namespaces(struct maker *m, uint32_t pid, uint64_t inode, uint64_t time_ns)
{
	size_t size = 24;

	le32_store(m->rec + 8, pid);
	le32_store(m->rec + 12, pid);
	le64_store(m->rec + 16, 7);
	for (uint64_t i = 0; i < 7; i++, size += 16) {
		le64_store(m->rec + size, 4);
		le64_store(m->rec + size + 8, i == 5 ? inode : 0);
	}
	size = rec_tail(m->rec, size, pid, pid, time_ns);
	le32_store(m->rec + size - 12, HOST_PID);
	side(m, rec_finish(m->rec, size, PERF_RECORD_NAMESPACES, 0), time_ns);
}

static void sample(struct maker *m, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	const uint64_t chain[] = { REC_MMAP2_AT + 16 };
	struct rec_sample s = {
		.pid = pid, .tid = tid, .time_ns = time_ns, .chain = chain, .chain_count = 1
	};
	size_t size = rec_sample(m->rec, &s);

	assert_int_equal(writer_record(m->w, EBX_STREAM_CPU, m->rec, size, time_ns, 0), 0);
}

static struct bytes make_story(void)
{
	struct maker m;
	struct bytes b;
	size_t size;

	maker_begin(&m, false);
	maker_comm(&m, PARENT, "parent", 100);
	side(&m, rec_task(m.rec, PERF_RECORD_FORK, PID, PARENT, 200), 200);
	side(&m, rec_mmap2(m.rec, PID, "/nowhere/first", 210), 210);
	maker_comm(&m, PID, "child", 220);
	enter_namespaces(&m, PARENT, MOUNT_NS + 1, 230);
	enter_namespaces(&m, PID, MOUNT_NS, 240);
	sample(&m, PARENT, PARENT, 250);
	sample(&m, PID, PID, 260);
	start_thread(&m, 300);
	for (uint64_t i = 0; i < 3; i++)
		sample(&m, PID, THREAD, 310 + i);
	size = rec_comm(m.rec, PID, PID, "second", 400);
	le16_store(m.rec + 4, PERF_RECORD_MISC_COMM_EXEC);
	side(&m, size, 400);
	side(&m, rec_mmap2(m.rec, PID, "/nowhere/second", 410), 410);
	assert_int_equal(writer_finish(m.w, NULL, 0), 0);
	b = maker_bytes(&m);
	maker_end(&m);
	return b;
}

static void expect_programs(const struct process_facts *p, const struct string_table *names)
{
	assert_int_equal(p->program_count, 2);
	assert_int_equal(p->programs[0].since_ns, 200);
	assert_string_equal(string_table_text(names, p->programs[0].comm), "child");
	assert_int_equal(p->programs[1].since_ns, 400);
	assert_string_equal(string_table_text(names, p->programs[1].comm), "second");
	assert_int_equal(p->map_count, 2);
	assert_int_equal(p->maps[0].program, 0);
	assert_string_equal(p->maps[0].path, "/nowhere/first");
	assert_int_equal(p->maps[1].program, 1);
	assert_string_equal(p->maps[1].path, "/nowhere/second");
}

static void all_that_is_recorded_of_a_process_is_found_and_nothing_of_its_parent(void **state)
{
	struct bytes b = make_story();
	struct report_query q = { .fields = GROUP_COMM };
	struct process_facts p;
	struct filter filter;
	struct capture *c;
	struct report r;
	uint8_t *mounts;
	size_t size;

	filter_init(&filter);
	assert_int_equal(filter_add_pids(&filter, "8", NULL), 0);
	q.filter = &filter;
	assert_int_equal(capture_from_bytes(b.data, b.size, &c, NULL), 0);
	assert_int_equal(report_open_with_tasks(c, &r), 0);
	assert_int_equal(process_facts_make(&r, PID, &q, &p), 0);
	expect_programs(&p, r.names);
	assert_int_equal(p.ppid, PARENT);
	assert_int_equal(p.mount_ns, MOUNT_NS);
	assert_int_equal(p.host_pid, HOST_PID);
	assert_int_equal(p.thread_count, 2);
	assert_int_equal(p.threads[0].tid, THREAD);
	assert_int_equal(p.threads[0].samples, 3);
	assert_int_equal(p.threads[0].started_ns, 300);
	assert_string_equal(string_table_text(r.names, p.threads[0].comm), "worker");
	assert_int_equal(p.threads[1].samples, 1);
	assert_int_equal(p.samples, 4);
	assert_int_equal(p.processes.by, SUMMARY_TIME_SAMPLES);
	assert_int_equal(p.run_ns, 4 * PERIOD); /* of a clock, whose period is time */
	assert_int_equal(process_facts_mounts(&p, c, &mounts, &size), -ENOENT);
	process_facts_done(&p);
	report_done(&r);
	capture_close(c);
	filter_done(&filter);
	free(b.data);
}

static void of_a_pid_that_never_was_nothing_is_found(void **state)
{
	struct bytes b = make_story();
	struct report_query q = { .fields = GROUP_COMM };
	struct process_facts p;
	struct filter filter;
	struct capture *c;
	struct report r;

	filter_init(&filter);
	assert_int_equal(filter_add_pids(&filter, "4321", NULL), 0);
	q.filter = &filter;
	assert_int_equal(capture_from_bytes(b.data, b.size, &c, NULL), 0);
	assert_int_equal(report_open_with_tasks(c, &r), 0);
	assert_int_equal(process_facts_make(&r, 4321, &q, &p), 0);
	assert_int_equal(p.program_count, 0);
	assert_int_equal(p.thread_count, 0);
	assert_int_equal(p.samples, 0);
	assert_true(p.ppid == TASKS_NONE);
	process_facts_done(&p);
	report_done(&r);
	capture_close(c);
	filter_done(&filter);
	free(b.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			all_that_is_recorded_of_a_process_is_found_and_nothing_of_its_parent),
		cmocka_unit_test(of_a_pid_that_never_was_nothing_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
