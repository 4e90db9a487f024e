/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* codeparts: addresses that must have one name, by hand, against a search from the start, and in real files */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/fold/location/symbol_buckets.h"
#include "analyze/sym/resolve.h"
#include "tests/unit/fixture.h"
#include "tests/unit/random.h"

static struct location folded(const struct symbol_buckets *c, uint64_t offset, bool is_return)
{
	struct location p = {
		.offset = offset, .file = 7, .kind = LOCATION_FILE, .is_return = is_return
	};
	struct symbol_buckets_range range;

	range = symbol_buckets_find(c, &p);
	symbol_buckets_fold(&range, &p);
	assert_int_equal(p.file, 7);
	assert_int_equal(p.kind, LOCATION_FILE);
	return p;
}

static void check(const struct symbol_buckets *c, uint64_t offset, bool is_return, uint64_t want,
		  bool want_return)
{
	struct location p = folded(c, offset, is_return);

	if (p.offset != want || p.is_return != want_return)
		fail_msg("%#lx%s: %#lx%s, expected %#lx%s", (unsigned long)offset,
			 is_return ? " (return)" : "", (unsigned long)p.offset,
			 p.is_return ? " (return)" : "", (unsigned long)want,
			 want_return ? " (return)" : "");
}

static void place_moves_to_where_its_part_begins(void **state)
{
	static const uint64_t bounds[] = { 0x1000, 0x1040, 0x1041, 0x2000 };
	struct symbol_buckets c;

	assert_int_equal(symbol_buckets_make(bounds, 4, &c), 0);
	check(&c, 0x1000, false, 0x1000, false);
	check(&c, 0x103f, false, 0x1000, false);
	check(&c, 0x1020, true, 0x1000, false);
	check(&c, 0x1040, false, 0x1040, false);
	check(&c, 0x1041, false, 0x1041, false);
	check(&c, 0x1fff, true, 0x1041, false);
	/* The call is in the part before: it keeps a bit for that. */
	check(&c, 0x1040, true, 0x1040, true);
	check(&c, 0x2000, true, 0x2000, true);
	/* In no part. */
	check(&c, 0xfff, false, 0xfff, false);
	check(&c, 0x1000, true, 0x1000, true);
	check(&c, 0x2000, false, 0x2000, false);
	check(&c, 0x2001, true, 0x2001, true);
	check(&c, 0, true, 0, true);
	check(&c, UINT64_MAX, false, UINT64_MAX, false);
	symbol_buckets_done(&c);
}

static void bounds_that_lie_far_apart_are_regions(void **state)
{
	static const uint64_t far[] = { 0,
					0x10,
					0xffffffff81000000,
					0xffffffff81000100,
					0xffffffffc0000000,
					0xffffffffc0000008,
					UINT64_MAX - 1,
					UINT64_MAX };
	static const uint64_t alone[] = { 0x1000,       0x1000000000, 0x2000000000,
					  0x3000000000, 0x4000000000, 0x5000000000 };
	uint64_t many[2 * SYMBOL_BUCKETS_REGIONS + 2];
	struct symbol_buckets c;

	assert_int_equal(symbol_buckets_make(far, 8, &c), 0);
	assert_int_equal(c.region_count, 4);
	check(&c, 0, false, 0, false);
	check(&c, 0, true, 0, false);
	check(&c, 1, true, 0, false);
	check(&c, 0xffffffff810000ff, false, 0xffffffff81000000, false);
	check(&c, 0xffffffff81000100, false, 0xffffffff81000100, false);
	check(&c, 0xffffffffc0000004, true, 0xffffffffc0000000, false);
	check(&c, UINT64_MAX - 1, false, UINT64_MAX - 1, false);
	symbol_buckets_done(&c);

	assert_int_equal(symbol_buckets_make(alone, 6, &c), 0);
	assert_int_equal(c.region_count, 0);
	check(&c, 0x1000000001, false, 0x1000000001, false);
	symbol_buckets_done(&c);
	assert_int_equal(symbol_buckets_make(NULL, 0, &c), 0);
	symbol_buckets_done(&c);

	for (size_t i = 0; i < 2 * SYMBOL_BUCKETS_REGIONS + 2; i++)
		many[i] = i / 2 * 0x100000000 + i % 2;
	assert_int_equal(symbol_buckets_make(many, 2 * SYMBOL_BUCKETS_REGIONS, &c), 0);
	symbol_buckets_done(&c);
	assert_int_equal(symbol_buckets_make(many, 2 * SYMBOL_BUCKETS_REGIONS + 2, &c), -ERANGE);
}

