/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <errno.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "format/base/cursor.h"
#include "record/output/snapshot/process_state.h"
#include "record/events/side_record.h"

static struct process_state *state;
static struct side_record rec = { .id = 77, .time_ns = 5 };

static int begin(void **unused)
{
	return process_state_new(77, &state);
}

static int end(void **unused)
{
	process_state_free(state);
	return 0;
}

/* ---- records as the kernel writes them ---- */

static void give(size_t size_bytes)
{
	assert_int_equal(process_state_record(state, rec.bytes, size_bytes), 0);
}

static void give_fork(uint32_t pid, uint32_t tid, uint32_t ppid, uint32_t ptid)
{
	size_t size = side_record_fork(&rec, pid, tid, ppid, ptid, 5);

	le16_store(rec.bytes + 4, 0);
	give(size);
}

static void give_exit(uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	size_t size = side_record_fork(&rec, pid, tid, 1, 1, time_ns);

	le32_store(rec.bytes, PERF_RECORD_EXIT);
	le16_store(rec.bytes + 4, 0);
	give(size);
}

static void give_comm(uint32_t pid, uint32_t tid, const char *comm, bool exec)
{
	size_t size = side_record_comm(&rec, pid, tid, comm);

	if (exec)
		le16_store(rec.bytes + 4, PERF_RECORD_MISC_COMM_EXEC);
	give(size);
}

static void give_map(uint32_t pid, uint64_t start, uint64_t size_bytes, const char *path)
{
	struct mapping m = {
		.pid = pid, .tid = pid, .start = start, .size_bytes = size_bytes, .path = path
	};

	give(side_record_mmap2(&rec, &m));
}

static void give_code(uint64_t addr, const char *name, bool gone)
{
	size_t size = side_record_ksymbol(&rec, addr, 64, name);

	le16_store(rec.bytes + 22, gone);
	give(size);
}

/* ---- the state, one word a record ---- */

static char emitted[4096];

static int append_record(void *arg, const uint8_t *r, size_t size_bytes)
{
	size_t at = strlen(emitted);
	char *to = emitted + at;
	size_t room = sizeof(emitted) - at;

	assert_int_equal(le16_load(r + 6), size_bytes);
	assert_int_equal(le64_load(r + size_bytes - SIDE_RECORD_TAIL_BYTES + 8), 0);
	assert_int_equal(le64_load(r + size_bytes - 8), 77);
	switch (le32_load(r)) {
	case PERF_RECORD_FORK:
		snprintf(to, room, "fork:%u/%u<%u ", le32_load(r + 8), le32_load(r + 16),
			 le32_load(r + 12));
		break;
	case PERF_RECORD_COMM:
		assert_int_equal(le16_load(r + 4) & PERF_RECORD_MISC_COMM_EXEC, 0);
		snprintf(to, room, "comm:%u/%u=%s ", le32_load(r + 8), le32_load(r + 12),
			 (const char *)r + 16);
		break;
	case PERF_RECORD_MMAP2:
		snprintf(to, room, "map:%d@%llx=%s ", (int)le32_load(r + 8),
			 (unsigned long long)le64_load(r + 16), (const char *)r + 72);
		break;
	case PERF_RECORD_KSYMBOL:
		snprintf(to, room, "code:%s ", (const char *)r + 24);
		break;
	case PERF_RECORD_BPF_EVENT:
		snprintf(to, room, "bpf:%u ", le32_load(r + 12));
		break;
	case PERF_RECORD_CGROUP:
		snprintf(to, room, "cgroup:%s ", (const char *)r + 16);
		break;
	default:
		snprintf(to, room, "type:%u ", le32_load(r));
	}
	return 0;
}

static void is(const char *want)
{
	emitted[0] = '\0';
	assert_int_equal(process_state_each(state, append_record, NULL), 0);
	assert_string_equal(emitted, want);
}

/* ---- behaviours ---- */

static void an_empty_state_emits_nothing(void **unused)
{
	is("");
}

