/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "format/os/clock.h"
#include "record/process/file/map_file.h"
#include "record/process/file/mapped_files.h"
#include "tests/unit/stays.h"

#define FILES     12
#define LONG_NS   60000000000ULL
#define SECOND_NS 1000000000ULL

static struct mapped_files ids;
static struct io_timeout *io;
static char dir[64], path[FILES][96];
static unsigned reported[FILES];

/* Files need not be ELF files to be known. */
static int setup(void **state)
{
	FILE *f;

	snprintf(dir, sizeof(dir), "/tmp/ebprec-mapped-files-XXXXXX");
	assert_non_null(mkdtemp(dir));
	for (unsigned i = 0; i < FILES; i++) {
		snprintf(path[i], sizeof(path[i]), "%s/%u", dir, i);
		f = fopen(path[i], "w");
		assert_non_null(f);
		fclose(f);
	}
	memset(reported, 0, sizeof(reported));
	assert_int_equal(io_timeout_new(LONG_NS, &io), 0);
	return mapped_files_init(&ids, io, NULL);
}

static int teardown(void **state)
{
	io_timeout_free(io);
	mapped_files_done(&ids);
	for (unsigned i = 0; i < FILES; i++)
		unlink(path[i]);
	return rmdir(dir);
}

static void on_file(void *arg, const struct mapped_files_found *f)
{
	reported[atoi(strrchr(f->path, '/') + 1)]++;
}

static void look_up(unsigned file)
{
	struct mapping m = { .pid = (uint32_t)getpid(), .path = path[file] };
	struct stat st;

	assert_int_equal(stat(path[file], &st), 0);
	m.id.dev_major = major(st.st_dev);
	m.id.dev_minor = minor(st.st_dev);
	m.id.inode = st.st_ino;
	mapped_files_lookup(&ids, &m, 1000);
	assert_int_equal(m.id.build_id.size_bytes, 0);
}

static void a_file_is_read_once(void **state)
{
	ids.on_file = on_file;
	for (unsigned i = 0; i < 100; i++)
		look_up(i % FILES);
	assert_int_equal(ids.read_count, FILES);
	assert_int_equal(reported[0], 1);
}

static void what_was_mapped_last_is_remembered_longest(void **state)
{
	ids.on_file = on_file;
	ids.cached_max = 3;
	for (unsigned i = 0; i < 1000; i++) {
		look_up(0); /* always in use */
		look_up(1 + i % (FILES - 1));
		assert_true(ids.fresh.count <= 3 && ids.old.count <= 3);
	}
	assert_int_equal(reported[0], 1);
	for (unsigned i = 1; i < FILES; i++)
		assert_true(reported[i] > 1); /* forgotten, and read again */
	look_up(2);
	look_up(2);
	reported[2] = 0;
	look_up(2);
	assert_int_equal(reported[2], 0);
}

static void the_list_of_build_ids_ends(void **state)
{
	struct buildid id = { .size_bytes = 20 };
	size_t bytes, full;

	for (uint32_t i = 0; i < MAPPED_FILES_NAMED; i++) {
		memcpy(id.bytes, &i, sizeof(i));
		mapped_files_name(&ids, &id, "/bin/true", false);
	}
	(void)build_id_list_section(ids.named, &full);
	assert_int_equal(build_id_list_count(ids.named), MAPPED_FILES_NAMED);
	assert_int_equal(ids.unnamed_count, 0);
	id.bytes[10] = 1;
	mapped_files_name(&ids, &id, "/bin/true", false);
	mapped_files_name(&ids, &(struct buildid){ .size_bytes = 0 }, "/bin/true", false);
	assert_int_equal(ids.unnamed_count, 1);
	(void)build_id_list_section(ids.named, &bytes);
	assert_int_equal(bytes, full);
}

/* As a mapping of process pid has it: of a file system without a device of its own, and of generations. */
static struct mapping look_up_weak(const char *name, uint32_t pid, uint64_t generation)
{
	struct mapping m = { .pid = pid, .path = name, .id.inode_generation = generation };
	struct stat st;

	assert_int_equal(stat(name, &st), 0);
	assert_int_equal(major(st.st_dev), 0);
	m.id.dev_minor = minor(st.st_dev);
	m.id.inode = st.st_ino;
	mapped_files_lookup(&ids, &m, 1000);
	return m;
}

static uint32_t gone(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	return (uint32_t)pid;
}

/* The identity of a program file in memory for a mapping, when its numbers are another file's the next moment. */
static void numbers_without_generation_are_one_file_while_size_and_times_stay(void **state)
{
	char name[] = "/dev/shm/ebprec-mapped-files-XXXXXX";
	uint32_t self = (uint32_t)getpid();
	struct mapping first, again;
	int fd = mkstemp(name);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || major(st.st_dev))
		skip();
	first = look_up_weak(name, self, 0);
	assert_true(first.id.inode_generation & MAPPED_FILES_STAMPED);
	again = look_up_weak(name, self, 0);
	assert_true(again.id.inode_generation == first.id.inode_generation);
	again = look_up_weak(name, self, first.id.inode_generation); /* reported a second time */
	assert_true(again.id.inode_generation == first.id.inode_generation);
	assert_int_equal(ids.read_count, 1);
	assert_int_equal(write(fd, "other", 5), 5);
	/* A process that is gone cannot be asked. */
	again = look_up_weak(name, gone(), 0);
	assert_true(again.id.inode_generation == first.id.inode_generation);
	again = look_up_weak(name, self, 0);
	assert_true(again.id.inode_generation & MAPPED_FILES_STAMPED);
	assert_true(again.id.inode_generation != first.id.inode_generation);
	assert_true(again.stamp != first.stamp);
	assert_int_equal(ids.read_count, 2);
	/* With a generation of its file system's it is known by that. */
	assert_true(look_up_weak(name, self, 7).id.inode_generation == 7);
	close(fd);
	unlink(name);
}

