/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* gonefiles: what is kept of files that no path leads to, and that nothing of it stays */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "record/process/deleted_files.h"

struct fixture {
	char top[64], dir[96];
	struct deleted_files gone;
	int fd; /* of a file without a name, with 100 000 bytes */
};

static const struct buildid id = { { 0xab, 0xcd, 0xef }, 3 };
static const struct buildid beside = { { 0xab, 0x01, 0x02 }, 3 };

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	strcpy(f->top, "/tmp/ebprec-gonefiles-XXXXXX");
	assert_non_null(mkdtemp(f->top));
	snprintf(f->dir, sizeof(f->dir), "%s/gone", f->top);
	f->gone.dir = f->dir;
	f->fd = memfd_create("program", MFD_CLOEXEC);
	assert_true(f->fd >= 0);
	for (unsigned i = 0; i < 25000; i++)
		assert_int_equal(write(f->fd, &i, sizeof(i)), sizeof(i));
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	deleted_files_done(&f->gone);
	close(f->fd);
	assert_int_equal(access(f->dir, F_OK), -1);
	assert_int_equal(rmdir(f->top), 0); /* so nothing is left in it */
	free(f);
	return 0;
}

/* The copy below the folder; its size, or -1. */
static long size_of(const struct fixture *f, const char *name)
{
	char path[160];
	struct stat st;

	snprintf(path, sizeof(path), "%s/.build-id/%s", f->dir, name);
	return stat(path, &st) ? -1 : (long)st.st_size;
}

/* An empty file in the folder above; open, and its path. */
static int make_file(const struct fixture *f, char path[160])
{
	int fd;

	snprintf(path, 160, "%s/program", f->top);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	assert_true(fd >= 0);
	return fd;
}

static void file_without_a_name_is_kept_once(void **state)
{
	struct fixture *f = *state;
	char path[160];
	unsigned word;
	int fd;

	for (unsigned i = 0; i < 3; i++)
		deleted_files_see(&f->gone, "/memfd:program (deleted)", f->fd, &id);
	deleted_files_see(&f->gone, "/memfd:program (deleted)", f->fd, &beside);
	assert_int_equal(f->gone.count, 2);
	assert_int_equal(f->gone.bytes, 200000);
	assert_int_equal(f->gone.missed_count, 0);
	assert_int_equal(size_of(f, "ab/cdef"), 100000);
	assert_int_equal(size_of(f, "ab/0102"), 100000);
	snprintf(path, sizeof(path), "%s/.build-id/ab/cdef", f->dir);
	fd = open(path, O_RDONLY);
	assert_int_equal(pread(fd, &word, sizeof(word), 4 * 24999), sizeof(word));
	assert_int_equal(word, 24999);
	close(fd);
}

static void file_that_is_there_is_not_kept(void **state)
{
	struct fixture *f = *state;
	char path[160];
	int fd = make_file(f, path);

	deleted_files_see(&f->gone, path, fd, &id);
	assert_int_equal(f->gone.count, 0);
	assert_int_equal(access(f->dir, F_OK), -1);
	unlink(path);
	deleted_files_see(&f->gone, path, fd, &id);
	assert_int_equal(f->gone.count, 1);
	close(fd);
}

/* Of an overlay, the number of names does not tell. */
static void path_may_tell_that_it_is_deleted(void **state)
{
	struct fixture *f = *state;
	char path[160];
	int fd = make_file(f, path);

	deleted_files_see(&f->gone, "/usr/bin/program (deleted)", fd, &id);
	assert_int_equal(f->gone.count, 1);
	unlink(path);
	close(fd);
}

static void nothing_is_kept_unasked_or_without_an_id(void **state)
{
	struct fixture *f = *state;
	const struct buildid none = { .size_bytes = 0 };

	deleted_files_see(&f->gone, "/memfd:program (deleted)", f->fd, &none);
	f->gone.dir = NULL;
	deleted_files_see(&f->gone, "/memfd:program (deleted)", f->fd, &id);
	deleted_files_see(NULL, "/memfd:program (deleted)", f->fd, &id);
	assert_int_equal(f->gone.count + f->gone.missed_count, 0);
	f->gone.dir = f->dir;
}

static void what_finds_no_room_is_counted(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(ftruncate(f->fd, (off_t)DELETED_FILES_MAX_BYTES + 1), 0);
	deleted_files_see(&f->gone, "/memfd:program (deleted)", f->fd, &id);
	assert_int_equal(f->gone.count, 0);
	assert_int_equal(f->gone.missed_count, 1);
}

/* What is in a folder that somebody else made would be believed. */
static void folder_that_is_there_is_not_used(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(mkdir(f->dir, 0700), 0);
	deleted_files_see(&f->gone, "/memfd:program (deleted)", f->fd, &id);
	assert_false(f->gone.is_made);
	assert_int_equal(f->gone.missed_count, 1);
	assert_int_equal(rmdir(f->dir), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(file_without_a_name_is_kept_once),
		TEST(file_that_is_there_is_not_kept),
		TEST(path_may_tell_that_it_is_deleted),
		TEST(nothing_is_kept_unasked_or_without_an_id),
		TEST(what_finds_no_room_is_counted),
		TEST(folder_that_is_there_is_not_used),
	};

	return cmocka_run_group_tests_name("gonefiles", tests, NULL, NULL);
}
