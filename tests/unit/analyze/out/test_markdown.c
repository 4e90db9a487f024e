/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/out/markdown.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct sample {
	const char *text, *code, *cell;
	unsigned columns;
};

static void assert_writes(void (*write)(FILE *to, const char *text, unsigned columns),
			  const struct sample *c, const char *want)
{
	char *got = NULL;
	size_t size;
	FILE *to = open_memstream(&got, &size);

	assert_non_null(to);
	write(to, c->text, c->columns);
	assert_int_equal(fclose(to), 0);
	assert_string_equal(got, want);
	free(got);
}

static void markdown_names_are_code_whatever_is_in_them(void **state)
{
	static const struct sample cases[] = {
		{ "main", "`main`", "`main`", 0 },
		{ "", "`-`", "`-`", 0 },
		{ "std::vector<int>", "`std::vector<int>`", "`std::vector<int>`", 0 },
		{ "a|b", "`a|b`", "`a\\|b`", 0 },
		{ "a`b", "``a`b``", "``a`b``", 0 },
		{ "`a``", "``` `a`` ```", "``` `a`` ```", 0 },
		{ "[x](http://e) @all #1", "`[x](http://e) @all #1`", "`[x](http://e) @all #1`",
		  0 },
		{ "a\n# b", "`a\\x0a# b`", "`a\\x0a# b`", 0 },
		{ "\033[2J", "`\\x1b[2J`", "`\\x1b[2J`", 0 },
		{ "\xe2\x80\xaex", "`\\xe2\\x80\\xaex`", "`\\xe2\\x80\\xaex`", 0 },
		{ "\xff", "`\\xff`", "`\\xff`", 0 },
		{ "abcdefgh", "`abc..`", "`abc..`", 5 },
		/* a name that was cut is closed by what is left of it */
		{ "abc`````", "`abc..`", "`abc..`", 5 },
		{ "`````abc", "```` ```.. ````", "```` ```.. ````", 5 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_writes(markdown_code, &cases[i], cases[i].code);
		assert_writes(markdown_cell, &cases[i], cases[i].cell);
	}
}

static void markdown_blocks_end_where_they_should(void **state)
{
	static const struct {
		const char *text, *want;
		size_t lines;
	} cases[] = {
		{ "", "", 3 },
		{ "a\n b\n", "```text\na\n b\n```\n", 3 },
		{ "a\nb", "```text\na\nb\n```\n", 3 },
		{ "a\nb\nc\nd\n", "```text\na\nb\n```\n\n2 more lines.\n", 2 },
		{ "```\n# x\n", "````text\n```\n# x\n````\n", 3 },
		{ "abcdefghijkl\n", "```text\nabcdefgh..\n```\n", 3 },
		{ "a\033b\n", "```text\na\\x1bb\n```\n", 3 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *got = NULL;
		size_t size;
		FILE *to = open_memstream(&got, &size);

		assert_non_null(to);
		markdown_block(to, cases[i].text, cases[i].lines, 10);
		assert_int_equal(fclose(to), 0);
		assert_string_equal(got, cases[i].want);
		free(got);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(markdown_names_are_code_whatever_is_in_them),
		cmocka_unit_test(markdown_blocks_end_where_they_should),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