/* Its time of status change, which most file systems have in ticks of the kernel: it may be that of the start of the test. */
static void change_time(int fd)
{
	struct stat before, after;

	assert_int_equal(fstat(fd, &before), 0);
	do {
		assert_int_equal(fchmod(fd, 0700), 0);
		assert_int_equal(fstat(fd, &after), 0);
	} while (after.st_ctim.tv_sec == before.st_ctim.tv_sec &&
		 after.st_ctim.tv_nsec == before.st_ctim.tv_nsec);
}

/* Each process would take a thread. */
static void other_processes_are_not_asked_before_something_happens_to_the_file(void **state)
{
	char name[] = "/dev/shm/ebprec-mapped-files-XXXXXX";
	uint32_t self = (uint32_t)getpid();
	uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC), asked;
	struct mapping first, again;
	int fd = mkstemp(name);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || major(st.st_dev))
		skip();
	first = look_up_weak(name, self, 0);
	for (unsigned i = 0; i < 8; i++) {
		again = look_up_weak(name, (uint32_t)getppid(), 0);
		assert_true(again.id.inode_generation == first.id.inode_generation);
	}
	/* Each second is asked once all the same. */
	assert_true(ids.ask_count <= (clock_ns(CLOCK_MONOTONIC) - begin_ns) / SECOND_NS);
	asked = ids.ask_count;
	change_time(fd);
	again = look_up_weak(name, self, 0);
	assert_int_equal(ids.ask_count, asked + 1);
	assert_true(again.id.inode_generation != first.id.inode_generation);
	close(fd);
	unlink(name);
}

/* To dir as its /, in a mount namespace of its own. */
static bool move_to_dir(int unused)
{
	return !unshare(CLONE_NEWNS) && !chroot(dir) && !chdir("/");
}

static uint64_t read_as(uint32_t pid, unsigned file, const char *as)
{
	struct mapping m = { .pid = pid, .path = as };
	uint64_t before = ids.read_count;
	struct stat st;

	assert_int_equal(stat(path[file], &st), 0);
	m.id.dev_major = major(st.st_dev);
	m.id.dev_minor = minor(st.st_dev);
	m.id.inode = st.st_ino;
	mapped_files_lookup(&ids, &m, 1000);
	return ids.read_count - before;
}

static void files_of_a_gone_process_are_read_through_others_of_its_namespace(void **state)
{
	struct file_origin e = { 0 };
	pid_t stays = stays_in(move_to_dir, 0);
	size_t one_bytes, both_bytes;

	if (!stays)
		skip();
	ids.file_origin = &e;
	assert_int_equal(read_as(gone(), 1, "/1"), 0); /* no process is known */
	assert_int_equal(read_as((uint32_t)stays, 0, "/0"), 1);
	one_bytes = e.files.size_bytes;
	assert_int_equal(read_as(gone(), 1, "/1"), 1);
	both_bytes = e.files.size_bytes;
	assert_true(one_bytes > 0 && both_bytes > one_bytes);
	assert_int_equal(read_as(gone(), 2, "/3"), 0); /* another file */
	assert_int_equal(read_as(gone(), 2, "/none"), 0);
	stays_end(stays);
	assert_int_equal(read_as(gone(), 2, "/2"), 0);
	assert_int_equal(e.files.size_bytes, both_bytes);
	file_origin_done(&e);
}

/* In another root a path may lead to anything, and to open a device may be all that it waits for. */
static void what_is_no_file_is_not_opened(void **state)
{
	char fifo[96], event[sizeof(struct inotify_event) + 256];
	struct mapping m = { .pid = gone(), .id.inode = 1, .path = fifo };
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	snprintf(fifo, sizeof(fifo), "%s/fifo", dir);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_true(watch >= 0 && inotify_add_watch(watch, fifo, IN_OPEN) >= 0);
	assert_int_equal(map_file_open(&m), -ESTALE);
	assert_int_equal(read(watch, event, sizeof(event)), -1);
	assert_int_equal(errno, EAGAIN);
	close(open(fifo, O_RDONLY | O_NONBLOCK));
	assert_true(read(watch, event, sizeof(event)) > 0);
	close(watch);
	unlink(fifo);
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_file_is_read_once),
		CASE(what_was_mapped_last_is_remembered_longest),
		CASE(the_list_of_build_ids_ends),
		CASE(files_of_a_gone_process_are_read_through_others_of_its_namespace),
		CASE(what_is_no_file_is_not_opened),
		CASE(numbers_without_generation_are_one_file_while_size_and_times_stay),
		CASE(other_processes_are_not_asked_before_something_happens_to_the_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
