/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* deleted_files: which files that no path leads to any more are copied, and that no copy stays */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "record/process/file/deleted_files.h"

struct fixture {
	char top[64], dir[96];
	struct deleted_files gone;
	int fd; /* of a file without a name, with 100 000 bytes */
	long fs_type;
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
	f->fs_type = EXT4_SUPER_MAGIC;
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

static void see(struct fixture *f, const char *path, int fd, const struct elf_facts *facts)
{
	struct stat st;
	const struct mapped_files_found found = {
		.path = path, .fd = fd, .fs_type = f->fs_type, .st = &st, .facts = facts
	};

	assert_int_equal(fstat(fd, &st), 0);
	deleted_files_see(&f->gone, &found);
}

static void see_id(struct fixture *f, const char *path, int fd, const struct buildid *build_id)
{
	const struct elf_facts facts = { .build_id = *build_id };

	see(f, path, fd, &facts);
}

static void file_without_a_name_is_copied_once(void **state)
{
	struct fixture *f = *state;
	char path[160];
	unsigned word;
	int fd;

	for (unsigned i = 0; i < 3; i++)
		see_id(f, "/memfd:program (deleted)", f->fd, &id);
	see_id(f, "/memfd:program (deleted)", f->fd, &beside);
	assert_int_equal(access(f->dir, F_OK), -1);
	deleted_files_copy(&f->gone);
	assert_int_equal(f->gone.copy_count, 2);
	assert_int_equal(f->gone.copy_bytes, 200000);
	assert_int_equal(f->gone.missed_count, 0);
	assert_int_equal(size_of(f, "ab/cdef"), 100000);
	assert_int_equal(size_of(f, "ab/0102"), 100000);
	snprintf(path, sizeof(path), "%s/.build-id/ab/cdef", f->dir);
	fd = open(path, O_RDONLY);
	assert_int_equal(pread(fd, &word, sizeof(word), 4 * 24999), sizeof(word));
	assert_int_equal(word, 24999);
	close(fd);
}

static void file_at_its_path_is_not_copied(void **state)
{
	struct fixture *f = *state;
	char path[160];
	int fd = make_file(f, path);

	see_id(f, path, fd, &id);
	deleted_files_copy(&f->gone);
	assert_int_equal(f->gone.held_count, 1);
	assert_int_equal(f->gone.copy_count + f->gone.missed_count, 0);
	assert_int_equal(access(f->dir, F_OK), -1);
	unlink(path);
	close(fd);
}

/* An open file of an overlay or a network is in the way of an unmount; to close one of FUSE may hang. */
static void files_of_file_systems_that_go_are_held_only_when_deleted(void **state)
{
	static const struct {
		long fs_type;
		unsigned held_count, deleted_held_count, missed_count;
	} table[] = {
		{ EXT4_SUPER_MAGIC, 1, 2, 0 },
		{ BTRFS_SUPER_MAGIC, 1, 2, 0 },
		{ OVERLAYFS_SUPER_MAGIC, 0, 1, 0 },
		{ NFS_SUPER_MAGIC, 0, 1, 0 },
		{ FUSE_SUPER_MAGIC, 0, 0, 1 },
		{ 0, 0, 0, 1 }, /* a FUSE server that refuses statfs() */
	};
	struct fixture *f = *state;
	char path[160];
	int fd = make_file(f, path);

	for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		f->fs_type = table[i].fs_type;
		see_id(f, path, fd, &id);
		assert_int_equal(f->gone.held_count, table[i].held_count);
		see_id(f, "/usr/bin/program (deleted)", fd, &id);
		assert_int_equal(f->gone.held_count, table[i].deleted_held_count);
		assert_int_equal(f->gone.missed_count, table[i].missed_count);
		deleted_files_done(&f->gone);
	}
	unlink(path);
	close(fd);
}

