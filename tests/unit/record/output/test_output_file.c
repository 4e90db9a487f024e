/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/output/output_file.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* In the place of libc's: a file system without nameless files, when a test wants one. */
static bool has_nameless_files = true;

int openat(int dir_fd, const char *path, int flags, ...)
{
	va_list list;
	unsigned mode;

	va_start(list, flags);
	mode = va_arg(list, unsigned);
	va_end(list);
	if (!has_nameless_files && (flags & O_TMPFILE) == O_TMPFILE) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return (int)syscall(SYS_openat, dir_fd, path, flags, mode);
}

struct location {
	char dir[32], path[64], old[64];
	struct notes notes;
	struct output_file file;
};

static int make_place(void **state)
{
	struct location *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	strcpy(p->dir, "/tmp/recfile-XXXXXX");
	if (!mkdtemp(p->dir)) {
		free(p);
		return -1;
	}
	snprintf(p->path, sizeof(p->path), "%s/x.data", p->dir);
	snprintf(p->old, sizeof(p->old), "%s/x.data.old", p->dir);
	p->file = OUTPUT_FILE_NONE;
	has_nameless_files = true;
	*state = p;
	return 0;
}

static int make_place_without_nameless_files(void **state)
{
	int err = make_place(state);

	has_nameless_files = false;
	return err;
}

static int remove_place(void **state)
{
	struct location *p = *state;

	output_file_close(&p->file);
	notes_done(&p->notes);
	chmod(p->dir, 0700);
	unlink(p->path);
	unlink(p->old);
	if (rmdir(p->dir)) /* something was left behind */
		return -1;
	free(p);
	return 0;
}

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void holds(const char *path, const char *want)
{
	char got[64] = "";
	int fd = open(path, O_RDONLY);

	assert_true(fd >= 0);
	assert_true(read(fd, got, sizeof(got) - 1) >= 0);
	close(fd);
	assert_string_equal(got, want);
}

