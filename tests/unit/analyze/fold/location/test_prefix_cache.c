/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analyze/process/process_model.h"
#include "analyze/fold/location/prefix_cache.h"

#define FRAMES 200

/* Innermost first, as in a chain; the path of frame i from outside is its address + 7. */
static size_t walk(struct prefix_cache *t, const struct callchain_run *run, const uint64_t *addrs)
{
	struct prefix *prefix = prefix_cache_of(t, run, 0);
	uint64_t paths[FRAMES] = { 0 };
	size_t known;

	assert_non_null(prefix);
	known = prefix_follow(prefix, run);
	prefix_take(prefix, known, paths);
	for (size_t i = 0; i < run->count; i++) {
		uint64_t path = addrs[run->count - 1 - i] + 7;

		assert_int_equal(paths[i], i < known ? path : 0);
		paths[i] = path;
	}
	prefix_leave(prefix, run, paths, known);
	return known;
}

static struct callchain_run run_of(const uint64_t *addrs, size_t count, uint32_t space)
{
	return (struct callchain_run){ (const uint8_t *)addrs, count, space, LOCATION_FILE };
}

static void follows_as_far_as_callers_agree(void **state)
{
	uint64_t a[] = { 1, 2, 3, 4, 5 }, b[] = { 9, 8, 3, 4, 5 }, c[] = { 5 }, d[] = { 4, 5 };
	struct callchain_run run_a = run_of(a, 5, 3), run_b = run_of(b, 5, 3),
			     run_c = run_of(c, 1, 3), run_d = run_of(d, 2, 3);
	struct prefix_cache *t;

	assert_int_equal(prefix_cache_new(&t), 0);
	assert_int_equal(walk(t, &run_a, a), 0);
	assert_int_equal(walk(t, &run_a, a), 4); /* the innermost frame is never followed */
	assert_int_equal(walk(t, &run_b, b), 3);
	assert_int_equal(walk(t, &run_a, a), 3);
	assert_int_equal(walk(t, &run_d, d), 1); /* 4 is a leaf here */
	assert_int_equal(walk(t, &run_a, a), 1);
	assert_int_equal(walk(t, &run_c, c), 0);
	assert_int_equal(walk(t, &run_a, a), 0); /* the run before had no callers */
	prefix_cache_free(t);
}

static void address_spaces_kinds_and_roots_are_distinguished(void **state)
{
	uint64_t a[] = { 1, 2, 3, 4, 5 };
	struct callchain_run run = run_of(a, 5, 3), other = run_of(a, 5, 3 + 256);
	struct prefix_cache *t;

	assert_int_equal(prefix_cache_new(&t), 0);
	assert_int_equal(walk(t, &run, a), 0);
	assert_int_equal(prefix_cache_of(t, &run, 1)->count, 0);
	assert_int_equal(walk(t, &run, a), 0);
	assert_int_equal(walk(t, &other, a), 0);
	assert_int_equal(walk(t, &other, a), 4);
	assert_int_equal(walk(t, &run, a), 0);
	run.kind = LOCATION_KERNEL;
	assert_int_equal(walk(t, &run, a), 0);
	run.space = PROCESS_MODEL_NONE;
	assert_null(prefix_cache_of(t, &run, 0));
	prefix_cache_free(t);
}

static void the_outermost_frames_of_long_stacks_are_cached(void **state)
{
	uint64_t a[FRAMES];
	struct callchain_run run = run_of(a, FRAMES, 3);
	struct prefix_cache *t;

	for (size_t i = 0; i < FRAMES; i++)
		a[i] = 1000 + i;
	assert_int_equal(prefix_cache_new(&t), 0);
	assert_int_equal(walk(t, &run, a), 0);
	assert_int_equal(walk(t, &run, a), PREFIX_CACHE_FRAMES);
	a[FRAMES - PREFIX_CACHE_FRAMES]++; /* the innermost of those that are cached */
	assert_int_equal(walk(t, &run, a), PREFIX_CACHE_FRAMES - 1);
	a[FRAMES - 1]++;
	assert_int_equal(walk(t, &run, a), 0);
	prefix_cache_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(follows_as_far_as_callers_agree),
		cmocka_unit_test(address_spaces_kinds_and_roots_are_distinguished),
		cmocka_unit_test(the_outermost_frames_of_long_stacks_are_cached),
	};

	return cmocka_run_group_tests_name("prefixes", tests, NULL, NULL);
}
