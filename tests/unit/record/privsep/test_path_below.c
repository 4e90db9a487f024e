/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/privsep/path_below.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

/* A root with links of all kinds, and a file beside it that nothing may lead to. */
static int make_root(void **state)
{
	char *dir = strdup("/tmp/below-XXXXXX"), command[600];

	assert_non_null(mkdtemp(dir));
	snprintf(
		command, sizeof(command),
		"cd %s && echo out >secret && mkdir -p root/a/b root/tmp && cd root && echo in >a/b/file && "
		"ln -s /a/b abs && ln -s b a/rel && ln -s ../../../../a/b/file a/up && ln -s ../../secret a/out && "
		"ln -s loop loop && ln -s %s/secret away && ln -s file a/b/twice && ln -s abs/twice chain && "
		"ln -s nothing broken && mkfifo a/fifo && ln -s / slash",
		dir, dir);
	assert_int_equal(system(command), 0);
	*state = dir;
	return 0;
}

static int remove_root(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", (char *)*state);
	assert_int_equal(system(command), 0);
	free(*state);
	return 0;
}

static int open_root(const char *dir)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "%s/root", dir);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

/* Errno, or 0 and the inode. */
static int looked_up(int fd, uint64_t *inode)
{
	struct stat st;

	*inode = 0;
	if (fd < 0)
		return fd;
	assert_int_equal(fstat(fd, &st), 0);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_true(fcntl(fd, F_GETFL) & O_PATH);
	*inode = st.st_ino;
	close(fd);
	return 0;
}

static void paths_lead_where_openat2_leads_in_a_root(void **state)
{
	static const char *const paths[] = {
		"/a/b/file",
		"a/b/file",
		"//a//./b/file",
		"/abs/file",
		"/a/rel/file",
		"/a/up",
		"/a/out",
		"/chain",
		"/away",
		"/broken",
		"/loop",
		"/loop/x",
		"/a/fifo",
		"/a/fifo/x",
		"/../../a",
		"/..",
		"/",
		"/a/b/../../abs/..",
		"/missing",
		"/missing/../a",
		"/slash/a",
		"/a/b/file/..",
		"/slash/../slash/a/up",
		"",
	};
	int root = open_root(*state);

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		for (int follow = 0; follow < 2; follow++) {
			struct open_how how = {
				.flags = O_PATH | O_CLOEXEC | (follow ? 0 : (uint64_t)O_NOFOLLOW),
				.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
			};
			uint64_t want_inode, inode;
			int fd = (int)syscall(SYS_openat2, root, paths[i], &how, sizeof(how));
			int want = looked_up(fd < 0 ? -errno : fd, &want_inode);
			int got = looked_up(path_below(root, paths[i], follow), &inode);

			if (want != got || want_inode != inode)
				fail_msg("%s, follow %d: %s, not %s", paths[i], follow,
					 strerror(-got), strerror(-want));
		}
	}
	close(root);
}

static void magic_links_are_not_followed(void **state)
{
	int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	assert_int_equal(path_below(root, "/proc/self/root/etc", true), -ELOOP);
	assert_int_equal(path_below(root, "/proc/self/exe", true), -ELOOP);
	close(root);
}

static void a_path_that_is_too_deep_or_too_long_is_an_error(void **state)
{
	int root = open_root(*state);
	char path[2 * (PATH_BELOW_DEPTH + 2) + 300] = "", deep[80];
	int at = root;

	for (int i = 0; i < PATH_BELOW_DEPTH + 1; i++) {
		assert_int_equal(mkdirat(at, "d", 0700), 0);
		int next = openat(at, "d", O_PATH | O_DIRECTORY | O_CLOEXEC);

		if (at != root)
			close(at);
		at = next;
		strcat(path, "/d");
	}
	close(at);
	assert_int_equal(path_below(root, path, true), -ENAMETOOLONG);
	path[2 * PATH_BELOW_DEPTH] = '\0';
	at = path_below(root, path, true);
	assert_true(at >= 0);
	close(at);
	memset(path, 'x', 256);
	path[256] = '\0';
	assert_int_equal(path_below(root, path, true), -ENAMETOOLONG);
	snprintf(deep, sizeof(deep), "rm -rf %s/root/d", (char *)*state);
	assert_int_equal(system(deep), 0);
	close(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_lead_where_openat2_leads_in_a_root),
		cmocka_unit_test(magic_links_are_not_followed),
		cmocka_unit_test(a_path_that_is_too_deep_or_too_long_is_an_error),
	};

	return cmocka_run_group_tests(tests, make_root, remove_root);
}
