/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "format/text/escape.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The text that each form makes. */
static const struct {
	const char *text, *as_text, *folded, *csv, *json;
} cases[] = {
	{ "", "", "", "", "" },
	{ "do_work", "do_work", "do_work", "do_work", "do_work" },
	{ "a;b \"c\" \\", "a;b \"c\" \\", "a:b \"c\" \\", "a;b \"\"c\"\" \\",
	  "a;b \\\"c\\\" \\\\" },
	{ "\033[2J\007", "\\x1b[2J\\x07", "\\x1b[2J\\x07", "\\x1b[2J\\x07", "\\u001b[2J\\u0007" },
	{ "a\tb\r\n\x7f", "a\\x09b\\x0d\\x0a\\x7f", "a\\x09b\\x0d\\x0a\\x7f",
	  "a\\x09b\\x0d\\x0a\\x7f", "a\\u0009b\\u000d\\u000a\\u007f" },
	/* U+009B, and the byte alone that an 8-bit terminal takes for it */
	{ "\xc2\x9b", "\\xc2\\x9b", "\\xc2\\x9b", "\\xc2\\x9b", "\\u009b" },
	{ "\x9b", "\\x9b", "\\x9b", "\\x9b", "\\\\x9b" },
	{ "\xc2\xa0\xe2\x82\xac\xf0\x9f\x98\x80", "\xc2\xa0\xe2\x82\xac\xf0\x9f\x98\x80",
	  "\xc2\xa0\xe2\x82\xac\xf0\x9f\x98\x80", "\xc2\xa0\xe2\x82\xac\xf0\x9f\x98\x80",
	  "\xc2\xa0\xe2\x82\xac\xf0\x9f\x98\x80" },
	{ "a\xe2\x80\xae", "a\\xe2\\x80\\xae", "a\\xe2\\x80\\xae", "a\\xe2\\x80\\xae", "a\\u202e" },
	{ "cut \xe2\x82", "cut \\xe2\\x82", "cut \\xe2\\x82", "cut \\xe2\\x82",
	  "cut \\\\xe2\\\\x82" },
	{ "\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80", "\\xc0\\xaf\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80",
	  "\\xc0\\xaf\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80",
	  "\\xc0\\xaf\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80",
	  "\\\\xc0\\\\xaf\\\\xed\\\\xa0\\\\x80\\\\xf4\\\\x90\\\\x80\\\\x80" },
};

/* In memory of just that size, so that ASan sees a read behind it. */
static char *escaped(enum escape_form form, const char *text, size_t size)
{
	char *exact = malloc(size ? size : 1), *out;

	assert_non_null(exact);
	memcpy(exact, text, size);
	out = escape_copy(form, exact, size);
	assert_non_null(out);
	free(exact);
	return out;
}

static void each_form_prints_a_text_its_own_way(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *want[] = { cases[i].as_text, cases[i].folded, cases[i].csv,
				       cases[i].json };

		for (unsigned form = ESCAPE_TEXT; form <= ESCAPE_JSON; form++) {
			char *got = escaped(form, cases[i].text, strlen(cases[i].text));

			assert_string_equal(got, want[form]);
			free(got);
		}
		assert_int_equal(escape_columns(cases[i].text, strnlen(cases[i].text, 2)) <= 8, 1);
	}
	assert_int_equal(escape_columns("\xe2\x82\xac", 3), 1);
	assert_int_equal(escape_columns("\xe2\x80\xae\x9b", 4), 16);
}

static size_t encode(uint32_t code, char out[4])
{
	if (code < 0x80) {
		out[0] = (char)code;
		return 1;
	}
	if (code < 0x800) {
		out[0] = (char)(0xc0 | code >> 6);
		out[1] = (char)(0x80 | (code & 0x3f));
		return 2;
	}
	if (code < 0x10000) {
		out[0] = (char)(0xe0 | code >> 12);
		out[1] = (char)(0x80 | (code >> 6 & 0x3f));
		out[2] = (char)(0x80 | (code & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | code >> 18);
	out[1] = (char)(0x80 | (code >> 12 & 0x3f));
	out[2] = (char)(0x80 | (code >> 6 & 0x3f));
	out[3] = (char)(0x80 | (code & 0x3f));
	return 4;
}

/* Each character there is: all but these come out as they are. */
static void controls_directions_and_separators_alone_are_not_printed(void **state)
{
	static const uint32_t hidden[][2] = { { 0, 0x1f },        { 0x7f, 0x9f },
					      { 0x61c, 0x61c },   { 0x200e, 0x200f },
					      { 0x2028, 0x202e }, { 0x2066, 0x2069 },
					      { 0xd800, 0xdfff }, { 0x110000, 0x1fffff } };
	size_t row = 0;

	for (uint32_t code = 0; code < 0x200000; code++) {
		char bytes[4];
		size_t size = encode(code, bytes);
		bool is_hidden;

		while (row < 8 && code > hidden[row][1])
			row++;
		is_hidden = row < 8 && code >= hidden[row][0];
		if (escape_plain(ESCAPE_TEXT, bytes, size) != (is_hidden ? 0 : size))
			fail_msg("U+%04X", code);
	}
}

/* Random bytes: the result is UTF-8 without a control, in every form, and plain the second time. */
static void what_comes_out_is_always_printable(void **state)
{
	uint64_t random = 88172645463325252ULL;
	char text[24];

	for (unsigned round = 0; round < 200000; round++) {
		for (size_t i = 0; i < sizeof(text); i++) {
			static const char likely[] = "\xe2\x80\xae\x9b\xc2\"\\;\x1b";

			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			text[i] = random & 0x100 ? likely[random % (sizeof(likely) - 1)]
						 : (char)random;
		}
		for (unsigned form = ESCAPE_TEXT; form <= ESCAPE_JSON; form++) {
			char *got = escaped(form, text, sizeof(text));

			assert_int_equal(escape_plain(ESCAPE_TEXT, got, strlen(got)), strlen(got));
			free(got);
		}
	}
}

static void no_part_of_a_character_is_written_where_there_is_no_room(void **state)
{
	char out[16];

	assert_int_equal(escape_into(ESCAPE_TEXT, "ab\x1b", 3, out, 6), 2);
	assert_string_equal(out, "ab");
	assert_int_equal(escape_into(ESCAPE_TEXT, "ab\x1b", 3, out, 7), 6);
	assert_string_equal(out, "ab\\x1b");
	assert_int_equal(escape_into(ESCAPE_TEXT, "ab\xe2\x82\xac", 5, out, 5), 2);
	assert_string_equal(out, "ab");
	assert_int_equal(escape_into(ESCAPE_TEXT, "ab\xe2\x82\xac", 5, out, 6), 5);
	assert_int_equal(escape_into(ESCAPE_TEXT, "ab", 2, out, 1), 0);
	assert_string_equal(out, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_form_prints_a_text_its_own_way),
		cmocka_unit_test(controls_directions_and_separators_alone_are_not_printed),
		cmocka_unit_test(what_comes_out_is_always_printable),
		cmocka_unit_test(no_part_of_a_character_is_written_where_there_is_no_room),
	};

	return cmocka_run_group_tests_name("escape", tests, NULL, NULL);
}
