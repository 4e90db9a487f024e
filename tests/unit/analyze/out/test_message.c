/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/out/message.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/text/json_writer.h"

static const struct {
	const char *text;
	size_t size_bytes; /* 0: to the NUL */
	const char *escaped, *json;
} cases[] = {
	{ "", 0, "", "\"\"" },
	{ "plain text", 0, "plain text", "\"plain text\"" },
	{ "a \"b\" \\", 0, "a \"b\" \\", "\"a \\\"b\\\" \\\\\"" },
	{ "\033[2J\033]0;x\007", 0, "\\x1b[2J\\x1b]0;x\\x07", "\"\\u001b[2J\\u001b]0;x\\u0007\"" },
	{ "a\nb\rc\td\x7f", 0, "a\\x0ab\\x0dc\\x09d\\x7f", "\"a\\u000ab\\u000dc\\u0009d\\u007f\"" },
	{ "a\0b", 3, "a\\x00b", "\"a\\u0000b\"" },
	{ "ünïcode \xe2\x82\xac \xf0\x9f\x98\x80", 0, "ünïcode \xe2\x82\xac \xf0\x9f\x98\x80",
	  "\"ünïcode \xe2\x82\xac \xf0\x9f\x98\x80\"" },
	{ "\xc2\x9b"
	  "2J",
	  0, "\\xc2\\x9b2J", "\"\\u009b2J\"" },
	{ "\xff\xfe", 0, "\\xff\\xfe", "\"\\\\xff\\\\xfe\"" },
	{ "cut \xe2\x82", 0, "cut \\xe2\\x82", "\"cut \\\\xe2\\\\x82\"" },
	{ "\xc0\xaf", 0, "\\xc0\\xaf", "\"\\\\xc0\\\\xaf\"" },
	{ "\xe0\x80\xaf", 0, "\\xe0\\x80\\xaf", "\"\\\\xe0\\\\x80\\\\xaf\"" },
	{ "\xed\xa0\x80", 0, "\\xed\\xa0\\x80", "\"\\\\xed\\\\xa0\\\\x80\"" },
	{ "\xf4\x90\x80\x80", 0, "\\xf4\\x90\\x80\\x80", "\"\\\\xf4\\\\x90\\\\x80\\\\x80\"" },
};

static void check(void (*print)(FILE *, const char *, size_t), size_t i, const char *want)
{
	size_t size = cases[i].size_bytes ? cases[i].size_bytes : strlen(cases[i].text);
	char *text = NULL,
	     *exact = malloc(size ? size : 1); /* so that ASan sees a read behind it */
	size_t text_bytes;
	FILE *to = open_memstream(&text, &text_bytes);

	assert_non_null(to);
	assert_non_null(exact);
	memcpy(exact, cases[i].text, size);
	print(to, exact, size);
	fclose(to);
	assert_string_equal(text, want);
	assert_int_equal(text_bytes, strlen(want));
	free(exact);
	free(text);
}

static void message_escapes_what_a_terminal_obeys(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check(message_escaped, i, cases[i].escaped);
}

/* An element of an array: the outermost value would end its line. */
static void print_json(FILE *to, const char *text, size_t size_bytes)
{
	struct json_writer j = { .to = to, .layout = JSON_WRITER_TIGHT, .depth = 1 };

	json_writer_text(&j, NULL, text, size_bytes);
}

static void json_texts_are_always_utf8(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check(print_json, i, cases[i].json);
}

static void csv_cells_are_quoted_where_they_must_be_and_are_no_formulas(void **state)
{
	static const char *const cells[][2] = {
		{ "", "" },
		{ "main", "main" },
		{ "f(int, char)", "\"f(int, char)\"" },
		{ "a \"b\"", "\"a \"\"b\"\"\"" },
		{ "=1+2", "\"'=1+2\"" },
		{ "+1", "\"'+1\"" },
		{ "-bash", "\"'-bash\"" },
		{ "@SUM(A1)", "\"'@SUM(A1)\"" },
		{ "=HYPERLINK(\"x\")", "\"'=HYPERLINK(\"\"x\"\")\"" },
		{ "\xef\xbc\x9d"
		  "1",
		  "\"'\xef\xbc\x9d"
		  "1\"" },
		{ "\t=1", "\\x09=1" },
		{ "a\r\n=1", "a\\x0d\\x0a=1" },
		{ "a-b", "a-b" },
	};

	for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++) {
		char *text = NULL;
		size_t text_bytes;
		FILE *to = open_memstream(&text, &text_bytes);

		assert_non_null(to);
		message_csv(to, cells[i][0], strlen(cells[i][0]));
		fclose(to);
		assert_string_equal(text, cells[i][1]);
		free(text);
	}
}

static void what_has_no_room_is_cut_between_characters(void **state)
{
	static const struct {
		const char *text;
		unsigned columns;
		const char *want;
	} rows[] = {
		{ "abcdef", 6, "abcdef" },
		{ "abcdefg", 6, "abcd.." },
		{ "ab\033defg", 8, "ab\\x1b.." },
		{ "ab\033defg", 7, "ab.." },
		{ "\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac", 3, "\xe2\x82\xac.." },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *text = NULL;
		size_t text_bytes;
		FILE *to = open_memstream(&text, &text_bytes);

		assert_non_null(to);
		message_escaped_within(to, rows[i].text, strlen(rows[i].text), rows[i].columns);
		fclose(to);
		assert_string_equal(text, rows[i].want);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(message_escapes_what_a_terminal_obeys),
		cmocka_unit_test(json_texts_are_always_utf8),
		cmocka_unit_test(csv_cells_are_quoted_where_they_must_be_and_are_no_formulas),
		cmocka_unit_test(what_has_no_room_is_cut_between_characters),
	};

	return cmocka_run_group_tests_name("message", tests, NULL, NULL);
}
