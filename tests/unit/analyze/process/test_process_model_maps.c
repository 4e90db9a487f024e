/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* model: what lies at an address at a time, of a process and of the kernel, and of which file */
#include <time.h>

#include "tests/unit/modelstory.h"

static void offset_counts_from_the_start_of_the_mapping(void **state)
{
	struct fixture f = setup();

	comm_at(&f, 0, 10, 10, "cat", false);
	map_at(&f, 0, 10, 0x1000, 0x3000, 0x500, "/bin/cat");
	seal(&f);
	assert_string_equal(ask(&f, 5, 10, 0x1000), "cat /bin/cat+0x500");
	assert_string_equal(ask(&f, 5, 10, 0x2fff), "cat /bin/cat+0x24ff");
	assert_string_equal(ask(&f, 5, 10, 0x3000), "cat -");
	assert_string_equal(ask(&f, 5, 10, 0xfff), "cat -");
	teardown(&f);
}

static void later_mapping_hides_what_it_covers(void **state)
{
	struct fixture f = setup();

	map_at(&f, 0, 10, 0x1000, 0x5000, 0, "/lib/old");
	map_at(&f, 100, 10, 0x2000, 0x3000, 0x70000, "/lib/new");
	seal(&f);
	assert_string_equal(ask(&f, 99, 10, 0x2800), "- /lib/old+0x1800");
	assert_string_equal(ask(&f, 100, 10, 0x2800), "- /lib/new+0x70800");
	assert_string_equal(ask(&f, 100, 10, 0x1fff), "- /lib/old+0xfff");
	assert_string_equal(ask(&f, 100, 10, 0x3000), "- /lib/old+0x2000");
	teardown(&f);
}

static void mapping_beside_the_others_keeps_the_space(void **state)
{
	struct fixture f = setup();
	struct process_model_where before, beside, over;

	map_at(&f, 0, 10, 0x1000, 0x2000, 0, "/a");
	map_at(&f, 100, 10, 0x2000, 0x3000, 0, "/b");
	map_at(&f, 150, 10, 0x2000, 0x3000, 0, "/b"); /* reported twice */
	map_at(&f, 200, 10, 0x1000, 0x1800, 0, "/c");
	seal(&f);
	process_model_thread(f.m, 10, 10, 50, &before);
	process_model_thread(f.m, 10, 10, 160, &beside);
	process_model_thread(f.m, 10, 10, 200, &over);
	assert_int_equal(before.space, beside.space);
	assert_int_not_equal(beside.space, over.space);
	assert_int_equal(before.epoch, over.epoch);
	teardown(&f);
}

static void dead_task_does_not_see_the_kernel_as_its_maps(void **state)
{
	struct fixture f = setup();

	map_at(&f, 0, UINT32_MAX, 0x1000, 0x2000, 0, "[kernel.kallsyms]_text");
	seal(&f);
	assert_string_equal(ask(&f, 5, UINT32_MAX, 0x1000), "- -");
	assert_string_equal(ask_kernel(&f, 5, 0x1000), "[kernel.kallsyms]_text");
	teardown(&f);
}

static void kernel_symbols_come_and_go(void **state)
{
	struct fixture f = setup();

	map_at(&f, 0, UINT32_MAX, 0x1000, UINT64_MAX, 0, "[kernel.kallsyms]_text");
	ksymbol_at(&f, 100, 0x5000, 0x100, "bpf_prog_1", false);
	ksymbol_at(&f, 200, 0x5000, 0x100, "bpf_prog_1", true);
	ksymbol_at(&f, 300, 0x5000, 0x100, "bpf_prog_2", false);
	seal(&f);
	assert_string_equal(ask_kernel(&f, 99, 0x5050), "[kernel.kallsyms]_text");
	assert_string_equal(ask_kernel(&f, 100, 0x5050), "bpf_prog_1");
	assert_string_not_equal(ask_kernel(&f, 250, 0x5050), "bpf_prog_1");
	assert_string_equal(ask_kernel(&f, 300, 0x5050), "bpf_prog_2");
	assert_string_equal(ask_kernel(&f, 300, 0x5100), "[kernel.kallsyms]_text");
	teardown(&f);
}