static void the_kernel_comes_first_then_code_then_processes(void **unused)
{
	give_fork(5, 5, 1, 1);
	give_comm(5, 5, "five", false);
	give_map(5, 0x1000, 0x1000, "/five");
	give_code(0xf000, "prog", false);
	give(side_record_cgroup(&rec, 3, "/three"));
	give_map(UINT32_MAX, 0xffff0000, 0x1000, "[kernel]");
	is("map:-1@ffff0000=[kernel] code:prog cgroup:/three "
	   "fork:5/5<1 comm:5/5=five map:5@1000=/five ");
}

static void a_child_has_what_its_parent_had(void **unused)
{
	give_fork(5, 5, 1, 1);
	give_comm(5, 5, "five", true);
	give_map(5, 0x1000, 0x1000, "/a");
	give_fork(6, 6, 5, 5);
	give_map(5, 0x9000, 0x1000, "/later");
	is("fork:5/5<1 comm:5/5=five map:5@1000=/a map:5@9000=/later "
	   "fork:6/6<5 comm:6/6=five map:6@1000=/a ");
}

static void an_exec_leaves_one_thread_and_no_mapping(void **unused)
{
	give_fork(5, 5, 1, 1);
	give_map(5, 0x1000, 0x1000, "/old");
	give_fork(5, 7, 5, 5);
	give_comm(5, 7, "worker", false);
	give_comm(5, 5, "new", true);
	give_map(5, 0x3000, 0x1000, "/new");
	is("fork:5/5<1 comm:5/5=new map:5@3000=/new ");
}

static void what_covers_a_mapping_takes_its_place(void **unused)
{
	give_map(5, 0x1000, 0x1000, "/inside");
	give_map(5, 0x3000, 0x2000, "/half");
	give_map(5, 0x0000, 0x4000, "/over");
	give_map(6, 0x1000, 0x1000, "/other");
	is("map:5@3000=/half map:5@0=/over map:6@1000=/other ");
	give_map(5, 0, UINT64_MAX, "/all");
	is("map:5@0=/all map:6@1000=/other ");
}

static void ended_processes_are_forgotten_when_it_is_settled(void **unused)
{
	give_fork(5, 5, 1, 1);
	give_map(5, 0x1000, 0x1000, "/five");
	give_exit(5, 5, 100);
	process_state_settle(state, 100);
	is("fork:5/5<1 map:5@1000=/five ");
	process_state_settle(state, 101);
	is("");
}

static void a_leader_stays_while_it_has_threads(void **unused)
{
	give_fork(5, 5, 1, 1);
	give_fork(5, 7, 5, 5);
	give_exit(5, 5, 100);
	process_state_settle(state, 1000);
	is("fork:5/5<1 fork:5/7<5 ");
	give_exit(5, 7, 200);
	process_state_settle(state, 1000); /* the leader is asked first, the thread after it */
	process_state_settle(state, 1000);
	is("");
}

static void a_pid_that_is_used_again_is_another_process(void **unused)
{
	give_fork(5, 5, 1, 1);
	give_comm(5, 5, "first", false);
	give_map(5, 0x1000, 0x1000, "/first");
	give_exit(5, 5, 100);
	give_fork(5, 5, 2, 2);
	give_comm(5, 5, "second", false);
	process_state_settle(state, 1000);
	is("fork:5/5<2 comm:5/5=second ");
	/* As a thread of another process, too. */
	give_fork(9, 9, 1, 1);
	give_fork(9, 5, 9, 9);
	give_exit(9, 5, 300);
	process_state_settle(state, 1000);
	assert_null(strstr((is("fork:9/9<1 "), emitted), "second"));
}

static bool has_uneven_id(void *arg, uint64_t id, const char *path)
{
	assert_int_equal(path[0], '/');
	++*(unsigned *)arg;
	return id % 2;
}

