/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "record/process/file/file_origin_cache.h"
#include "record/process/file/mapped_files.h"
#include "record/events/side_record.h"

#define SECOND_NS 1000000000ULL

static struct file_origin_cache cache;
static uint64_t known_below; /* mapids knows files by these inodes */

static int setup(void **state)
{
	known_below = 0;
	return 0;
}

static int teardown(void **state)
{
	file_origin_cache_done(&cache);
	return 0;
}

static struct mapping map_of(uint64_t inode, bool has_id)
{
	struct mapping m = { .pid = 7, .start = 0x1000, .size_bytes = 0x1000, .path = "/f" };

	m.id.inode = inode;
	m.id.dev_minor = 3;
	m.id.inode_generation = 9;
	if (has_id) {
		m.id.build_id.size_bytes = 20;
		memcpy(m.id.build_id.bytes, &inode, sizeof(inode));
	}
	return m;
}

static void add(uint64_t inode, bool has_id, uint64_t mount_namespace)
{
	struct mapping m = map_of(inode, has_id);
	struct file_origin_cache_file f = { .build_id = m.id.build_id,
					    .mount_namespace = mount_namespace };

	mapped_files_key(&m.id, f.key);
	assert_int_equal(file_origin_cache_add(&cache, &f, (const uint8_t *)"entry", 5), 0);
}

static bool is_known(const void *arg, const uint64_t key[2])
{
	return key[1] < known_below;
}

/* At now_s, with these files mapped; what is older than from_s is not needed. */
static void prune(const struct mapping *maps, size_t count, uint64_t from_s, uint64_t now_s)
{
	struct u64map mapped = { 0 };
	const struct file_origin_cache_rest rest = { .mapped = &mapped,
						     .is_known = is_known,
						     .from_ns = from_s * SECOND_NS,
						     .now_ns = now_s * SECOND_NS };
	struct side_record r = { .id = 1 };

	for (size_t i = 0; i < count; i++)
		assert_int_equal(
			file_origin_cache_see(&mapped, r.bytes, side_record_mmap2(&r, &maps[i])),
			0);
	assert_int_equal(
		file_origin_cache_see(&mapped, r.bytes, side_record_comm(&r, 7, 7, "name")), 0);
	file_origin_cache_prune(&cache, &rest, 1);
	u64map_done(&mapped);
}

static bool has(uint64_t inode)
{
	struct mapping m = map_of(inode, false);
	uint64_t key[2];
	const uint32_t *at;

	mapped_files_key(&m.id, key);
	at = u64map_get(&cache.by_key, key[0], key[1]);
	if (at)
		assert_int_equal(cache.files[*at].key[1], inode);
	return at;
}

static void what_is_mapped_known_or_young_stays(void **state)
{
	struct mapping mapped[] = { map_of(10, true), map_of(11, false) };

	for (uint64_t i = 1; i <= 20; i++)
		add(i, i % 2 == 0, 5);
	known_below = 4;
	prune(mapped, 2, 100, 110); /* from now on the others are not known */
	assert_int_equal(cache.count, 20);
	prune(mapped, 2, 109, 120); /* what is written still has that time */
	assert_int_equal(cache.count, 20);
	prune(mapped, 2, 111, 130);
	assert_int_equal(cache.count, 5);
	for (uint64_t i = 1; i <= 20; i++)
		assert_int_equal(has(i), i < 4 || i == 10 || i == 11);
}

static void a_file_that_is_reported_again_begins_anew(void **state)
{
	for (unsigned round = 0; round < 3; round++) {
		add(1, true, 5);
		prune(NULL, 0, 100, 110);
	}
	assert_int_equal(cache.count, 1);
	prune(NULL, 0, 200, 210);
	assert_int_equal(cache.count, 0);
	add(1, true, 5);
	prune(NULL, 0, 300, 310);
	assert_int_equal(cache.count, 1);
}

static void mounts_go_with_their_last_file(void **state)
{
	static const uint64_t objects[] = { 0, 1, 5, 6, 5 };

	for (size_t i = 0; i < 5; i++)
		assert_int_equal(file_origin_cache_add_mounts(&cache, objects[i],
							      (const uint8_t *)"mounts", 6),
				 0);
	assert_int_equal(cache.mounts_count, 4);
	add(1, true, 5);
	add(2, false, 6);
	known_below = 2;
	prune(NULL, 0, 100, 110);
	prune(NULL, 0, 200, 210);
	assert_int_equal(cache.count, 1);
	assert_int_equal(cache.mounts_count, 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(cache.mounts[i].object, objects[i]);
}

static void millions_of_files_take_the_room_of_a_few(void **state)
{
	for (uint64_t i = 0; i < 200000; i++) {
		add(i, i % 3, 5 + i % 7);
		known_below = 0;
		if (i % 1000 == 999)
			prune(NULL, 0, i - 1, i);
	}
	assert_in_range(cache.room, 1, 4096);
	assert_in_range(cache.by_key.slot_count, 1, 16384);
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(what_is_mapped_known_or_young_stays),
		CASE(a_file_that_is_reported_again_begins_anew),
		CASE(mounts_go_with_their_last_file),
		CASE(millions_of_files_take_the_room_of_a_few),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
