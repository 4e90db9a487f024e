/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/base/hash_index.h"

#define NAMES 20000u

struct name {
	uint64_t words[2];
};

/* ---- a hash without a key, and how it is inverted ---- */

static uint64_t public_pair(uint64_t a, uint64_t b)
{
	uint64_t h = a * 0x9e3779b97f4a7c15ULL ^ b;

	h ^= h >> 32;
	h *= 0xff51afd7ed558ccdULL;
	h ^= h >> 29;
	h *= 0xc4ceb9fe1a85ec53ULL;
	return h ^ h >> 32;
}

static uint64_t public_hash(const struct name *name)
{
	uint64_t h = public_pair(sizeof(*name), name->words[0]);

	return public_pair(public_pair(h, name->words[1]), 0);
}

/* The second word takes back what the first one did. */
static struct name forge_name(uint64_t number)
{
	uint64_t first = 0x6161616161616161ULL + number;

	return (struct name){
		{ first, public_pair(sizeof(struct name), first) * 0x9e3779b97f4a7c15ULL ^ 0x62 },
	};
}

/* How many slots the look-ups of all elements pass. */
static uint64_t count_steps(const struct hash_index *x)
{
	uint64_t steps = 0;

	for (uint32_t i = 0; i <= x->mask; i++)
		if (x->slots[i])
			steps += ((i - (uint32_t)(x->slots[i] >> 32)) & x->mask) + 1;
	return steps;
}

static void put_new(struct hash_index *x, uint64_t hash, uint32_t id)
{
	uint32_t pos = hash_index_start(x, hash);

	while (hash_index_match(x, hash, &pos) != HASH_INDEX_NONE)
		;
	hash_index_put(x, hash, pos, id);
}

static void names_forged_for_a_public_hash_are_found_in_two_steps(void **state)
{
	struct hash_index index = { 0 };
	uint64_t hash, forged = public_hash(&(struct name){ { 0 } });

	for (uint32_t i = 0; i < NAMES; i++) {
		struct name name = forge_name(i);

		if (i)
			assert_int_equal(public_hash(&name), forged);
		forged = public_hash(&name);
		assert_int_equal(hash_index_reserve(&index), 0);
		hash = hash_index_bytes(&index, &name, sizeof(name));
		put_new(&index, hash, i);
	}
	/* Where all hashes are one, the look-ups of n names take n * n / 2 steps: 200 million here. */
	assert_in_range(count_steps(&index), NAMES, 3 * NAMES);
	hash_index_done(&index);
}

static void tables_draw_keys_of_their_own(void **state)
{
	struct hash_index a = { 0 }, b = { 0 };

	assert_int_equal(hash_index_reserve(&a), 0);
	assert_int_equal(hash_index_reserve(&b), 0);
	assert_int_not_equal(hash_index_pair(&a, 1, 2), hash_index_pair(&b, 1, 2));
	assert_int_not_equal(hash_index_bytes(&a, "name", 4), hash_index_bytes(&b, "name", 4));
	hash_index_done(&a);
	hash_index_done(&b);
}

static void hash_depends_on_each_bit_and_on_the_length(void **state)
{
	const struct hash_key key = { 0x2545f4914f6cdd1d, 0xd1b54a32d192ed03 };
	uint8_t bytes[40] = { 0 };

	for (size_t size = 0; size <= sizeof(bytes); size++) {
		uint64_t hash = hash_bytes(&key, bytes, size);

		if (size)
			assert_int_not_equal(hash, hash_bytes(&key, bytes, size - 1));
		for (size_t bit = 0; bit < 8 * size; bit++) {
			bytes[bit / 8] ^= 1U << bit % 8;
			assert_int_not_equal(hash_bytes(&key, bytes, size), hash);
			bytes[bit / 8] ^= 1U << bit % 8;
		}
	}
	assert_int_not_equal(hash_pair(&key, 1, 2), hash_pair(&key, 2, 1));
}

/* Numbers that follow each other, in tables of all sizes: the worst is far from the slots that they fill. */
static void numbers_that_follow_each_other_are_spread(void **state)
{
	for (unsigned bits = 6; bits < 17; bits++) {
		struct hash_index index = { 0 };
		uint32_t count = 3u << (bits - 2);

		for (uint32_t i = 0; i < count; i++) {
			assert_int_equal(hash_index_reserve(&index), 0);
			put_new(&index, hash_index_pair(&index, i, 0), i);
		}
		assert_in_range(count_steps(&index), count, (uint64_t)count * 8 + 200);
		hash_index_done(&index);
	}
}

/* ---- hashes that are alike nevertheless ---- */

static void crowded_table_grows_until_elements_are_near(void **state)
{
	struct hash_index index = { 0 };
	uint32_t pos, id;

	/* The lowest 15 bits that choose a slot are equal. */
	for (uint32_t i = 0; i < 8000; i++) {
		assert_int_equal(hash_index_reserve(&index), 0);
		put_new(&index, (uint64_t)i << 47, i);
	}
	for (uint32_t i = 0; i < 8000; i++) {
		pos = hash_index_start(&index, (uint64_t)i << 47);
		while ((id = hash_index_match(&index, (uint64_t)i << 47, &pos)) != i)
			assert_int_not_equal(id, HASH_INDEX_NONE);
		assert_true(((pos - hash_index_start(&index, (uint64_t)i << 47)) & index.mask) <=
			    HASH_INDEX_FAR);
	}
	hash_index_done(&index);
}

static void too_many_equal_hashes_are_refused(void **state)
{
	struct hash_index index = { 0 };
	uint32_t count = 0;
	int err;

	for (; !(err = hash_index_reserve(&index)) && count < 3 * HASH_INDEX_FAR; count++)
		put_new(&index, 7ULL << 32, count);
	assert_int_equal(err, -EOVERFLOW);
	assert_in_range(count, HASH_INDEX_FAR, HASH_INDEX_FAR + 100);
	assert_true(index.mask < HASH_INDEX_SPARSE * 4 * HASH_INDEX_FAR);
	hash_index_done(&index);
}

static void replaced_element_is_found_in_place_of_the_first(void **state)
{
	struct hash_index index = { 0 };
	uint32_t pos;

	assert_int_equal(hash_index_reserve(&index), 0);
	for (uint32_t i = 0; i < 3; i++)
		put_new(&index, 5ULL << 32, i);
	pos = hash_index_start(&index, 5ULL << 32);
	assert_int_equal(hash_index_match(&index, 5ULL << 32, &pos), 0);
	assert_int_equal(hash_index_match(&index, 5ULL << 32, &pos), 1);
	hash_index_replace(&index, pos, 9);
	assert_int_equal(hash_index_match(&index, 5ULL << 32, &pos), 2);
	pos = hash_index_start(&index, 5ULL << 32);
	assert_int_equal(hash_index_match(&index, 5ULL << 32, &pos), 0);
	assert_int_equal(hash_index_match(&index, 5ULL << 32, &pos), 9);
	hash_index_done(&index);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_forged_for_a_public_hash_are_found_in_two_steps),
		cmocka_unit_test(tables_draw_keys_of_their_own),
		cmocka_unit_test(hash_depends_on_each_bit_and_on_the_length),
		cmocka_unit_test(numbers_that_follow_each_other_are_spread),
		cmocka_unit_test(crowded_table_grows_until_elements_are_near),
		cmocka_unit_test(too_many_equal_hashes_are_refused),
		cmocka_unit_test(replaced_element_is_found_in_place_of_the_first),
	};

	return cmocka_run_group_tests_name("hash_index", tests, NULL, NULL);
}