static void files_are_distinguished_by_more_than_their_path(void **state)
{
	struct fixture f = setup();
	struct perfrec_side side = {
		.type = PERF_RECORD_MMAP2,
		.misc = PERF_RECORD_MISC_USER,
		.mmap = { .pid = 10,
			  .start = 0x1000,
			  .size_bytes = 0x1000,
			  .path = "/lib/x",
			  .id.inode = 5,
			  .id.dev_minor = 1 },
	};

	add(&f, &side);
	side.mmap.pid = 11;
	add(&f, &side); /* the same file again */
	assert_int_equal(process_model_file_count(f.m), 1);
	side.mmap.id.inode = 6;
	add(&f, &side);
	side.mmap.id.dev_minor = 2;
	add(&f, &side);
	side.mmap.id.build_id.size_bytes = 20;
	add(&f, &side);
	side.mmap.id.build_id.bytes[19] = 1;
	add(&f, &side);
	assert_int_equal(process_model_file_count(f.m), 5);
	teardown(&f);
}

static void build_id_of_the_header_goes_to_files_without_one(void **state)
{
	struct fixture f = setup();
	struct buildid id = { .bytes = { 1, 2, 3 }, .size_bytes = 20 };

	map_at(&f, 0, 10, 0x1000, 0x2000, 0, "/lib/x");
	map_at(&f, 0, 10, 0x3000, 0x4000, 0, "/lib/y");
	assert_int_equal(process_model_add_build_id(f.m, "/lib/x", &id), 0);
	assert_int_equal(process_model_add_build_id(f.m, "/lib/never", &id), 0);
	assert_int_equal(process_model_file(f.m, 0)->id.build_id.size_bytes, 20);
	assert_int_equal(process_model_file(f.m, 1)->id.build_id.size_bytes, 0);
	teardown(&f);
}

static void empty_mapping_is_counted_as_broken(void **state)
{
	struct fixture f = setup();

	map_at(&f, 0, 10, 0x1000, 0x1000, 0, "/empty");
	ksymbol_at(&f, 0, 0x1000, 0, "empty", false);
	process_model_add_unread(f.m, PERF_RECORD_MMAP2, true);
	seal(&f);
	assert_int_equal(process_model_counts(f.m)->broken, 3);
	assert_string_equal(ask(&f, 5, 10, 0x1000), "- -");
	teardown(&f);
}

static void mapping_beyond_the_last_address_ends_there(void **state)
{
	struct fixture f = setup();
	struct perfrec_side side = {
		.type = PERF_RECORD_MMAP,
		.misc = PERF_RECORD_MISC_USER,
		.mmap = { .pid = 10, .start = UINT64_MAX - 5, .size_bytes = 100, .path = "/x" },
	};

	add(&f, &side);
	side.mmap.start = UINT64_MAX; /* no byte of it is before the end */
	add(&f, &side);
	ksymbol_at(&f, 0, UINT64_MAX, 100, "last", false);
	ksymbol_at(&f, 0, UINT64_MAX, 100, "last", true);
	seal(&f);
	assert_int_equal(process_model_counts(f.m)->broken, 3);
	assert_string_equal(ask(&f, 5, 10, UINT64_MAX - 5), "- /x+0x0");
	assert_string_equal(ask(&f, 5, 10, 3), "- -");
	teardown(&f);
}

static void guest_maps_are_not_the_hosts(void **state)
{
	struct fixture f = setup();
	struct perfrec_side side = {
		.type = PERF_RECORD_MMAP,
		.misc = PERF_RECORD_MISC_GUEST_KERNEL,
		.mmap = { .pid = UINT32_MAX,
			  .start = 0x1000,
			  .size_bytes = 100,
			  .path = "[guest.kernel.kallsyms]" },
	};

	add(&f, &side);
	seal(&f);
	assert_string_equal(ask_kernel(&f, 5, 0x1000), "-");
	teardown(&f);
}

static void mapping_at_an_address_ends_where_another_begins(void **state)
{
	struct fixture f = setup();
	struct process_model_where where;
	struct process_model_map map;

	map_at(&f, 10, 10, 0x1000, 0x5000, 0x100, "/bin/a");
	map_at(&f, 20, 10, 0x2000, 0x3000, 0, "/bin/b");
	assert_int_equal(process_model_seal(f.m), 0);
	process_model_thread(f.m, 10, 10, 30, &where);
	assert_true(process_model_map_at(f.m, where.space, 0x3800, &map));
	assert_int_equal(map.start, 0x3000);
	assert_int_equal(map.end, 0x5000);
	assert_int_equal(map.file_off_bytes, 0x2100);
	assert_string_equal(process_model_file(f.m, map.file)->path, "/bin/a");
	assert_true(process_model_map_at(f.m, where.space, 0x2000, &map));
	assert_int_equal(map.end, 0x3000);
	assert_false(process_model_map_at(f.m, where.space, 0x5000, &map));
	assert_false(process_model_map_at(f.m, PROCESS_MODEL_NONE, 0x2000, &map));
	teardown(&f);
}

