/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "analyze/sym/function_label.h"

static void base_is_what_people_call_a_file(void **state)
{
	static const char *const cases[][2] = {
		{ "/usr/lib/libc.so.6", "libc.so.6" },
		{ "/tmp/x (deleted)", "x" },
		{ "plain", "plain" },
		{ "//anon", "anon" },
		{ "[vdso]", "[vdso]" },
		{ "[kernel.kallsyms]", "[kernel.kallsyms]" },
		{ "[a/b]", "[a/b]" },
		{ "/dir/", "" },
		{ "", "" },
		{ " (deleted)", " (deleted)" },
		{ "/x/ (deleted)", " (deleted)" },
		{ "/x/(deleted)", "(deleted)" },
		{ "/x/a (deleted) (deleted)", "a (deleted)" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t size = 999;
		const char *base = function_label_base(cases[i][0], &size);

		assert_int_equal(size, strlen(cases[i][1]));
		assert_memory_equal(base, cases[i][1], size);
	}
}

static void label_is_the_file_and_where_the_function_begins(void **state)
{
	struct function_labels labels = { 0 };
	const char *label = function_labels_get(&labels, 1, "/usr/lib/cc1 (deleted)", 0x5a3f20);

	assert_string_equal(label, "cc1+0x5a3f20");
	assert_string_equal(function_labels_get(&labels, 1, "/", 0), "+0x0");
	assert_string_equal(function_labels_get(&labels, 1, "x", UINT64_MAX),
			    "x+0xffffffffffffffff");
	function_labels_done(&labels);
}

static void label_of_one_function_is_one_pointer(void **state)
{
	struct function_labels labels = { 0 };
	const char *first[1000];

	for (uint64_t i = 0; i < 1000; i++)
		first[i] = function_labels_get(&labels, (uint32_t)(i % 3), "f", i / 3);
	for (uint64_t i = 0; i < 1000; i++)
		assert_ptr_equal(function_labels_get(&labels, (uint32_t)(i % 3), "f", i / 3),
				 first[i]);
	assert_int_equal(labels.count, 1000);
	function_labels_done(&labels);
}

/* Two programs with one build-id are one file here.  A '+' in a name is not where the address begins. */
static void label_of_each_path_of_a_file_is_its_own(void **state)
{
	static const char *const paths[][2] = {
		{ "/bin/one", "one+0x10" },
		{ "/bin/two", "two+0x10" },
		{ "/bin/one+0x10", "one+0x10+0x10" },
		{ "/else/on", "on+0x10" },
	};
	struct function_labels labels = { 0 };

	for (unsigned round = 0; round < 2; round++)
		for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
			assert_string_equal(function_labels_get(&labels, 1, paths[i][0], 0x10),
					    paths[i][1]);
	assert_int_equal(labels.count, sizeof(paths) / sizeof(paths[0]));
	function_labels_done(&labels);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(base_is_what_people_call_a_file),
		cmocka_unit_test(label_is_the_file_and_where_the_function_begins),
		cmocka_unit_test(label_of_one_function_is_one_pointer),
		cmocka_unit_test(label_of_each_path_of_a_file_is_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
