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

/* A document with lines to the second level, as both sinks get it. */
static void write_lines_to_a_depth(struct json_writer *j)
{
	j->layout = JSON_WRITER_SPACED;
	j->line_depth = 2;
	json_writer_begin(j, NULL);
	json_writer_u64(j, "schema", 0);
	json_writer_number(j, "share", "%.2f", 0.5);
	json_writer_begin_array(j, "rows");
	for (uint64_t i = 9; i < 11; i++) {
		json_writer_begin(j, NULL);
		json_writer_u64(j, "n", i);
		json_writer_text(j, "part", "cut\"x", 4);
		json_writer_null(j, "none");
		json_writer_bool(j, "no", false);
		json_writer_end(j);
	}
	json_writer_end_array(j);
	json_writer_begin_array(j, "empty");
	json_writer_end_array(j);
	json_writer_end(j);
}

static void json_lines_to_a_depth_are_the_same_in_memory_and_on_a_stream(void **state)
{
	static const char want[] =
		"{\"schema\": 0,\n"
		" \"share\": 0.50,\n"
		" \"rows\": [\n"
		"  {\"n\": 9, \"part\": \"cut\\\"\", \"none\": null, \"no\": false},\n"
		"  {\"n\": 10, \"part\": \"cut\\\"\", \"none\": null, \"no\": false}\n"
		" ],\n"
		" \"empty\": [\n"
		" ]\n"
		"}\n";
	struct outbuf out = { 0 };
	struct json_writer j = { .out = &out };
	size_t size;
	char *text;

	write_lines_to_a_depth(&j);
	outbuf_add(&out, "", 1);
	assert_string_equal((char *)out.data, want);
	outbuf_done(&out);
	j = (struct json_writer){ .to = open_memstream(&text, &size) };
	assert_non_null(j.to);
	write_lines_to_a_depth(&j);
	fclose(j.to);
	assert_string_equal(text, want);
	free(text);
}

static void json_fixed_has_all_its_decimals(void **state)
{
	struct outbuf out = { 0 };
	struct json_writer j = { .out = &out, .layout = JSON_WRITER_TIGHT };

	json_writer_begin_array(&j, NULL);
	json_writer_fixed(&j, NULL, 0, 3);
	json_writer_fixed(&j, NULL, 7, 3);
	json_writer_fixed(&j, NULL, 1000, 3);
	json_writer_fixed(&j, NULL, 123456, 3);
	json_writer_fixed(&j, NULL, 10, 0);
	json_writer_fixed(&j, NULL, UINT64_MAX, 18);
	json_writer_end_array(&j);
	outbuf_add(&out, "", 1);
	assert_string_equal((char *)out.data,
			    "[0.000,0.007,1.000,123.456,10,18.446744073709551615]\n");
	outbuf_done(&out);
}

static void json_layout_changes_within_a_document(void **state)
{
	struct outbuf out = { 0 };
	struct json_writer j = { .out = &out, .layout = JSON_WRITER_SPACED };

	json_writer_begin(&j, NULL);
	json_writer_begin_array(&j, "tight");
	j.layout = JSON_WRITER_TIGHT;
	json_writer_u64(&j, NULL, 1);
	json_writer_number(&j, NULL, "%d", -1);
	json_writer_end_array(&j);
	j.layout = JSON_WRITER_SPACED;
	json_writer_line(&j, 3);
	json_writer_begin_array(&j, "spaced");
	json_writer_u64(&j, NULL, 1);
	json_writer_u64(&j, NULL, 2);
	json_writer_line(&j, 0);
	json_writer_end_array(&j);
	json_writer_end(&j);
	outbuf_add(&out, "", 1);
	assert_string_equal((char *)out.data, "{\"tight\": [1,-1],\n   \"spaced\": [1, 2\n]}\n");
	outbuf_done(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_escapes_what_must_be),
		cmocka_unit_test(json_nests),
		cmocka_unit_test(json_lines_to_a_depth_are_the_same_in_memory_and_on_a_stream),
		cmocka_unit_test(json_fixed_has_all_its_decimals),
		cmocka_unit_test(json_layout_changes_within_a_document),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
