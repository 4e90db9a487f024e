/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/process/pid_namespace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

#include "format/base/cursor.h"
#include "format/base/foreign.h"
#include "record/events/side_record.h"

static const struct pid_namespace inside = { .inside = true, .ending_fd = -1 };
static const struct pid_namespace host = { .ending_fd = -1 };

static bool wants(const struct pid_namespace *p, struct side_record *r)
{
	return pid_namespace_wants(p, (void *)r->bytes);
}

static void pid_namespace_records_of_tasks_outside_are_left_out(void **state)
{
	static const uint32_t outside[] = { 0, UINT32_MAX };
	const struct mapping m = { .path = "/x", .size_bytes = 1 };
	struct side_record_namespace ns[SIDE_RECORD_NAMESPACES] = { { 0 } };
	struct side_record r = { 0 };

	for (size_t i = 0; i < 2; i++) {
		struct mapping map = m;

		map.pid = map.tid = outside[i];
		side_record_mmap2(&r, &map);
		assert_false(wants(&inside, &r));
		assert_true(wants(&host, &r)); /* there 0 is the idle task, -1 the kernel */
		side_record_comm(&r, outside[i], outside[i], "x");
		assert_false(wants(&inside, &r));
		side_record_fork(&r, outside[i], outside[i], 7, 7, 0);
		assert_false(wants(&inside, &r));
		side_record_namespaces(&r, outside[i], outside[i], ns, 0);
		assert_false(wants(&inside, &r));
	}
	side_record_comm(&r, 5, 6, "x");
	assert_true(wants(&inside, &r));
	side_record_namespaces(&r, 5, 6, ns, 0);
	assert_true(wants(&inside, &r));
	side_record_cgroup(&r, 1, "/"); /* of the machine, not of a process */
	assert_true(wants(&inside, &r));
}

static void pid_namespace_a_parent_outside_is_the_foreign_one(void **state)
{
	struct side_record r = { 0 };

	side_record_fork(&r, 5, 5, 0, 0, 0);
	assert_true(wants(&inside, &r));
	assert_int_equal(le32_load(r.bytes + 12), FOREIGN_PID);
	assert_int_equal(le32_load(r.bytes + 20), FOREIGN_PID);
	side_record_fork(&r, 5, 5, 3, 4, 0);
	assert_true(wants(&inside, &r));
	assert_int_equal(le32_load(r.bytes + 12), 3);
	assert_int_equal(le32_load(r.bytes + 20), 4);
	side_record_fork(&r, 5, 5, 0, 0, 0);
	assert_true(wants(&host, &r));
	assert_int_equal(le32_load(r.bytes + 12), 0);
}

static void pid_namespace_samples_of_tasks_outside_are_of_a_thread_by_cpu(void **state)
{
	uint32_t pid = 0, tid = 0;

	pid_namespace_name_sample(&inside, 3, &pid, &tid);
	assert_true(pid == FOREIGN_PID && tid == FOREIGN_PID + 3);
	pid = tid = UINT32_MAX;
	pid_namespace_name_sample(&inside, 0, &pid, &tid);
	assert_true(pid == FOREIGN_PID && tid == FOREIGN_PID);
	pid = 4, tid = 5;
	pid_namespace_name_sample(&inside, 3, &pid, &tid);
	assert_true(pid == 4 && tid == 5);
	pid = tid = 0;
	pid_namespace_name_sample(&host, 3, &pid, &tid);
	assert_true(pid == 0 && tid == 0);
}

static void pid_namespace_without_bpf_no_host_id_is_known(void **state)
{
	assert_int_equal(pid_namespace_host_tid(&inside, (uint32_t)getpid()), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pid_namespace_records_of_tasks_outside_are_left_out),
		cmocka_unit_test(pid_namespace_a_parent_outside_is_the_foreign_one),
		cmocka_unit_test(pid_namespace_samples_of_tasks_outside_are_of_a_thread_by_cpu),
		cmocka_unit_test(pid_namespace_without_bpf_no_host_id_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
