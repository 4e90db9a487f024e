/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "format/perf/build_id_feature.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct buildid id = { .bytes = { 0xab, 0xcd, [19] = 0xef }, .size_bytes = 20 };

static void buildidlist_entry_is_as_perf_writes_it(void **state)
{
	/* From a file of `perf record` 6.1: header, pid -1, id, size; the path padded to 64 bytes. */
	static const uint8_t want_head[36] = { 0,    0,    0,           0,        0x02, 0x80,
					       100,  0,    0xff,        0xff,     0xff, 0xff,
					       0xab, 0xcd, [31] = 0xef, [32] = 20 };
	struct build_id_list *l;
	const uint8_t *section;
	size_t size;

	assert_int_equal(build_id_list_new(&l), 0);
	(void)build_id_list_section(l, &size);
	assert_int_equal(size, 0);
	assert_int_equal(build_id_list_add(l, &id, "/bin/true", false), 0);
	section = build_id_list_section(l, &size);
	assert_int_equal(size, 100);
	assert_memory_equal(section, want_head, 36);
	assert_string_equal((const char *)section + 36, "/bin/true");
	assert_int_equal(build_id_list_add(l, &id, "[kernel.kallsyms]", true), 0);
	section = build_id_list_section(l, &size);
	assert_int_equal(size, 200);
	assert_int_equal(section[104], 0x01);
	build_id_list_free(l);
}

static void buildidlist_keeps_equal_pairs_once_and_different_ones_apart(void **state)
{
	struct buildid other = id;
	struct build_id_list *l;
	char path[32];
	size_t size;

	assert_int_equal(build_id_list_new(&l), 0);
	other.bytes[19] = 0;
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 1000; i++) {
			snprintf(path, sizeof(path), "/lib/%d", i);
			assert_int_equal(build_id_list_add(l, &id, path, false), 0);
			assert_int_equal(build_id_list_add(l, &other, path, false), 0);
		}
	}
	build_id_list_section(l, &size);
	assert_int_equal(size, 2 * 1000 * 100);
	build_id_list_free(l);
}

static void buildidlist_short_ids_are_padded(void **state)
{
	const struct buildid eight = { .bytes = { 1, 2, 3, 4, 5, 6, 7, 8 }, .size_bytes = 8 };
	static const uint8_t zero[12];
	struct build_id_list *l;
	const uint8_t *section;
	size_t size;

	assert_int_equal(build_id_list_new(&l), 0);
	assert_int_equal(build_id_list_add(l, &eight, "x", false), 0);
	section = build_id_list_section(l, &size);
	assert_memory_equal(section + 12, eight.bytes, 8);
	assert_memory_equal(section + 20, zero, 12);
	assert_int_equal(section[32], 8);
	build_id_list_free(l);
}

static void buildidlist_refuses_what_no_record_holds(void **state)
{
	const struct buildid none = { .size_bytes = 0 }, broken = { .size_bytes = 21 };
	struct build_id_list *l;
	char *path = malloc(70000);
	size_t size;

	assert_non_null(path);
	memset(path, 'x', 69999);
	path[69999] = '\0';
	assert_int_equal(build_id_list_new(&l), 0);
	assert_int_equal(build_id_list_add(l, &none, "/a", false), -EINVAL);
	assert_int_equal(build_id_list_add(l, &broken, "/a", false), -EINVAL);
	assert_int_equal(build_id_list_add(l, &id, path, false), -EINVAL);
	build_id_list_section(l, &size);
	assert_int_equal(size, 0);
	path[4096] = '\0';
	assert_int_equal(build_id_list_add(l, &id, path, false), 0);
	build_id_list_free(l);
	build_id_list_free(NULL);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buildidlist_entry_is_as_perf_writes_it),
		cmocka_unit_test(buildidlist_keeps_equal_pairs_once_and_different_ones_apart),
		cmocka_unit_test(buildidlist_short_ids_are_padded),
		cmocka_unit_test(buildidlist_refuses_what_no_record_holds),
	};

	return cmocka_run_group_tests_name("buildidlist", tests, NULL, NULL);
}
