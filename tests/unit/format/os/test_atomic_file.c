/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "format/os/atomic_file.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * libc's calls are made here, each by its number, so that each of them may fail, and that what is in the
 * folder can be looked at behind each of them.
 */
static struct {
	bool nameless, exchange, link; /* what the file system has */
	unsigned count, fail_at;       /* the call that fails; 0: none */
	char dir[32];
	bool watched, older_retained; /* there is a file of the name; and it is to be retained */
	unsigned missing_count;       /* moments without one, or without what was to be retained */
	char order[256];
} disk;

static bool is_one_of(const char *name, const char *content)
{
	char path[96], got[16] = "";
	int fd;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/%s", disk.dir, name);
	fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY, 0);
	n = fd < 0 ? -1 : read(fd, got, sizeof(got) - 1);
	if (fd >= 0)
		close(fd);
	return n >= 0 && (!content || !strcmp(got, content));
}

/* Some name in the folder leads to it. */
static bool is_somewhere(const char *content)
{
	DIR *d = opendir(disk.dir);
	struct dirent *e;
	bool found = false;

	assert_non_null(d);
	while (!found && (e = readdir(d)))
		found = e->d_name[0] != '.' && is_one_of(e->d_name, content);
	closedir(d);
	return found;
}

static int done(const char *call, long result)
{
	strncat(disk.order, call, sizeof(disk.order) - strlen(disk.order) - 1);
	if (disk.watched && !is_one_of("x", NULL))
		disk.missing_count++;
	if (disk.older_retained && !is_somewhere("older"))
		disk.missing_count++;
	if (result < 0)
		return -1;
	return (int)result;
}

static bool fails(int err)
{
	if (++disk.count == disk.fail_at) {
		errno = err;
		return true;
	}
	return false;
}

int openat(int dir_fd, const char *path, int flags, ...)
{
	va_list list;
	unsigned mode;

	va_start(list, flags);
	mode = va_arg(list, unsigned);
	va_end(list);
	if ((flags & O_TMPFILE) == O_TMPFILE && !disk.nameless) {
		errno = EISDIR;
		return -1;
	}
	return fails(EACCES) ? -1 : (int)syscall(SYS_openat, dir_fd, path, flags, mode);
}

int linkat(int from_fd, const char *from, int to_fd, const char *to, int flags)
{
	if (!disk.link && from_fd == to_fd) {
		errno = EPERM;
		return -1;
	}
	return fails(EDQUOT) ? -1
			     : done("link ", syscall(SYS_linkat, from_fd, from, to_fd, to, flags));
}

int renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags)
{
	if (flags && !disk.exchange) {
		errno = EINVAL;
		return -1;
	}
	return fails(EIO) ? -1
			  : done(flags ? "exchange " : "rename ",
				 syscall(SYS_renameat2, from_fd, from, to_fd, to, flags));
}

int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
	return renameat2(from_fd, from, to_fd, to, 0);
}

int fsync(int fd)
{
	struct stat st;

	if (fails(EIO))
		return -1;
	assert_int_equal(fstat(fd, &st), 0);
	return done(S_ISDIR(st.st_mode) ? "sync-folder " : "sync ", syscall(SYS_fsync, fd));
}

static void put(const char *name, const char *text)
{
	char path[96];
	FILE *to;

	snprintf(path, sizeof(path), "%s/%s", disk.dir, name);
	to = fopen(path, "w");
	assert_non_null(to);
	fputs(text, to);
	fclose(to);
}

