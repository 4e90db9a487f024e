/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "format/contract/finding.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void a_line_contains_what_was_found(void **state)
{
	struct finding f = { .name = "BTF" }, got = { 0 };
	char line[FINDING_LINE_BYTES];
	size_t bytes;

	finding_set(&f, FINDING_MISSING, "boot another kernel", "no file '%s'", "x");
	bytes = finding_format(&f, line);
	assert_int_equal(bytes, strlen(line));
	assert_string_equal(line, "missing\tBTF\tno file 'x'\tboot another kernel\n");
	assert_int_equal(finding_parse(line, &got), 0);
	assert_int_equal(got.state, FINDING_MISSING);
	assert_string_equal(got.name, f.name);
	assert_string_equal(got.why, f.why);
	assert_string_equal(got.mend, f.mend);
}

static void words_stay_on_their_line(void **state)
{
	struct finding f = { .name = "x" };
	char line[FINDING_LINE_BYTES];

	finding_set(&f, FINDING_WORKS, "a\tb", "%s", "one\ntwo\033[2J");
	finding_format(&f, line);
	assert_string_equal(line, "works\tx\tone\\x0atwo\\x1b[2J\ta\\x09b\n");
}

static void the_longest_texts_fit(void **state)
{
	struct finding f = { 0 }, got = { 0 };
	char line[FINDING_LINE_BYTES], text[2000];
	size_t bytes;

	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	memset(f.name, 'n', sizeof(f.name) - 1);
	finding_set(&f, FINDING_DEGRADED, text, "%s", text);
	bytes = finding_format(&f, line);
	assert_int_equal(bytes, strlen(line));
	assert_int_equal(finding_parse(line, &got), 0);
	assert_string_equal(got.mend, f.mend);
}

static void broken_lines_are_refused(void **state)
{
	static const char *const broken[] = {
		"",
		"\n",
		"works",
		"works\tx",
		"works\tx\ty",
		"works\t\ty\tz",
		"Works\tx\ty\tz",
		"works\tx\ty\tz\tmore",
		"works\nx\ny\nz",
		"worksworksworksworks\tx\ty\tz",
		"works\tnnnnnnnnnnnnnnnnnnnnnnnnnnnn\ty\tz",
	};
	struct finding got = { .name = "untouched" };

	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++)
		assert_int_equal(finding_parse(broken[i], &got), -EBADMSG);
	assert_string_equal(got.name, "untouched");
	assert_int_equal(finding_parse("works\tx\ty\t", &got), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_contains_what_was_found),
		cmocka_unit_test(words_stay_on_their_line),
		cmocka_unit_test(the_longest_texts_fit),
		cmocka_unit_test(broken_lines_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
