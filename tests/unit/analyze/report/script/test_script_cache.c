/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* linecache: a text is that of its key or of its place, or not there */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/report/script/script_cache.h"

static const struct script_cache_key key = { 0x1000, 3, 1 };
static const struct script_cache_place place = { 7, 0x20, 1 };

/* size_bytes: filled in by the call that gives text. */
static void assert_text(const char *text, const size_t *size_bytes, const char *expected)
{
	assert_non_null(text);
	assert_int_equal(*size_bytes, strlen(expected));
	assert_memory_equal(text, expected, *size_bytes);
}

static void linecache_gives_what_it_was_given(void **state)
{
	struct script_cache *c;
	size_t size = 0;

	assert_int_equal(script_cache_new(&c), 0);
	assert_null(script_cache_get(c, &key, &size));
	assert_null(script_cache_find(c, &key, &place, &size));
	script_cache_add(c, &key, &place, "text", 4);
	assert_text(script_cache_get(c, &key, &size), &size, "text");
	assert_text(script_cache_find(c, &key, &place, &size), &size, "text");
	script_cache_free(c);
	script_cache_free(NULL);
}

static void linecache_every_part_of_a_key_counts(void **state)
{
	static const struct script_cache_key keys[] = {
		{ 0x1001, 3, 1 }, { 0x1000, 4, 1 }, { 0x1000, 3, 2 }, { 3, 0x1000, 1 }
	};
	static const struct script_cache_place places[] = {
		{ 8, 0x20, 1 }, { 7, 0x21, 1 }, { 7, 0x20, 0 }, { 0x20, 7, 1 }
	};
	struct script_cache *c;
	size_t size;

	assert_int_equal(script_cache_new(&c), 0);
	script_cache_add(c, &key, &place, "text", 4);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		assert_null(script_cache_get(c, &keys[i], &size));
		assert_null(script_cache_find(c, &keys[i], &places[i], &size));
	}
	/* Another process that maps the file elsewhere: known by place, and by its key from then on. */
	assert_text(script_cache_find(c, &keys[0], &place, &size), &size, "text");
	assert_text(script_cache_get(c, &keys[0], &size), &size, "text");
	assert_text(script_cache_get(c, &key, &size), &size, "text");
	script_cache_free(c);
}

/* More than there is room for: what is still there is right, and room is found for what comes. */
static void linecache_forgets_but_does_not_mix_up(void **state)
{
	enum { COUNT = 300000, TEXT_BYTES = 100 };
	char text[TEXT_BYTES + 1];
	struct script_cache *c;
	size_t size, there = 0;

	assert_int_equal(script_cache_new(&c), 0);
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < COUNT; i++) {
			struct script_cache_key k = { i * 16, i % 5, 1 };
			struct script_cache_place p = { i, i * 3, 1 };
			const char *found = script_cache_get(c, &k, &size);

			snprintf(text, sizeof(text), "%0*u", TEXT_BYTES, i);
			if (!found)
				found = script_cache_find(c, &k, &p, &size);
			if (found)
				assert_text(found, &size, text);
			else
				script_cache_add(c, &k, &p, text, TEXT_BYTES);
			there += found != NULL;
			assert_text(script_cache_get(c, &k, &size), &size, text);
		}
	}
	assert_true(there < COUNT); /* bounded */
	script_cache_free(c);
}

static void linecache_does_not_keep_giants(void **state)
{
	char *text = calloc(1, SCRIPT_CACHE_MAX_BYTES);
	struct script_cache *c;
	size_t size;

	assert_non_null(text);
	assert_int_equal(script_cache_new(&c), 0);
	script_cache_add(c, &key, &place, text, SCRIPT_CACHE_MAX_BYTES);
	assert_null(script_cache_get(c, &key, &size));
	script_cache_add(c, &key, &place, "", 0);
	assert_text(script_cache_get(c, &key, &size), &size, "");
	script_cache_free(c);
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