static void file_replaced_or_moved_later_is_copied(void **state)
{
	static const char *const changes[] = { "mv $t/new $t/program", "rm $t/program",
					       "mv $t/program $t/other" };
	struct fixture *f = *state;
	char path[160], command[256];
	int fd;

	for (unsigned i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		fd = make_file(f, path);
		assert_int_equal(write(fd, "old", 3), 3);
		see_id(f, path, fd, &id);
		close(fd);
		snprintf(command, sizeof(command), "t=%s; echo new >$t/new; %s", f->top,
			 changes[i]);
		assert_int_equal(system(command), 0);
		deleted_files_copy(&f->gone);
		assert_int_equal(f->gone.copy_count, 1);
		assert_int_equal(size_of(f, "ab/cdef"), 3);
		deleted_files_done(&f->gone);
		snprintf(command, sizeof(command), "rm -f %s/program %s/new %s/other", f->top,
			 f->top, f->top);
		assert_int_equal(system(command), 0);
	}
}

/* Its checksums, size and time are its name and its time. */
static void file_without_a_build_id_is_called_by_its_checksum(void **state)
{
	struct fixture *f = *state;
	const struct timespec times[2] = { { 1, 0 }, { 2, 3 } };
	struct elf_facts facts = { .sum = { 0x1234, 0xabcd, true, true } };
	struct stat st;
	char path[160];

	assert_int_equal(futimens(f->fd, times), 0);
	see(f, "/memfd:program (deleted)", f->fd, &facts);
	facts.sum.has_spread = false; /* it was read out of memory */
	see(f, "/memfd:program (deleted)", f->fd, &facts);
	facts.sum.has_loaded = false; /* no ELF file */
	see(f, "/memfd:program (deleted)", f->fd, &facts);
	deleted_files_copy(&f->gone);
	assert_int_equal(f->gone.copy_count, 1);
	snprintf(path, sizeof(path), "%s/.checksum/000012340000abcd-186a0-77359403", f->dir);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 100000);
	assert_true(st.st_mtim.tv_sec == 2 && st.st_mtim.tv_nsec == 3);
}

static void nothing_is_held_unasked(void **state)
{
	struct fixture *f = *state;
	const struct stat st = { .st_mode = S_IFREG };
	const struct elf_facts facts = { .build_id = id };
	const struct mapped_files_found found = { .path = "/x (deleted)",
						  .st = &st,
						  .facts = &facts };

	f->gone.dir = NULL;
	see_id(f, "/memfd:program (deleted)", f->fd, &id);
	deleted_files_see(NULL, &found);
	assert_int_equal(f->gone.held_count + f->gone.missed_count + f->gone.unheld_count, 0);
	f->gone.dir = f->dir;
}

static void files_without_room_are_counted(void **state)
{
	struct fixture *f = *state;
	struct rlimit was, few = { 16, 16 };
	char path[160];
	int fd = make_file(f, path);

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	few.rlim_max = was.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	for (unsigned i = 0; i < 6; i++)
		see_id(f, path, fd, &id);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
	assert_int_equal(f->gone.held_count, 4); /* a quarter */
	assert_int_equal(f->gone.unheld_count, 2);
	unlink(path);
	close(fd);
	assert_int_equal(ftruncate(f->fd, (off_t)DELETED_FILES_MAX_BYTES + 1), 0);
	see_id(f, "/memfd:program (deleted)", f->fd, &beside);
	deleted_files_copy(&f->gone);
	assert_int_equal(f->gone.copy_count, 1);
	assert_int_equal(f->gone.missed_count, 1);
}

/* Files in a folder that another user made would be believed. */
static void folder_that_is_there_is_not_used(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(mkdir(f->dir, 0700), 0);
	see_id(f, "/memfd:program (deleted)", f->fd, &id);
	deleted_files_copy(&f->gone);
	assert_false(f->gone.is_made);
	assert_int_equal(f->gone.missed_count, 1);
	assert_int_equal(rmdir(f->dir), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(file_without_a_name_is_copied_once),
		TEST(file_at_its_path_is_not_copied),
		TEST(files_of_file_systems_that_go_are_held_only_when_deleted),
		TEST(file_replaced_or_moved_later_is_copied),
		TEST(file_without_a_build_id_is_called_by_its_checksum),
		TEST(nothing_is_held_unasked),
		TEST(files_without_room_are_counted),
		TEST(folder_that_is_there_is_not_used),
	};

	return cmocka_run_group_tests_name("deleted_files", tests, NULL, NULL);
}
