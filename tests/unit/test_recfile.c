/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/recfile.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

struct place {
	char dir[32], path[64], old[64];
	struct notes notes;
	struct recfile file;
};

static int make_place(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	strcpy(p->dir, "/tmp/recfile-XXXXXX");
	if (!mkdtemp(p->dir)) {
		free(p);
		return -1;
	}
	snprintf(p->path, sizeof(p->path), "%s/x.data", p->dir);
	snprintf(p->old, sizeof(p->old), "%s/x.data.old", p->dir);
	p->file.fd = -1;
	*state = p;
	return 0;
}

static int remove_place(void **state)
{
	struct place *p = *state;

	recfile_close(&p->file);
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
	struct place *p = *state;
	struct stat st;

	put(p->path, "older");
	put(p->old, "oldest");
	assert_int_equal(recfile_open(&p->file, p->path, &p->notes), 0);
	assert_int_equal(write(p->file.fd, "new", 3), 3);
	holds(p->path, "older");
	assert_int_equal(recfile_place(&p->file, &p->notes), 0);
	holds(p->path, "new");
	holds(p->old, "older");
	assert_int_equal(stat(p->path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

static void recfile_that_is_not_placed_changes_nothing(void **state)
{
	struct place *p = *state;

	put(p->path, "older");
	assert_int_equal(recfile_open(&p->file, p->path, &p->notes), 0);
	recfile_close(&p->file);
	holds(p->path, "older");
	assert_int_equal(access(p->old, F_OK), -1);
}

static void recfile_refuses_what_is_no_file(void **state)
{
	struct place *p = *state;
	char missing[96];

	assert_int_equal(recfile_open(&p->file, p->dir, &p->notes), -EISDIR);
	notes_forgive(&p->notes);
	assert_int_equal(recfile_open(&p->file, "/dev/null", &p->notes), -EINVAL);
	notes_forgive(&p->notes);
	snprintf(missing, sizeof(missing), "%s/missing/x.data", p->dir);
	assert_int_equal(recfile_open(&p->file, missing, &p->notes), -ENOENT);
	assert_non_null(strstr(p->notes.failure, missing));
	notes_forgive(&p->notes);
	assert_int_equal(symlink("elsewhere", p->path), 0);
	assert_int_equal(recfile_open(&p->file, p->path, &p->notes), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(recfile_replaces_and_keeps_the_older_one,
						make_place, remove_place),
		cmocka_unit_test_setup_teardown(recfile_that_is_not_placed_changes_nothing,
						make_place, remove_place),
		cmocka_unit_test_setup_teardown(recfile_refuses_what_is_no_file, make_place,
						remove_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
