/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/instrument/mark_spec.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void markspec_takes_what_is_right(void **state)
{
	static const struct {
		const char *text;
		struct mark_spec want;
	} cases[] = {
		{ "usdt:/usr/bin/python3:python:gc__start",
		  { MARK_SPEC_USDT, "/usr/bin/python3", "python", "gc__start" } },
		{ "usdt:libc.so.6:libc:x", { MARK_SPEC_USDT, "libc.so.6", "libc", "x" } },
		{ "usdt:/a:b/c:p:n", { MARK_SPEC_USDT, "/a:b/c", "p", "n" } },
		{ "uprobe:/bin/bash:readline",
		  { MARK_SPEC_UPROBE, "/bin/bash", "bash", "readline" } },
		{ "uprobe:libc.so.6:malloc",
		  { MARK_SPEC_UPROBE, "libc.so.6", "libc.so.6", "malloc" } },
		{ "uprobe:/a:b/c:f", { MARK_SPEC_UPROBE, "/a:b/c", "c", "f" } },
		{ "tp:sched:sched_process_exec",
		  { MARK_SPEC_TP, "", "sched", "sched_process_exec" } },
	};
	struct mark_spec s;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(mark_spec_parse(cases[i].text, &s), 0);
		assert_int_equal(s.kind, cases[i].want.kind);
		assert_string_equal(s.file, cases[i].want.file);
		assert_string_equal(s.group, cases[i].want.group);
		assert_string_equal(s.name, cases[i].want.name);
	}
}

static void markspec_refuses_what_is_wrong(void **state)
{
	static const char *const cases[] = {
		"",          "tp",         "tp:",          "tp:a",       "tp::",
		"tp:a:",     "tp::b",      "tp:a:b:c",     "tp:../x:b",  "tp:a:b/c",
		"tp:a:..",   "kprobe:x",   "uprobe:",      "uprobe:f",   "uprobe:f:",
		"uprobe::f", "uprobe:/:f", "uprobe:/a/:f", "usdt:f:p",   "usdt:f:p:",
		"usdt::p:n", "usdt:f::n",  "usdt:::",      "USDT:f:p:n", " tp:a:b",
	};
	struct mark_spec s = { .kind = MARK_SPEC_TP, .name = "untouched" };
	char *text = malloc(3000);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (mark_spec_parse(cases[i], &s) != -EINVAL)
			fail_msg("taken: '%s'", cases[i]);
	memset(text, 'x', 3000);
	memcpy(text, "tp:a:", 5);
	text[2999] = '\0';
	assert_int_equal(mark_spec_parse(text, &s), -EINVAL);
	memcpy(text, "uprobe:", 7);
	memcpy(text + 2000, ":f", 3);
	assert_int_equal(mark_spec_parse(text, &s), -EINVAL);
	assert_string_equal(s.name, "untouched");
	free(text);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(markspec_takes_what_is_right),
		cmocka_unit_test(markspec_refuses_what_is_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
