/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* linecache: a text is that of its key or of its place, or not there */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/report/script_cache.h"

static const struct linecache_key key = { 0x1000, 3, 1 };
static const struct linecache_place place = { 7, 0x20, 1 };

/* size_bytes: filled in by the call that gives text. */
static void assert_text(const char *text, const size_t *size_bytes, const char *expected)
{
	assert_non_null(text);
	assert_int_equal(*size_bytes, strlen(expected));
	assert_memory_equal(text, expected, *size_bytes);
}

static void linecache_gives_what_it_was_given(void **state)
{
	struct linecache *c;
	size_t size = 0;

	assert_int_equal(linecache_new(&c), 0);
	assert_null(linecache_get(c, &key, &size));
	assert_null(linecache_find(c, &key, &place, &size));
	linecache_add(c, &key, &place, "text", 4);
	assert_text(linecache_get(c, &key, &size), &size, "text");
	assert_text(linecache_find(c, &key, &place, &size), &size, "text");
	linecache_free(c);
	linecache_free(NULL);
}

static void linecache_every_part_of_a_key_counts(void **state)
{
	static const struct linecache_key keys[] = {
		{ 0x1001, 3, 1 }, { 0x1000, 4, 1 }, { 0x1000, 3, 2 }, { 3, 0x1000, 1 }
	};
	static const struct linecache_place places[] = {
		{ 8, 0x20, 1 }, { 7, 0x21, 1 }, { 7, 0x20, 0 }, { 0x20, 7, 1 }
	};
	struct linecache *c;
	size_t size;

	assert_int_equal(linecache_new(&c), 0);
	linecache_add(c, &key, &place, "text", 4);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		assert_null(linecache_get(c, &keys[i], &size));
		assert_null(linecache_find(c, &keys[i], &places[i], &size));
	}
	/* Another process that maps the file elsewhere: known by place, and by its key from then on. */
	assert_text(linecache_find(c, &keys[0], &place, &size), &size, "text");
	assert_text(linecache_get(c, &keys[0], &size), &size, "text");
	assert_text(linecache_get(c, &key, &size), &size, "text");
	linecache_free(c);
}

/* More than there is room for: what is still there is right, and room is found for what comes. */
static void linecache_forgets_but_does_not_mix_up(void **state)
{
	enum { COUNT = 300000, TEXT_BYTES = 100 };
	char text[TEXT_BYTES + 1];
	struct linecache *c;
	size_t size, there = 0;

	assert_int_equal(linecache_new(&c), 0);
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < COUNT; i++) {
			struct linecache_key k = { i * 16, i % 5, 1 };
			struct linecache_place p = { i, i * 3, 1 };
			const char *found = linecache_get(c, &k, &size);

			snprintf(text, sizeof(text), "%0*u", TEXT_BYTES, i);
			if (!found)
				found = linecache_find(c, &k, &p, &size);
			if (found)
				assert_text(found, &size, text);
			else
				linecache_add(c, &k, &p, text, TEXT_BYTES);
			there += found != NULL;
			assert_text(linecache_get(c, &k, &size), &size, text);
		}
	}
	assert_true(there < COUNT); /* bounded */
	linecache_free(c);
}

static void linecache_does_not_keep_giants(void **state)
{
	char *text = calloc(1, LINECACHE_MAX_BYTES);
	struct linecache *c;
	size_t size;

	assert_non_null(text);
	assert_int_equal(linecache_new(&c), 0);
	linecache_add(c, &key, &place, text, LINECACHE_MAX_BYTES);
	assert_null(linecache_get(c, &key, &size));
	linecache_add(c, &key, &place, "", 0);
	assert_text(linecache_get(c, &key, &size), &size, "");
	linecache_free(c);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(linecache_gives_what_it_was_given),
		cmocka_unit_test(linecache_every_part_of_a_key_counts),
		cmocka_unit_test(linecache_forgets_but_does_not_mix_up),
		cmocka_unit_test(linecache_does_not_keep_giants),
	};

	return cmocka_run_group_tests_name("linecache", tests, NULL, NULL);
}