static void recfile_replaces_and_keeps_the_older_one(void **state)
{
	struct location *p = *state;
	struct stat st;

	put(p->path, "older");
	put(p->old, "oldest");
	assert_int_equal(output_file_open(&p->file, p->path, &p->notes), 0);
	assert_int_equal(write(p->file.file.fd, "new", 3), 3);
	holds(p->path, "older");
	assert_int_equal(output_file_place(&p->file, &p->notes), 0);
	holds(p->path, "new");
	holds(p->old, "older");
	assert_int_equal(stat(p->path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

static void recfile_that_is_not_placed_changes_nothing(void **state)
{
	struct location *p = *state;

	put(p->path, "older");
	assert_int_equal(output_file_open(&p->file, p->path, &p->notes), 0);
	output_file_close(&p->file);
	holds(p->path, "older");
	assert_int_equal(access(p->old, F_OK), -1);
}

static size_t count_files(const char *dir)
{
	DIR *d = opendir(dir);
	size_t count = 0;

	assert_non_null(d);
	while (readdir(d))
		count++;
	closedir(d);
	return count - 2; /* . and .. */
}

static void recfile_has_no_name_before_its_place(void **state)
{
	struct location *p = *state;

	assert_int_equal(output_file_open(&p->file, p->path, &p->notes), 0);
	assert_int_equal(count_files(p->dir), 0);
	assert_false(p->file.file.in_place);
	assert_int_equal(output_file_place(&p->file, &p->notes), 0);
	assert_int_equal(count_files(p->dir), 1);
	assert_true(p->file.file.in_place);
}

static void recfile_without_nameless_files_has_a_name_of_its_own(void **state)
{
	struct location *p = *state;

	assert_int_equal(output_file_open(&p->file, p->path, &p->notes), 0);
	assert_int_equal(faccessat(p->file.file.dir_fd, p->file.file.temp, F_OK, 0), 0);
	assert_int_equal(access(p->path, F_OK), -1);
	output_file_close(&p->file);
	assert_int_equal(count_files(p->dir), 0);
}

static void recfile_refuses_what_is_no_file(void **state)
{
	struct location *p = *state;
	char missing[96];

	assert_int_equal(output_file_open(&p->file, p->dir, &p->notes), -EISDIR);
	notes_forgive(&p->notes);
	assert_int_equal(output_file_open(&p->file, "/dev/null", &p->notes), -EINVAL);
	notes_forgive(&p->notes);
	snprintf(missing, sizeof(missing), "%s/missing/x.data", p->dir);
	assert_int_equal(output_file_open(&p->file, missing, &p->notes), -ENOENT);
	assert_non_null(strstr(p->notes.failure, missing));
	notes_forgive(&p->notes);
	assert_int_equal(symlink("elsewhere", p->path), 0);
	assert_int_equal(output_file_open(&p->file, p->path, &p->notes), -EINVAL);
}

static void recfile_sees_that_its_file_was_replaced(void **state)
{
	struct location *p = *state;
	char temp[128];

	assert_int_equal(output_file_open(&p->file, p->path, &p->notes), 0);
	snprintf(temp, sizeof(temp), "%s/%s", p->dir, p->file.file.temp);
	assert_int_equal(unlink(temp), 0);
	put(temp, "another");
	assert_int_equal(output_file_place(&p->file, &p->notes), -ESTALE);
}

static void recfile_stays_in_its_folder(void **state)
{
	struct location *p = *state;
	char moved[64];

	assert_int_equal(output_file_open(&p->file, p->path, &p->notes), 0);
	snprintf(moved, sizeof(moved), "%s-moved", p->dir);
	assert_int_equal(rename(p->dir, moved), 0);
	assert_int_equal(mkdir(p->dir, 0700), 0);
	assert_int_equal(output_file_place(&p->file, &p->notes), 0);
	assert_int_equal(access(p->path, F_OK), -1);
	assert_int_equal(rmdir(p->dir), 0);
	assert_int_equal(rename(moved, p->dir), 0);
	assert_int_equal(access(p->path, F_OK), 0);
}

static void recfile_invoker_is_two_numbers(void **state)
{
	static const char *const broken[] = { NULL, "",           "x",
					      "1x", " 1",         "-1",
					      "+1", "4294967295", "99999999999999999999" };
	uid_t uid = 7;
	gid_t gid = 8;

	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		assert_false(output_file_invoker(broken[i], "1", &uid, &gid));
		assert_false(output_file_invoker("1", broken[i], &uid, &gid));
	}
	assert_int_equal(uid, 7);
	assert_true(output_file_invoker("1000", "0", &uid, &gid));
	assert_int_equal(uid, 1000);
	assert_int_equal(gid, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(recfile_replaces_and_keeps_the_older_one,
						make_place, remove_place),
		cmocka_unit_test_setup_teardown(recfile_that_is_not_placed_changes_nothing,
						make_place, remove_place),
		cmocka_unit_test_setup_teardown(recfile_replaces_and_keeps_the_older_one,
						make_place_without_nameless_files, remove_place),
		cmocka_unit_test_setup_teardown(recfile_that_is_not_placed_changes_nothing,
						make_place_without_nameless_files, remove_place),
		cmocka_unit_test_setup_teardown(recfile_sees_that_its_file_was_replaced,
						make_place_without_nameless_files, remove_place),
		cmocka_unit_test_setup_teardown(recfile_has_no_name_before_its_place, make_place,
						remove_place),
		cmocka_unit_test_setup_teardown(
			recfile_without_nameless_files_has_a_name_of_its_own,
			make_place_without_nameless_files, remove_place),
		cmocka_unit_test_setup_teardown(recfile_stays_in_its_folder, make_place,
						remove_place),
		cmocka_unit_test(recfile_invoker_is_two_numbers),
		cmocka_unit_test_setup_teardown(recfile_refuses_what_is_no_file, make_place,
						remove_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