/* Maps before an exec count only where the new ones leave space: no more than the address is known. */
static void mapping_before_an_exec_is_distinguished_by_address(void **state)
{
	struct fixture f = setup();
	struct process_model_where where;
	struct process_model_map map;

	map_at(&f, 10, 10, 0x1000, 0x5000, 0x100, "/bin/a");
	comm_at(&f, 20, 10, 10, "b", true);
	map_at(&f, 21, 10, 0x9000, 0xa000, 0, "/bin/b");
	assert_int_equal(process_model_seal(f.m), 0);
	process_model_thread(f.m, 10, 10, 22, &where);
	assert_true(process_model_map_at(f.m, where.space, 0x1234, &map));
	assert_int_equal(map.start, 0x1234);
	assert_int_equal(map.end, 0x1235);
	assert_int_equal(map.file_off_bytes, 0x334);
	teardown(&f);
}

static void code_is_what_it_was_at_that_time(void **state)
{
	struct fixture f = setup();

	comm_at(&f, 0, 10, 10, "node", false);
	map_at(&f, 1, 10, 0x1000, 0x9000, 0, "//anon");
	assert_int_equal(process_model_add_jit(f.m, 10), 0);
	assert_int_equal(process_model_add_jit_code(f.m, 10, 20, 0x2000, 0x100, 1ULL << 63), 0);
	assert_int_equal(
		process_model_add_jit_code(f.m, 10, 40, 0x2080, 0x100, (1ULL << 63) + 0x100), 0);
	/* As a change of protection is reported: it hides nothing. */
	map_at(&f, 30, 10, 0x2000, 0x3000, 0, "//anon");
	map_at(&f, 50, 10, 0x1000, 0x9000, 0, "//anon");
	assert_int_equal(process_model_add_jit_code(f.m, 11, 20, 0x2000, 0x100, 1),
			 0); /* no process */
	seal(&f);
	assert_string_equal(ask(&f, 35, 10, 0x2090), "node /tmp/perf-10.map+0x8000000000000090");
	assert_string_equal(ask(&f, 45, 10, 0x2090), "node /tmp/perf-10.map+0x8000000000000110");
	assert_string_equal(ask(&f, 60, 10, 0x2000), "node /tmp/perf-10.map+0x8000000000000000");
	assert_string_equal(ask(&f, 60, 10, 0x217f), "node /tmp/perf-10.map+0x80000000000001ff");
	assert_string_equal(ask(&f, 60, 10, 0x2180), "node /tmp/perf-10.map+0x2180");
	teardown(&f);
}

static void code_made_before_its_memory_was_reported_stays(void **state)
{
	struct fixture f = setup();

	/* A process that was there before: its maps are read later than its code was made. */
	assert_int_equal(process_model_add_jit(f.m, 10), 0);
	assert_int_equal(process_model_add_jit_code(f.m, 10, 5, 0x1000, 0x100, 1ULL << 63), 0);
	assert_int_equal(
		process_model_add_jit_code(f.m, 10, 6, 0x2f00, 0x100, (1ULL << 63) + 0x100), 0);
	fork_at(&f, 20, 10, 10, 10);
	comm_at(&f, 20, 10, 10, "node", false);
	map_at(&f, 20, 10, 0x1000, 0x3000, 0, "//anon");
	map_at(&f, 20, 10, 0x5000, 0x6000, 0, "//anon");
	seal(&f);
	assert_string_equal(ask(&f, 30, 10, 0x1010), "node /tmp/perf-10.map+0x8000000000000010");
	assert_string_equal(ask(&f, 30, 10, 0x5010), "node /tmp/perf-10.map+0x5010");
	teardown(&f);
}

static void interpreted_code_has_no_names_of_a_compiler(void **state)
{
	struct fixture f = setup();

	assert_int_equal(process_model_add_jit(f.m, 10), 0);
	comm_at(&f, 20, 10, 10, "java", false);
	map_at(&f, 20, 10, 0x1000, 0x3000, 0, "//anon");
	map_at(&f, 20, 10, 0x5000, 0x6000, 0, "[java]");
	seal(&f);
	assert_string_equal(ask(&f, 30, 10, 0x1010), "java /tmp/perf-10.map+0x1010");
	assert_string_equal(ask(&f, 30, 10, 0x5010), "java [java]+0x10");
	teardown(&f);
}

