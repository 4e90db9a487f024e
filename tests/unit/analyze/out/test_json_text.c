/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/out/json_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void jsontext_lays_out_whatever_it_is_given(void **state)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "{\"a\":1,\"b\":[true,\"x\"]}",
		  "{\n  \"a\": 1,\n  \"b\": [\n    true,\n    \"x\"\n  ]\n}" },
		{ " { \"a\" : { } , \"b\" : [\n] } ", "{\n  \"a\": {},\n  \"b\": []\n}" },
		{ "{\"a{,:}\\\"\\\\\":\"[\"}", "{\n  \"a{,:}\\\"\\\\\": \"[\"\n}" },
		{ "", "" },
		{ "  \n", "" },
		{ "-1.5e3", "-1.5e3" },
		/* broken ones */
		{ "{\"a", "{\n  \"a" },
		{ "\"a\\", "\"a\\" },
		{ "\"", "\"" },
		{ "{", "{\n  " },
		{ "}}]", "\n}\n}\n]" },
		{ "not json", "notjson" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t size = strlen(cases[i].text), got_bytes;
		char *exact = malloc(size ? size : 1), *got;

		assert_non_null(exact);
		memcpy(exact, cases[i].text, size);
		assert_int_equal(json_text_indent(exact, size, &got, &got_bytes), 0);
		assert_string_equal(got, cases[i].want);
		assert_int_equal(got_bytes, strlen(cases[i].want));
		free(got);
		free(exact);
	}
}

static void jsontext_depth_does_not_make_it_large(void **state)
{
	enum { DEPTH = 20000 };
	char *text = malloc(DEPTH), *got;
	size_t got_bytes;

	assert_non_null(text);
	memset(text, '[', DEPTH);
	assert_int_equal(json_text_indent(text, DEPTH, &got, &got_bytes), 0);
	assert_true(got_bytes < DEPTH * 80);
	free(got);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jsontext_lays_out_whatever_it_is_given),
		cmocka_unit_test(jsontext_depth_does_not_make_it_large),
	};

	return cmocka_run_group_tests_name("jsontext", tests, NULL, NULL);
}
