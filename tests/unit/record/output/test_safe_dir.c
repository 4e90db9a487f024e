/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/output/safe_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* The file at path and in the folder that was opened must be one and the same. */
static void leads_to(const char *path, const char *want, const char *want_base)
{
	struct stat a, b;
	const char *base;
	int fd = -1;

	assert_int_equal(safe_dir_open(path, &fd, &base), 0);
	assert_int_equal(fstat(fd, &a), 0);
	assert_int_equal(stat(want, &b), 0);
	close(fd);
	assert_int_equal(a.st_ino, b.st_ino);
	assert_int_equal(a.st_dev, b.st_dev);
	assert_string_equal(base, want_base);
}

static void is_refused(const char *path, int want)
{
	const char *base = "untouched";
	int fd = -7;

	assert_int_equal(safe_dir_open(path, &fd, &base), want);
	assert_int_equal(fd, -7);
	assert_string_equal(base, "untouched");
}

static int make_tree(void **state)
{
	char *dir = strdup("/tmp/safedir-XXXXXX");

	if (!dir || !mkdtemp(dir) || chdir(dir) || mkdir("a", 0700) || mkdir("a/b", 0700) ||
	    symlink("a/b", "relative") || symlink("/tmp", "absolute") ||
	    symlink("relative", "twice") || symlink("loop", "loop") || symlink("nowhere", "broken"))
		return -1;
	close(open("file", O_WRONLY | O_CREAT, 0600));
	*state = dir;
	return 0;
}

static int remove_tree(void **state)
{
	static const char *const names[] = { "relative", "absolute", "twice",
					     "loop",     "broken",   "file" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unlink(names[i]);
	if (rmdir("a/b") || rmdir("a") || chdir("/") || rmdir(*state))
		return -1;
	free(*state);
	return 0;
}

static void the_folder_is_the_one_the_path_names(void **state)
{
	leads_to("x.data", ".", "x.data");
	leads_to("./x.data", ".", "x.data");
	leads_to("a/b/x.data", "a/b", "x.data");
	leads_to("a//b/./../b/x", "a/b", "x");
	leads_to("a/b/", "a/b", "");
	leads_to("/x", "/", "x");
	leads_to("/tmp/../tmp/x", "/tmp", "x");
	leads_to("", ".", "");
}

static void links_of_our_own_are_followed(void **state)
{
	leads_to("relative/x", "a/b", "x");
	leads_to("twice/x", "a/b", "x");
	leads_to("twice/../x", "a", "x");
	leads_to("absolute/x", "/tmp", "x");
	leads_to("/proc/self/cwd/x", ".", "x");
}

static void a_path_that_is_no_folder_is_reported(void **state)
{
	char name[400];

	is_refused("nowhere/x", -ENOENT);
	is_refused("broken/x", -ENOENT);
	is_refused("file/x", -ENOTDIR);
	is_refused("loop/x", -ELOOP);
	memset(name, 'n', sizeof(name));
	memcpy(name + sizeof(name) - 3, "/x", 3);
	is_refused(name, -ENAMETOOLONG);
}

static void links_of_others_are_trusted_only_in_folders_of_their_own(void **state)
{
	const uid_t root = 0, me = 1000, other = 1001;
	const struct {
		mode_t mode;
		uid_t folder, link;
		bool want;
	} cases[] = {
		{ 0755, root, other, true },   { 01777, root, me, true },
		{ 01777, root, root, true },   { 01777, root, other, false },
		{ 01777, other, other, true }, { 0777, root, other, false },
		{ 0777, other, other, false }, { 0777, root, me, true },
		{ 01755, root, other, true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct stat folder = { .st_mode = S_IFDIR | cases[i].mode,
				       .st_uid = cases[i].folder };
		struct stat link = { .st_uid = cases[i].link };

		if (safe_dir_trusts(&folder, &link, me) != cases[i].want)
			fail_msg("case %zu", i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_folder_is_the_one_the_path_names),
		cmocka_unit_test(links_of_our_own_are_followed),
		cmocka_unit_test(a_path_that_is_no_folder_is_reported),
		cmocka_unit_test(links_of_others_are_trusted_only_in_folders_of_their_own),
	};

	return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