/* Removes all that is there; returns how many it were. */
static unsigned clear(void)
{
	char path[320];
	DIR *d = opendir(disk.dir);
	struct dirent *e;
	unsigned count = 0;

	assert_non_null(d);
	while ((e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", disk.dir, e->d_name);
		assert_int_equal(unlink(path), 0);
		count++;
	}
	closedir(d);
	return count;
}

/* A new file "x", with what was there before as "x.old" or replaced.  Returns the first failure. */
static int replace(const char *older)
{
	struct atomic_file f;
	int dir_fd = open(disk.dir, O_PATH | O_DIRECTORY), err;

	assert_true(dir_fd >= 0);
	err = atomic_file_open(dir_fd, "x", O_RDWR, &f);
	if (err)
		return err;
	assert_int_equal(write(f.fd, "new", 3), 3);
	err = atomic_file_sync(&f);
	if (!err)
		err = atomic_file_place(&f, older);
	if (!err)
		err = atomic_file_sync_folder(&f);
	atomic_file_close(&f);
	return err;
}

static int make_disk(void **state)
{
	memset(&disk, 0, sizeof(disk));
	strcpy(disk.dir, "/tmp/atomic-XXXXXX");
	return mkdtemp(disk.dir) ? 0 : -1;
}

static int remove_disk(void **state)
{
	clear();
	return rmdir(disk.dir);
}

static void set_up(unsigned kind, bool there, bool retained)
{
	clear();
	disk.nameless = kind & 1;
	disk.exchange = kind & 2;
	disk.link = true;
	disk.watched = there;
	disk.older_retained = there && retained;
	disk.count = 0;
	disk.order[0] = '\0';
	if (there)
		put("x", "older");
	if (there && retained)
		put("x.old", "oldest");
}

/* On every kind of file system, whichever call fails. */
static void there_is_a_file_of_the_name_at_every_moment(void **state)
{
	for (unsigned kind = 0; kind < 16; kind++) {
		bool there = kind & 4, retained = kind & 8;

		for (disk.fail_at = 0;; disk.fail_at++) {
			int err;

			set_up(kind, there, retained);
			err = replace(retained ? "x.old" : NULL);
			disk.watched = false;
			assert_int_equal(disk.missing_count, 0);
			if (disk.fail_at > disk.count) { /* none was left to fail */
				assert_int_equal(err, 0);
				break;
			}
			if (!err) { /* it was not needed */
				assert_true(is_one_of("x", "new"));
				assert_true(!there || !retained || is_one_of("x.old", "older"));
			}
			if (!disk.fail_at)
				assert_int_equal(err, 0);
			if (err && !is_one_of("x", "new")) /* as it was */
				assert_true(!there || is_one_of("x", "older"));
			assert_true(!disk.older_retained || is_somewhere("older"));
			/* Nothing but these is left. */
			assert_in_range(clear(), 0, 1 + (there && retained));
		}
	}
}

static void bytes_are_on_the_disk_before_the_name_and_the_name_before_the_end(void **state)
{
	static const struct {
		unsigned kind;
		bool there, retained;
		const char *order;
	} ways[] = {
		{ 3, false, false, "sync link sync-folder " },
		{ 3, true, false, "sync link link rename sync-folder " },
		{ 3, true, true, "sync link link exchange rename sync-folder " },
		{ 1, true, true, "sync link link link rename rename sync-folder " },
		{ 2, false, false, "sync rename sync-folder " },
		{ 2, true, false, "sync rename sync-folder " },
		{ 2, true, true, "sync exchange rename sync-folder " },
		{ 0, true, true, "sync link rename rename sync-folder " },
	};

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		set_up(ways[i].kind, ways[i].there, ways[i].retained);
		assert_int_equal(replace(ways[i].retained ? "x.old" : NULL), 0);
		assert_string_equal(disk.order, ways[i].order);
		assert_true(is_one_of("x", "new"));
		assert_int_equal(is_one_of("x.old", "older"), ways[i].there && ways[i].retained);
	}
}

static void where_files_can_neither_change_places_nor_be_linked_the_older_stays(void **state)
{
	set_up(0, true, true);
	disk.link = false;
	assert_int_equal(replace("x.old"), -EOPNOTSUPP);
	assert_true(is_one_of("x", "older"));
	assert_true(is_one_of("x.old", "oldest"));
	assert_int_equal(clear(), 2);
}

static void an_older_name_of_the_same_file_is_one_name(void **state)
{
	char from[96], to[96];

	for (unsigned kind = 0; kind < 4; kind++) {
		set_up(kind, true, false);
		snprintf(from, sizeof(from), "%s/x", disk.dir);
		snprintf(to, sizeof(to), "%s/x.old", disk.dir);
		assert_int_equal(syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0), 0);
		assert_int_equal(replace("x.old"), 0);
		assert_true(is_one_of("x", "new"));
		assert_true(is_one_of("x.old", "older"));
		assert_int_equal(clear(), 2);
	}
}

static void a_file_that_is_taken_back_leaves_the_folder_with_the_older_one(void **state)
{
	for (unsigned kind = 0; kind < 8; kind++) {
		bool there = kind & 4;
		struct atomic_file f;

		set_up(kind, there, true);
		put("x.old", "oldest");
		assert_int_equal(
			atomic_file_open(open(disk.dir, O_PATH | O_DIRECTORY), "x", O_RDWR, &f), 0);
		assert_int_equal(atomic_file_take_back(&f, "x.old"),
				 0); /* it is not in its place yet */
		assert_true(is_one_of("x.old", "oldest"));
		assert_int_equal(atomic_file_place(&f, "x.old"), 0);
		assert_true(is_one_of("x", ""));
		disk.watched = false;
		assert_int_equal(atomic_file_take_back(&f, "x.old"), 0);
		assert_int_equal(is_one_of("x", "older"), there);
		assert_int_equal(is_one_of("x.old", "oldest"), !there);
		atomic_file_close(&f);
		assert_int_equal(clear(), 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(there_is_a_file_of_the_name_at_every_moment,
						make_disk, remove_disk),
		cmocka_unit_test_setup_teardown(
			bytes_are_on_the_disk_before_the_name_and_the_name_before_the_end,
			make_disk, remove_disk),
		cmocka_unit_test_setup_teardown(
			where_files_can_neither_change_places_nor_be_linked_the_older_stays,
			make_disk, remove_disk),
		cmocka_unit_test_setup_teardown(an_older_name_of_the_same_file_is_one_name,
						make_disk, remove_disk),
		cmocka_unit_test_setup_teardown(
			a_file_that_is_taken_back_leaves_the_folder_with_the_older_one, make_disk,
			remove_disk),
	};

	return cmocka_run_group_tests_name("atomic_file", tests, NULL, NULL);
}
