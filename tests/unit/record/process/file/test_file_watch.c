/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/process/file/file_watch.h"
#include "tests/unit/stays.h"

static struct file_watch watches;
static char dir[64], path[96], link_path[96];

static int setup(void **state)
{
	snprintf(dir, sizeof(dir), "/tmp/ebprec-file-watch-XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/file", dir);
	snprintf(link_path, sizeof(link_path), "%s/link", dir);
	file_watch_init(&watches);
	assert_true(watches.fd >= 0);
	return 0;
}

static int teardown(void **state)
{
	file_watch_done(&watches);
	unlink(path);
	unlink(link_path);
	return rmdir(dir);
}

/* A watch of a fresh file, which is closed again. */
static int watch_file(const char *name)
{
	int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600), watch;

	assert_true(fd >= 0);
	close(fd);
	fd = open(name, O_PATH | O_CLOEXEC);
	watch = file_watch_begin(watches.fd, fd);
	close(fd);
	assert_true(watch > 0);
	return watch;
}

static void write_to(const char *name)
{
	int fd = open(name, O_WRONLY | O_CLOEXEC);

	assert_int_equal(write(fd, "x", 1), 1);
	close(fd);
}

static void a_watch_holds_while_its_file_is_read_and_linked_to(void **state)
{
	int watch = watch_file(path), fd;
	char byte;

	assert_false(file_watch_holds(&watches, watch)); /* it was not taken */
	assert_true(file_watch_add(&watches, watch, watches.event_count));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(read(fd, &byte, 1), 0);
	close(fd);
	assert_true(file_watch_holds(&watches, watch));
	assert_true(file_watch_add(&watches, watch,
				   watches.event_count)); /* of the same file, once more */
	assert_false(file_watch_holds(&watches, 0));
	assert_int_equal(watches.live.key_count, 1);
}

static void write_file(void)
{
	write_to(path);
}

static void change_mode(void)
{
	assert_int_equal(chmod(path, 0700), 0);
}

static void remove_file(void)
{
	assert_int_equal(unlink(path), 0);
}

static void replace_file(void)
{
	write_to(link_path);
	assert_int_equal(rename(link_path, path), 0);
}

static void a_watch_ends_when_its_file_is_changed_or_removed(void **state)
{
	static void (*const change[])(void) = { write_file, change_mode, remove_file,
						replace_file };
	int watch;

	for (unsigned i = 0; i < sizeof(change) / sizeof(change[0]); i++) {
		close(open(link_path, O_RDWR | O_CREAT, 0600));
		watch = watch_file(path);
		assert_true(file_watch_add(&watches, watch, watches.event_count));
		change[i]();
		assert_false(file_watch_holds(&watches, watch));
		assert_int_equal(watches.live.key_count, 0);
		unlink(path);
	}
}

/* Reading the file went on meanwhile, in a thread: what it found may be older than the change. */
static void a_watch_is_not_taken_when_something_happened_since_it_began(void **state)
{
	uint64_t before = watches.event_count;
	int watch = watch_file(path), other = watch_file(link_path);

	write_to(link_path);
	assert_false(file_watch_add(&watches, watch, before));
	assert_false(file_watch_add(&watches, other, before));
	watch = watch_file(path);
	assert_false(file_watch_holds(&watches, watch)); /* reads the reports of the others' ends */
	assert_true(file_watch_add(&watches, watch, watches.event_count));
}

/* A file system of its own, of which this process alone has a mount. */
static bool mount_memory(int unused)
{
	char name[96];
	int fd;

	snprintf(name, sizeof(name), "%s/file", dir);
	if (unshare(CLONE_NEWNS) || mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("t", dir, "tmpfs", 0, NULL))
		return false;
	fd = open(name, O_RDWR | O_CREAT, 0600);
	close(fd);
	return fd >= 0;
}

static void a_watch_ends_with_its_file_system_and_does_not_keep_it(void **state)
{
	pid_t stays = stays_in(mount_memory, 0);
	char name[160];
	int watch, fd;

	if (!stays)
		skip();
	snprintf(name, sizeof(name), "/proc/%d/root%s", (int)stays, path);
	fd = open(name, O_PATH | O_CLOEXEC);
	watch = file_watch_begin(watches.fd, fd);
	close(fd);
	assert_true(watch > 0);
	assert_true(file_watch_add(&watches, watch, watches.event_count));
	assert_true(file_watch_holds(&watches, watch));
	stays_end(stays);
	while (file_watch_holds(&watches, watch)) /* the kernel unmounts soon */
		usleep(1000);
	assert_int_equal(watches.live.key_count, 0);
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_watch_holds_while_its_file_is_read_and_linked_to),
		CASE(a_watch_ends_when_its_file_is_changed_or_removed),
		CASE(a_watch_is_not_taken_when_something_happened_since_it_began),
		CASE(a_watch_ends_with_its_file_system_and_does_not_keep_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
