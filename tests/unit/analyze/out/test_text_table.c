/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/out/text_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void print_everything(struct text_table *v)
{
	static const char *const columns[] = { "stream", "frame_count", "raw" };

	text_table_section(v, "file");
	text_table_text(v, "path", "a\033b \"c\"");
	text_table_size(v, "size", 1536);
	text_table_bool(v, "entire", true);
	text_table_section(v, "time");
	text_table_ns(v, "duration", 2500000001);
	text_table_wall_ns(v, "began", 1700000000123456789);
	text_table_begin(v, "frames", columns, 3);
	text_table_row(v);
	text_table_text(v, "stream", "side");
	text_table_number(v, "frame_count", 7);
	text_table_size(v, "raw", 0);
	text_table_row(v);
	text_table_text(v, "stream", "a long name");
	text_table_number(v, "frame_count", 12345678901234);
	text_table_size(v, "raw", UINT64_MAX);
	text_table_end(v);
	text_table_begin(v, "none", columns, 3);
	text_table_end(v);
	text_table_section(v, "empty");
	text_table_section(v, "meta");
	text_table_lines(v, "text", "{\n \007}", 5);
}

static void check(bool json, const char *want)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);
	struct text_table *v;

	assert_non_null(to);
	assert_int_equal(text_table_open(to, json, &v), 0);
	print_everything(v);
	assert_int_equal(text_table_close(v), 0);
	fclose(to);
	assert_string_equal(text, want);
	free(text);
}

static void view_as_text(void **state)
{
	check(false, "\nfile\n"
		     "  path              a\\x1bb \"c\"\n"
		     "  size              1.5 KiB\n"
		     "  entire            yes\n"
		     "\ntime\n"
		     "  duration          2.500000001 s\n"
		     "  began             2023-11-14 22:13:20.123456 UTC\n"
		     "\n"
		     "stream          frame count       raw\n"
		     "side                      7       0 B\n"
		     "a long name  12345678901234  15.9 EiB\n"
		     "\nempty\n"
		     "\nmeta\n"
		     "  {\n"
		     "   \\x07}\n");
}

static void view_as_json(void **state)
{
	check(true, "{\"schema\": 1,\n"
		    " \"file\": {\n"
		    "  \"path\": \"a\\u001bb \\\"c\\\"\",\n"
		    "  \"size_bytes\": 1536,\n"
		    "  \"entire\": true\n"
		    " },\n"
		    " \"time\": {\n"
		    "  \"duration_ns\": 2500000001,\n"
		    "  \"began_ns\": 1700000000123456789\n"
		    " },\n"
		    " \"frames\": [\n"
		    "  {\"stream\": \"side\", \"frame_count\": 7, \"raw_bytes\": 0},\n"
		    "  {\"stream\": \"a long name\", \"frame_count\": 12345678901234, "
		    "\"raw_bytes\": 18446744073709551615}\n"
		    " ],\n"
		    " \"none\": [\n"
		    " ],\n"
		    " \"empty\": {\n"
		    " },\n"
		    " \"meta\": {\n"
		    "  \"text\": \"{\\u000a \\u0007}\"\n"
		    " }\n"
		    "}\n");
}

static void view_sizes(void **state)
{
	static const struct {
		uint64_t size_bytes;
		const char *want;
	} cases[] = {
		{ 1023, "1023 B" },        { 1024, "1.0 KiB" },       { 1048575, "1023.9 KiB" },
		{ 1048576, "1.0 MiB" },    { 1073741824, "1.0 GiB" }, { 1ULL << 40, "1.0 TiB" },
		{ 3ULL << 49, "1.5 PiB" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = NULL;
		size_t size;
		FILE *to = open_memstream(&text, &size);
		struct text_table *v;

		assert_non_null(to);
		assert_int_equal(text_table_open(to, false, &v), 0);
		text_table_size(v, "k", cases[i].size_bytes);
		assert_int_equal(text_table_close(v), 0);
		fclose(to);
		text[size - 1] = '\0';
		assert_string_equal(text + 18, cases[i].want);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(view_as_text),
		cmocka_unit_test(view_as_json),
		cmocka_unit_test(view_sizes),
	};

	return cmocka_run_group_tests_name("view", tests, NULL, NULL);
}