static void region_beyond_the_range_of_its_numbers_is_refused(void **state)
{
	size_t count = ((uint64_t)UINT32_MAX / SYMBOL_BUCKETS_GAP_BYTES) + 3;
	uint64_t *bounds = calloc(count, sizeof(*bounds));
	struct symbol_buckets c;

	for (size_t i = 0; i < count; i++)
		bounds[i] = i * SYMBOL_BUCKETS_GAP_BYTES;
	assert_int_equal(symbol_buckets_make(bounds, count, &c), -ERANGE);
	assert_int_equal(symbol_buckets_make(bounds, count - 3, &c), 0);
	check(&c, 5 * SYMBOL_BUCKETS_GAP_BYTES + 9, true, 5 * SYMBOL_BUCKETS_GAP_BYTES, false);
	symbol_buckets_done(&c);
	free(bounds);
}

/* From the first bound on. */
static uint64_t search(const uint64_t *bounds, size_t count, uint64_t addr)
{
	for (size_t i = 1; i < count; i++)
		if (addr >= bounds[i - 1] && addr < bounds[i])
			return bounds[i - 1];
	return addr;
}

static int by_value(const void *pa, const void *pb)
{
	const uint64_t *a = pa, *b = pb;

	return *a < *b ? -1 : *a > *b;
}

/* Spread evenly, in clumps, and both. */
static size_t random_bounds(uint64_t *seed, uint64_t *out, size_t most)
{
	size_t count = 2 + next_random(seed) % (most - 2), distinct = 0;
	uint64_t span = (uint64_t)1 << (2 + next_random(seed) % 26);

	for (size_t i = 0; i < count; i++)
		out[i] = 0x400000 + next_random(seed) % (i % 3 ? span : span / 64 + 1);
	qsort(out, count, sizeof(*out), by_value);
	for (size_t i = 0; i < count; i++)
		if (!distinct || out[distinct - 1] != out[i])
			out[distinct++] = out[i];
	return distinct;
}

static void answers_as_a_search_from_the_start(void **state)
{
	enum { MOST = 600 };
	uint64_t bounds[MOST], seed = 88172645463325252ULL;

	for (unsigned round = 0; round < 300; round++) {
		size_t count = random_bounds(&seed, bounds, MOST);
		uint64_t first = bounds[0], span = bounds[count - 1] - first;
		struct symbol_buckets c;

		assert_int_equal(symbol_buckets_make(bounds, count, &c), 0);
		for (unsigned i = 0; i < 500; i++) {
			uint64_t addr = i % 2 ? bounds[next_random(&seed) % count] +
							next_random(&seed) % 3 - 1
					      : first - 2 + next_random(&seed) % (span + 4);

			check(&c, addr, false, search(bounds, count, addr), false);
			if (search(bounds, count, addr) != addr)
				check(&c, addr, true, search(bounds, count, addr - 1), false);
		}
		symbol_buckets_done(&c);
	}
}

/* ---- all files of a model ---- */

struct reader {
	atomic_uint calls, at_once;
	unsigned by_file[4];
};

static int read_some(void *arg, uint32_t file, uint64_t **out, size_t *count)
{
	struct reader *r = arg;

	assert_int_equal(atomic_fetch_add(&r->at_once, 1), 0);
	r->calls++;
	r->by_file[file == SYMBOL_BUCKETS_KERNEL ? 3 : file]++;
	r->at_once--;
	if (file == 1)
		return -ENOENT;
	*out = calloc(2, sizeof(**out));
	(*out)[0] = file;
	(*out)[1] = (uint64_t)file + 100;
	*count = 2;
	return 0;
}

static void *ask_all(void *arg)
{
	struct symbol_buckets_set *s = arg;

	for (int i = 0; i < 1000; i++) {
		assert_non_null(symbol_buckets_of(s, 0));
		assert_null(symbol_buckets_of(s, 1));
		assert_int_equal(symbol_buckets_of(s, 2)->regions[0].first, 2);
		assert_int_equal(symbol_buckets_of(s, SYMBOL_BUCKETS_KERNEL)->regions[0].first,
				 UINT32_MAX);
		assert_null(symbol_buckets_of(s, 3));
	}
	return NULL;
}

static void file_is_read_once_for_all_callers(void **state)
{
	struct reader r = { 0 };
	struct symbol_buckets_set *s;
	pthread_t threads[3];

	assert_int_equal(symbol_buckets_set_new(3, read_some, &r, &s), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, ask_all, s), 0);
	ask_all(s);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(r.calls, 4);
	for (int i = 0; i < 4; i++)
		assert_int_equal(r.by_file[i], 1);
	symbol_buckets_set_free(s);
	symbol_buckets_set_free(NULL);
}

/* ---- real files ---- */

