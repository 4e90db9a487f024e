/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analyze/fold/location/mapping_cache.h"
#include "tests/unit/sidefacts.h"

#define PIDS 600 /* more address spaces than are cached */
#define MAPS 20  /* more mappings of each than are cached */

struct fixture {
	struct string_table *names;
	struct process_model *m;
	struct mapping_cache *c;
};

static struct fixture setup(void)
{
	struct fixture f;
	char path[32];

	assert_int_equal(string_table_new(&f.names), 0);
	assert_int_equal(process_model_new(f.names, &f.m), 0);
	for (uint32_t pid = 1; pid <= PIDS; pid++) {
		for (uint32_t i = 1; i <= MAPS; i++) {
			snprintf(path, sizeof(path), "/lib/%u", i);
			/* Every third has a hole before the next one. */
			sidefacts_map(f.m, pid, 0x1000 * i, 0x1000 * i + (i % 3 ? 0x1000 : 0x800),
				      path);
		}
	}
	sidefacts_bpf(f.m);
	assert_int_equal(process_model_seal(f.m), 0);
	assert_int_equal(mapping_cache_new(f.m, NULL, &f.c), 0);
	return f;
}

static void teardown(struct fixture *f)
{
	mapping_cache_free(f->c);
	process_model_free(f->m);
	string_table_free(f->names);
}

static uint32_t space_of(const struct fixture *f, uint32_t pid)
{
	struct process_model_where where;

	process_model_thread(f->m, pid, pid, 5, &where);
	return where.space;
}

static struct location place_of(struct fixture *f, uint32_t space, enum location_kind kind,
				uint64_t addr, bool is_return)
{
	struct callchain_run run = { .space = space, .kind = kind };
	struct mapping_cache_walk walk;
	struct location place;

	mapping_cache_begin(f->c, &run, &walk);
	mapping_cache_place(&walk, &run, addr, is_return, &place);
	return place;
}

static void answers_as_the_model(void **state)
{
	struct fixture f = setup();
	unsigned mapped = 0, unmapped = 0;

	srand(1);
	for (unsigned i = 0; i < 100000; i++) {
		uint32_t space = space_of(&f, 1 + (uint32_t)(rand() % (rand() % 2 ? 4 : PIDS)));
		uint64_t addr = (uint64_t)(rand() % 0x16000);
		bool is_return = rand() % 2;
		struct location place = place_of(&f, space, LOCATION_FILE, addr, is_return);
		struct process_model_place want;

		if (process_model_place(f.m, space, addr - (is_return && addr), &want)) {
			assert_int_equal(place.kind, LOCATION_FILE);
			assert_int_equal(place.file, want.file);
			assert_int_equal(place.offset,
					 want.file_off_bytes + (is_return && addr ? 1 : 0));
			assert_int_equal(place.is_return, is_return);
			mapped++;
		} else {
			assert_int_equal(place.kind, LOCATION_UNMAPPED);
			assert_int_equal(place.offset, 0);
			unmapped++;
		}
	}
	assert_true(mapped > 1000 && unmapped > 1000);
	teardown(&f);
}

static void call_that_ends_its_mapping_belongs_to_it(void **state)
{
	struct fixture f = setup();
	struct location first, next;

	first = place_of(&f, space_of(&f, 1), LOCATION_FILE, 0x2000, true);
	next = place_of(&f, space_of(&f, 1), LOCATION_FILE, 0x2000, false);
	assert_int_equal(first.offset, 0x1000);
	assert_int_equal(next.offset, 0);
	assert_int_not_equal(first.file, next.file);
	teardown(&f);
}

static void code_that_the_kernel_made_is_one_place(void **state)
{
	struct fixture f = setup();
	uint32_t kernel = process_model_kernel(f.m, 5);
	struct location a = place_of(&f, kernel, LOCATION_KERNEL, 0xffff0010, false);
	struct location b = place_of(&f, kernel, LOCATION_KERNEL, 0xffff0020, true);
	struct location c = place_of(&f, kernel, LOCATION_KERNEL, 0xfffe0020, true);

	assert_int_equal(a.kind, LOCATION_KSYMBOL);
	assert_int_equal(a.offset, 0);
	assert_int_equal(b.kind, LOCATION_KSYMBOL);
	assert_false(b.is_return);
	assert_int_equal(c.kind, LOCATION_KERNEL);
	assert_int_equal(c.offset, 0xfffe0020);
	assert_true(c.is_return);
	teardown(&f);
}

static void context_without_maps_has_one_place(void **state)
{
	struct fixture f = setup();
	struct location guest = place_of(&f, PROCESS_MODEL_NONE, LOCATION_GUEST, 0x2000, true);
	struct location no_process = place_of(&f, PROCESS_MODEL_NONE, LOCATION_FILE, 0x2000, true);

	assert_int_equal(guest.kind, LOCATION_GUEST);
	assert_int_equal(guest.offset, 0);
	assert_int_equal(no_process.kind, LOCATION_UNMAPPED);
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_as_the_model),
		cmocka_unit_test(call_that_ends_its_mapping_belongs_to_it),
		cmocka_unit_test(code_that_the_kernel_made_is_one_place),
		cmocka_unit_test(context_without_maps_has_one_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
