/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* locations: what is one location, and their order, which does not depend on which came first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "analyze/fold/location/locations.h"
#include "tests/unit/random.h"

#define KERNEL 0xffffffff81000000ULL

/* In the order they are to get. */
static const struct location sorted[] = {
	{ .kind = LOCATION_UNMAPPED },
	{ .kind = LOCATION_GUEST },
	{ .kind = LOCATION_HYPERVISOR },
	{ .offset = KERNEL, .kind = LOCATION_KERNEL },
	{ .offset = KERNEL, .kind = LOCATION_KERNEL, .is_return = true },
	{ .offset = KERNEL + 1, .kind = LOCATION_KERNEL },
	{ .file = 0, .kind = LOCATION_FILE },
	{ .offset = 0x10, .file = 0, .kind = LOCATION_FILE },
	{ .offset = 0x10, .file = 0, .kind = LOCATION_FILE, .is_return = true },
	{ .file = 1, .kind = LOCATION_KSYMBOL },
	{ .file = 2, .kind = LOCATION_KSYMBOL },
	{ .offset = 0x8, .file = 3, .kind = LOCATION_FILE },
	{ .file = 4, .kind = LOCATION_KSYMBOL },
};

#define COUNT (sizeof(sorted) / sizeof(sorted[0]))

static bool is_same(const struct location *a, const struct location *b)
{
	return a->offset == b->offset && a->file == b->file && a->kind == b->kind &&
	       a->is_return == b->is_return;
}

static int add(struct locations *p, const struct location *place, uint32_t *out)
{
	return locations_add_hashed(p, place, locations_hash(&p->key, place), out);
}

/* A random order of the places, each added twice. */
static void add_shuffled(struct locations *p, uint64_t *seed)
{
	size_t order[COUNT];
	uint32_t id, again;

	for (size_t i = 0; i < COUNT; i++) {
		size_t at = next_random(seed) % (i + 1);

		order[i] = order[at];
		order[at] = i;
	}
	for (size_t i = 0; i < COUNT; i++) {
		assert_int_equal(add(p, &sorted[order[i]], &id), 0);
		assert_int_equal(id, i);
		assert_int_equal(add(p, &sorted[order[i]], &again), 0);
		assert_int_equal(again, i);
	}
}

static void order_is_of_the_places_alone(void **state)
{
	uint32_t numbers[COUNT];
	uint64_t seed = 11;

	for (unsigned turn = 0; turn < 200; turn++) {
		struct locations p = { 0 };
		struct location before[COUNT];

		add_shuffled(&p, &seed);
		memcpy(before, p.list, sizeof(before));
		assert_int_equal(locations_sort(&p, numbers), 0);
		for (size_t i = 0; i < COUNT; i++) {
			assert_true(is_same(&p.list[i], &sorted[i]));
			assert_true(is_same(&p.list[numbers[i]], &before[i]));
		}
		locations_done(&p);
	}
}

static void merging_numbers_what_is_there_and_what_is_new(void **state)
{
	struct locations a = { 0 }, b = { 0 };
	uint32_t numbers[COUNT], id;
	uint64_t seed = 5;

	for (size_t i = 0; i < COUNT; i += 2)
		assert_int_equal(add(&a, &sorted[i], &id), 0);
	add_shuffled(&b, &seed);
	assert_int_equal(locations_merge(&a, &b, numbers), 0);
	assert_int_equal(a.count, COUNT);
	for (size_t i = 0; i < COUNT; i++)
		assert_true(is_same(&a.list[numbers[i]], &b.list[i]));
	locations_done(&a);
	locations_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(order_is_of_the_places_alone),
		cmocka_unit_test(merging_numbers_what_is_there_and_what_is_new),
	};

	return cmocka_run_group_tests_name("places", tests, NULL, NULL);
}
