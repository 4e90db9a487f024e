/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "analyze/base/string_table.h"

static uint32_t add(struct string_table *s, const char *text)
{
	uint32_t id = UINT32_MAX;

	assert_int_equal(string_table_add(s, text, strlen(text), &id), 0);
	return id;
}

static void equal_texts_get_equal_numbers(void **state)
{
	struct string_table *s;
	char copy[] = "libc.so.6";

	assert_int_equal(string_table_new(&s), 0);
	assert_int_equal(add(s, "libc.so.6"), add(s, copy));
	assert_int_not_equal(add(s, "libc.so.6"), add(s, "libc.so.7"));
	string_table_free(s);
}

static void empty_text_is_number_zero(void **state)
{
	struct string_table *s;

	assert_int_equal(string_table_new(&s), 0);
	assert_int_equal(string_table_count(s), 1);
	assert_int_equal(add(s, ""), 0);
	assert_string_equal(string_table_text(s, 0), "");
	string_table_free(s);
}

static void text_need_not_end_in_nul(void **state)
{
	struct string_table *s;
	uint32_t id;

	assert_int_equal(string_table_new(&s), 0);
	assert_int_equal(string_table_add(s, "abcdef", 3, &id), 0);
	assert_string_equal(string_table_text(s, id), "abc");
	assert_int_equal(string_table_bytes(s, id), 3);
	assert_int_equal(id, add(s, "abc"));
	string_table_free(s);
}

static void what_was_never_added_is_not_found(void **state)
{
	struct string_table *s;

	assert_int_equal(string_table_new(&s), 0);
	add(s, "there");
	assert_int_equal(string_table_find(s, "there"), 1);
	assert_int_equal(string_table_find(s, "the"), UINT32_MAX);
	assert_int_equal(string_table_find(s, "there "), UINT32_MAX);
	string_table_free(s);
}

static void texts_stay_where_they_are(void **state)
{
	struct string_table *s;
	const char *first;
	char text[32], large[100000];

	assert_int_equal(string_table_new(&s), 0);
	first = string_table_text(s, add(s, "first"));
	memset(large, 'x', sizeof(large) - 1);
	large[sizeof(large) - 1] = '\0';
	assert_string_equal(string_table_text(s, add(s, large)), large);
	for (unsigned i = 0; i < 50000; i++) {
		snprintf(text, sizeof(text), "name %u", i);
		assert_int_equal(add(s, text), i + 3);
	}
	for (unsigned i = 0; i < 50000; i++) {
		snprintf(text, sizeof(text), "name %u", i);
		assert_string_equal(string_table_text(s, i + 3), text);
		assert_int_equal(string_table_find(s, text), i + 3);
	}
	assert_ptr_equal(first, string_table_text(s, 1));
	string_table_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_texts_get_equal_numbers),
		cmocka_unit_test(empty_text_is_number_zero),
		cmocka_unit_test(text_need_not_end_in_nul),
		cmocka_unit_test(what_was_never_added_is_not_found),
		cmocka_unit_test(texts_stay_where_they_are),
	};

	return cmocka_run_group_tests_name("strings", tests, NULL, NULL);
}