static void cgroups_that_may_go_are_forgotten(void **unused)
{
	unsigned asked = 0;

	give(side_record_cgroup(&rec, 1, "/one"));
	give(side_record_cgroup(&rec, 2, "/two"));
	give_code(0x1001, "code", false);
	give(side_record_cgroup(&rec, 3, "/three"));
	give(side_record_cgroup(&rec, 5, "/five"));
	give(side_record_cgroup(&rec, 5, "/five again"));
	assert_int_equal(process_state_cgroup_count(state), 4);
	process_state_drop_cgroups(state, has_uneven_id, &asked);
	assert_int_equal(asked, 4);
	assert_int_equal(process_state_cgroup_count(state), 1);
	is("code:code cgroup:/two ");
	give(side_record_cgroup(&rec, 1, "/one more"));
	is("code:code cgroup:/two cgroup:/one more ");
}

static void code_that_is_unloaded_is_gone(void **unused)
{
	static const uint8_t tag[8] = { 1 };

	give_code(0x1000, "one", false);
	give_code(0x2000, "two", false);
	give(side_record_bpf_event(&rec, 12, tag));
	give_code(0x1000, "one", true);
	give_code(0x7000, "never", true);
	is("bpf:12 code:two ");
	give_code(0x2000, "two again", false);
	is("bpf:12 code:two again ");
	side_record_bpf_event(&rec, 12, tag);
	le16_store(rec.bytes + 8, PERF_BPF_EVENT_PROG_UNLOAD);
	give(8 + 16 + SIDE_RECORD_TAIL_BYTES);
	is("code:two again ");
}

static void what_is_no_state_and_what_is_cut_is_passed_over(void **unused)
{
	size_t size = side_record_comm(&rec, 5, 5, "five");

	for (size_t i = 0; i < 8 + 16 + SIDE_RECORD_TAIL_BYTES && i < size; i += 8)
		give(i);
	give(side_record_lost(&rec, 1, 2));
	side_record_fork(&rec, 5, 5, 1, 1, 5);
	give(8 + 16 + SIDE_RECORD_TAIL_BYTES);
	is("");
}

static void a_storm_of_children_leaves_nothing(void **unused)
{
	char want[2048];
	int size = snprintf(want, sizeof(want), "fork:5/5<1 ");

	give_fork(5, 5, 1, 1);
	for (unsigned i = 1; i <= 40; i++) {
		give_map(5, 0x1000 * i, 0x1000, "/lib");
		size += snprintf(want + size, sizeof(want) - size, "map:5@%x=/lib ", 0x1000 * i);
	}
	for (uint32_t i = 0; i < 20000; i++) {
		give_fork(100 + i, 100 + i, 5, 5);
		give_comm(100 + i, 100 + i, "true", true);
		give_map(100 + i, 0x1000, 0x1000, "/true");
		give_exit(100 + i, 100 + i, i + 1);
		process_state_settle(state, i + 2);
	}
	is(want);
}

static int refuse(void *arg, const uint8_t *r, size_t size_bytes)
{
	return -EIO;
}

static void an_error_of_the_reader_ends_it(void **unused)
{
	give_fork(5, 5, 1, 1);
	assert_int_equal(process_state_each(state, refuse, NULL), -EIO);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_empty_state_emits_nothing),
		TEST(the_kernel_comes_first_then_code_then_processes),
		TEST(a_child_has_what_its_parent_had),
		TEST(an_exec_leaves_one_thread_and_no_mapping),
		TEST(what_covers_a_mapping_takes_its_place),
		TEST(ended_processes_are_forgotten_when_it_is_settled),
		TEST(a_leader_stays_while_it_has_threads),
		TEST(a_pid_that_is_used_again_is_another_process),
		TEST(cgroups_that_may_go_are_forgotten),
		TEST(code_that_is_unloaded_is_gone),
		TEST(what_is_no_state_and_what_is_cut_is_passed_over),
		TEST(a_storm_of_children_leaves_nothing),
		TEST(an_error_of_the_reader_ends_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