static struct resolver *resolver_in(const char *root)
{
	const struct resolver_opts opts = { .roots = { .symfs = root }, .demangle = true };
	struct resolver *r;

	assert_int_equal(resolver_new(&opts, &r), 0);
	return r;
}

static void check_names(struct resolver *r, uint32_t file, const struct symbol_buckets *c,
			uint64_t addr, bool is_return)
{
	const struct resolved *want = resolver_user(r, file, addr, is_return);
	struct location p = folded(c, addr, is_return);
	const struct resolved *got = resolver_user(r, file, p.offset, p.is_return);

	assert_int_equal(got->reason, want->reason);
	if (!got->name != !want->name || (want->name && strcmp(got->name, want->name) != 0))
		fail_msg("%#lx%s: %s, and %s where its part begins", (unsigned long)addr,
			 is_return ? " (return)" : "", want->name ? want->name : "nothing",
			 got->name ? got->name : "nothing");
}

/* The ends of each part and one place in it.  Returns how many there are; 0: not here. */
static size_t check_file(const char *root, const char *path)
{
	const struct resolver_file as = { .path = path };
	struct resolver *r = resolver_in(root);
	uint32_t file = resolver_add_file(r, &as);
	uint64_t *bounds = NULL, seed = 2463534242;
	struct symbol_buckets c = { .region_count = 0 };
	size_t count = 0;

	if (resolver_bounds(r, file, &bounds, &count)) {
		resolver_free(r);
		return 0;
	}
	assert_int_equal(symbol_buckets_make(bounds, count, &c), 0);
	for (size_t i = 0; i < count; i++) {
		uint64_t size = i + 1 < count ? bounds[i + 1] - bounds[i] : 1;
		uint64_t addr = bounds[i] + next_random(&seed) % size;

		for (int is_return = 0; is_return < 2; is_return++) {
			check_names(r, file, &c, bounds[i], is_return);
			check_names(r, file, &c, bounds[i] + 1, is_return);
			check_names(r, file, &c, addr, is_return);
		}
		assert_true(!i || bounds[i - 1] < bounds[i]);
	}
	symbol_buckets_done(&c);
	free(bounds);
	resolver_free(r);
	return count;
}

static void in_each_part_of_a_file_there_is_one_name(void **state)
{
	char root[FIXTURE_PATH], exe[4096];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	fixture_path("", root);
	assert_true(check_file(root, "/layout") > 10);
	assert_true(check_file(root, "/layout.so") > 10);
	assert_true(check_file(root, "/layout.so.stripped") > 2);
	assert_true(check_file(root, "/plt-nopie") > 4);
	assert_int_equal(check_file(root, "/.built"), 0); /* no ELF */
	assert_int_equal(check_file(root, "/gone"), 0);
	assert_true(n > 0);
	exe[n] = '\0';
	assert_true(check_file("/", exe) > 100);
}

/* Where the file is already loaded, or its names are of another kind, each place may have its own. */
static void what_was_asked_for_by_place_has_no_parts(void **state)
{
	const struct resolver_file as = { .path = "/layout" },
				   jit = { .path = "//anon", .jit_pid = 5 };
	uint64_t *bounds = NULL;
	char root[FIXTURE_PATH];
	struct resolver *r;
	size_t count = 0;
	uint32_t file;

	fixture_path("", root);
	r = resolver_in(root);
	file = resolver_add_file(r, &as);
	assert_int_equal(resolver_bounds(r, file, &bounds, &count), 0);
	free(bounds);
	/* Asking left it as it was. */
	assert_int_equal(resolver_want(r, file, 0x1000, false), 0);
	assert_string_equal(resolver_user(r, file, 0x1000, false)->name, "f_sized");
	assert_int_equal(resolver_bounds(r, file, &bounds, &count), -ENOENT);
	assert_int_equal(resolver_bounds(r, resolver_add_file(r, &jit), &bounds, &count), -ENOENT);
	assert_int_equal(resolver_bounds(r, 1000, &bounds, &count), -ENOENT);
	assert_int_equal(resolver_kernel_bounds(r, &bounds, &count), -ENOENT);
	resolver_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(place_moves_to_where_its_part_begins),
		cmocka_unit_test(bounds_that_lie_far_apart_are_regions),
		cmocka_unit_test(region_beyond_the_range_of_its_numbers_is_refused),
		cmocka_unit_test(answers_as_a_search_from_the_start),
		cmocka_unit_test(file_is_read_once_for_all_callers),
		cmocka_unit_test(in_each_part_of_a_file_there_is_one_name),
		cmocka_unit_test(what_was_asked_for_by_place_has_no_parts),
	};

	return cmocka_run_group_tests_name("codeparts", tests, NULL, NULL);
}
