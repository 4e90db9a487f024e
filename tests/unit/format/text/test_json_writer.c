/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "format/text/json_writer.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* {"k": value} on one line, as it comes out. */
static char *quoted(const char *value)
{
	struct outbuf out = { 0 };
	struct json_writer j = { .out = &out };

	json_writer_begin(&j, NULL);
	json_writer_string(&j, "k", value);
	json_writer_end(&j);
	outbuf_add(&out, "", 1);
	return (char *)out.data;
}

static void json_escapes_what_must_be(void **state)
{
	static const struct {
		const char *value, *want;
	} cases[] = {
		{ "", "\"\"" },
		{ "plain", "\"plain\"" },
		{ "a \"b\" \\c", "\"a \\\"b\\\" \\\\c\"" },
		{ "tab\tline\n\x01", "\"tab\\u0009line\\u000a\\u0001\"" },
		{ "ünï €😀", "\"ünï €😀\"" },
		/* not UTF-8: cut, stray, too long, surrogate, beyond the last */
		{ "\xc3", "\"\\\\xc3\"" },
		{ "\xe2\x82", "\"\\\\xe2\\\\x82\"" },
		{ "\x80x", "\"\\\\x80x\"" },
		{ "\xc0\xaf", "\"\\\\xc0\\\\xaf\"" },
		{ "\xe0\x80\xaf", "\"\\\\xe0\\\\x80\\\\xaf\"" },
		{ "\xed\xa0\x80", "\"\\\\xed\\\\xa0\\\\x80\"" },
		{ "\xf4\x90\x80\x80", "\"\\\\xf4\\\\x90\\\\x80\\\\x80\"" },
		{ "\xff", "\"\\\\xff\"" },
		/* what would turn a line around, or move the cursor */
		{ "a\xe2\x80\xae", "\"a\\u202e\"" },
		{ "\xc2\x9b\x7f", "\"\\u009b\\u007f\"" },
	};
	char want[128], *got;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(want, sizeof(want), "{\n  \"k\": %s\n}\n", cases[i].want);
		got = quoted(cases[i].value);
		assert_string_equal(got, want);
		free(got);
	}
}

static void json_nests(void **state)
{
	struct outbuf out = { 0 };
	struct json_writer j = { .out = &out };

	json_writer_begin(&j, NULL);
	json_writer_u64(&j, "n", UINT64_MAX);
	json_writer_begin(&j, "empty");
	json_writer_end(&j);
	json_writer_begin_array(&j, "list");
	json_writer_string(&j, NULL, "a");
	json_writer_u64(&j, NULL, 1);
	json_writer_end_array(&j);
	json_writer_bool(&j, "yes", true);
	json_writer_end(&j);
	outbuf_add(&out, "", 1);
	assert_string_equal((char *)out.data, "{\n"
					      "  \"n\": 18446744073709551615,\n"
					      "  \"empty\": {},\n"
					      "  \"list\": [\n"
					      "    \"a\",\n"
					      "    1\n"
					      "  ],\n"
					      "  \"yes\": true\n"
					      "}\n");
	outbuf_done(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_escapes_what_must_be),
		cmocka_unit_test(json_nests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