static void map_inode(struct fixture *f, uint64_t inode, const char *path)
{
	add(f, &(struct perfrec_side){
		       .type = PERF_RECORD_MMAP2,
		       .misc = PERF_RECORD_MISC_USER,
		       .mmap = { .pid = 10, .size_bytes = 0x1000, .id.inode = inode, .path = path },
	       });
}

static void build_id_of_the_header_goes_to_all_files_of_its_path_once(void **state)
{
	const struct buildid first = { .bytes = { 1 }, .size_bytes = 20 };
	const struct buildid second = { .bytes = { 2 }, .size_bytes = 20 };
	struct fixture f = setup();

	map_inode(&f, 1, "/lib/x");
	map_inode(&f, 2, "/lib/x");
	map_inode(&f, 3, "/lib/y");
	assert_int_equal(process_model_add_build_id(f.m, "/lib/x", &first), 0);
	assert_int_equal(process_model_add_build_id(f.m, "/lib/x", &second), 0);
	map_inode(&f, 4, "/lib/x");
	assert_int_equal(process_model_file_count(f.m), 4);
	assert_int_equal(process_model_file(f.m, 0)->id.build_id.bytes[0], 1);
	assert_int_equal(process_model_file(f.m, 1)->id.build_id.bytes[0], 1);
	assert_int_equal(process_model_file(f.m, 2)->id.build_id.size_bytes, 0);
	assert_int_equal(process_model_file(f.m, 3)->id.build_id.size_bytes, 0);
	assert_int_equal(process_model_add_build_id(f.m, "/lib/x", &second), 0);
	assert_int_equal(process_model_file(f.m, 1)->id.build_id.bytes[0], 1);
	assert_int_equal(process_model_file(f.m, 3)->id.build_id.bytes[0], 2);
	teardown(&f);
}

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	assert_int_equal(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts), 0);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* CPU time of as many ids as files, of a path each, and then of as many of one path. */
static uint64_t name_files(uint32_t count)
{
	const struct buildid id = { .bytes = { 1 }, .size_bytes = 20 };
	struct fixture f = setup();
	uint64_t start_ns;
	char path[32];

	for (uint32_t i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "/lib/%u", i);
		map_inode(&f, i, path);
		map_inode(&f, i, "/lib/x");
	}
	start_ns = cpu_ns();
	for (uint32_t i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "/lib/%u", i);
		assert_int_equal(process_model_add_build_id(f.m, path, &id), 0);
		assert_int_equal(process_model_add_build_id(f.m, "/lib/x", &id), 0);
	}
	start_ns = cpu_ns() - start_ns;
	for (uint32_t i = 0; i < 2 * count; i++)
		assert_int_equal(process_model_file(f.m, i)->id.build_id.size_bytes, 20);
	teardown(&f);
	return start_ns;
}

/* Where each id looked at all files, 16 times as many took 256 times as long. */
static void build_ids_take_time_by_their_number(void **state)
{
	uint64_t some_ns = name_files(2000), many_ns = name_files(32000);

	print_message("%llu ns, 16 times as many %llu ns\n", (unsigned long long)some_ns,
		      (unsigned long long)many_ns);
	assert_true(many_ns < 64 * some_ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(offset_counts_from_the_start_of_the_mapping),
		cmocka_unit_test(later_mapping_hides_what_it_covers),
		cmocka_unit_test(mapping_beside_the_others_keeps_the_space),
		cmocka_unit_test(dead_task_does_not_see_the_kernel_as_its_maps),
		cmocka_unit_test(kernel_symbols_come_and_go),
		cmocka_unit_test(files_are_distinguished_by_more_than_their_path),
		cmocka_unit_test(build_id_of_the_header_goes_to_files_without_one),
		cmocka_unit_test(empty_mapping_is_counted_as_broken),
		cmocka_unit_test(mapping_beyond_the_last_address_ends_there),
		cmocka_unit_test(guest_maps_are_not_the_hosts),
		cmocka_unit_test(code_is_what_it_was_at_that_time),
		cmocka_unit_test(code_made_before_its_memory_was_reported_stays),
		cmocka_unit_test(interpreted_code_has_no_names_of_a_compiler),
		cmocka_unit_test(mapping_at_an_address_ends_where_another_begins),
		cmocka_unit_test(mapping_before_an_exec_is_distinguished_by_address),
		cmocka_unit_test(build_id_of_the_header_goes_to_all_files_of_its_path_once),
		cmocka_unit_test(build_ids_take_time_by_their_number),
	};

	return cmocka_run_group_tests_name("model_maps", tests, NULL, NULL);
}
