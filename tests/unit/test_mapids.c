/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/mapids.h"

#define FILES 12

static struct mapids ids;
static char dir[64], path[FILES][96];
static unsigned told[FILES];

/* Files need not be ELF files to be known. */
static int setup(void **state)
{
	FILE *f;

	snprintf(dir, sizeof(dir), "/tmp/ebprec-mapids-XXXXXX");
	assert_non_null(mkdtemp(dir));
	for (unsigned i = 0; i < FILES; i++) {
		snprintf(path[i], sizeof(path[i]), "%s/%u", dir, i);
		f = fopen(path[i], "w");
		assert_non_null(f);
		fclose(f);
	}
	memset(told, 0, sizeof(told));
	return mapids_init(&ids, NULL);
}

static int teardown(void **state)
{
	mapids_done(&ids);
	for (unsigned i = 0; i < FILES; i++)
		unlink(path[i]);
	return rmdir(dir);
}

static void on_file(void *arg, const char *name, int fd, const struct elffacts *facts)
{
	told[atoi(strrchr(name, '/') + 1)]++;
}

static void look_up(unsigned file)
{
	struct siderec_map m = { .pid = (uint32_t)getpid(), .path = path[file] };
	struct stat st;

	assert_int_equal(stat(path[file], &st), 0);
	m.dev_major = major(st.st_dev);
	m.dev_minor = minor(st.st_dev);
	m.inode = st.st_ino;
	mapids_lookup(&ids, &m);
	assert_int_equal(m.build_id.size_bytes, 0);
}

static void a_file_is_read_once(void **state)
{
	ids.on_file = on_file;
	for (unsigned i = 0; i < 100; i++)
		look_up(i % FILES);
	assert_int_equal(ids.read_count, FILES);
	assert_int_equal(told[0], 1);
	assert_int_equal(ids.missing_count, FILES);
}

static void what_was_mapped_last_is_remembered_longest(void **state)
{
	ids.on_file = on_file;
	ids.kept_max = 3;
	for (unsigned i = 0; i < 1000; i++) {
		look_up(0); /* always in use */
		look_up(1 + i % (FILES - 1));
		assert_true(ids.fresh.count <= 3 && ids.old.count <= 3);
	}
	assert_int_equal(told[0], 1);
	for (unsigned i = 1; i < FILES; i++)
		assert_true(told[i] > 1); /* forgotten, and read again */
	look_up(2);
	look_up(2);
	told[2] = 0;
	look_up(2);
	assert_int_equal(told[2], 0);
}

static void the_list_of_build_ids_ends(void **state)
{
	struct buildid id = { .size_bytes = 20 };
	size_t bytes, full;

	for (uint32_t i = 0; i < MAPIDS_NAMED; i++) {
		memcpy(id.bytes, &i, sizeof(i));
		mapids_name(&ids, &id, "/bin/true", false);
	}
	(void)buildidlist_section(ids.named, &full);
	assert_int_equal(buildidlist_count(ids.named), MAPIDS_NAMED);
	assert_int_equal(ids.unnamed_count, 0);
	id.bytes[10] = 1;
	mapids_name(&ids, &id, "/bin/true", false);
	mapids_name(&ids, &(struct buildid){ .size_bytes = 0 }, "/bin/true", false);
	assert_int_equal(ids.unnamed_count, 1);
	(void)buildidlist_section(ids.named, &bytes);
	assert_int_equal(bytes, full);
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_file_is_read_once),
		CASE(what_was_mapped_last_is_remembered_longest),
		CASE(the_list_of_build_ids_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
