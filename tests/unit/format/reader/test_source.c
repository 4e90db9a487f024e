/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
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
#include <unistd.h>

#include <cmocka.h>

#include "format/reader/source.h"

#define SIZE 100000

static uint8_t bytes[SIZE];

static int setup(void **state)
{
	for (size_t i = 0; i < SIZE; i++)
		bytes[i] = (uint8_t)(i * 7 + i / 256);
	memcpy(bytes, "PERFILE2", 8); /* of others only the beginning is copied */
	return 0;
}

/* The same bytes as a file without a name; its path in /proc. */
static int make_file(char path[64])
{
	int fd = memfd_create("source", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, SIZE), SIZE);
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return fd;
}

static void check_reads(const struct source *s)
{
	static uint8_t out[SIZE + 10];
	const struct {
		uint64_t off;
		size_t size, have;
	} cases[] = {
		{ 0, 0, 0 },          { 0, SIZE, SIZE },        { 0, SIZE + 10, SIZE },
		{ SIZE - 1, 5, 1 },   { SIZE, 5, 0 },           { SIZE + 1, 5, 0 },
		{ UINT64_MAX, 5, 0 }, { UINT64_MAX - 2, 5, 0 }, { 777, 333, 333 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(source_read(s, cases[i].off, out, cases[i].size), cases[i].have);
		if (cases[i].have)
			assert_memory_equal(out, bytes + cases[i].off, cases[i].have);
	}
}

static void check_window(const struct source *s, size_t ahead)
{
	struct window w;

	window_init(&w, s, ahead);
	for (uint64_t off = 0; off < SIZE; off += 997) {
		size_t n = off % 3000 + 1;
		const uint8_t *p = window_at(&w, off, n);

		if (n > SIZE - off) {
			assert_null(p);
			continue;
		}
		assert_non_null(p);
		assert_memory_equal(p, bytes + off, n);
	}
	/* Back again, and exactly to the end. */
	assert_memory_equal(window_at(&w, 5, 10), bytes + 5, 10);
	assert_memory_equal(window_at(&w, SIZE - 8, 8), bytes + SIZE - 8, 8);
	assert_null(window_at(&w, SIZE - 8, 9));
	assert_null(window_at(&w, UINT64_MAX, 1));
	assert_null(window_at(&w, UINT64_MAX - 3, 8));
	window_done(&w);
}

static void files_and_memory_read_alike(void **state)
{
	static const size_t aheads[] = { 0, 1, 100, 4096, 2 * SIZE };
	struct source s;
	char path[64];
	int fd = make_file(path);

	assert_int_equal(source_open(path, &s, NULL), 0);
	assert_int_equal(s.size_bytes, SIZE);
	check_reads(&s);
	for (size_t i = 0; i < sizeof(aheads) / sizeof(aheads[0]); i++)
		check_window(&s, aheads[i]);
	source_done(&s);
	close(fd);
	source_of_bytes(bytes, SIZE, &s);
	check_reads(&s);
	check_window(&s, 4096);
	source_done(&s);
	source_done(&s); /* twice is fine */
}

static void a_file_that_became_shorter_gives_fewer_bytes(void **state)
{
	uint8_t out[100];
	struct source s;
	char path[64];
	int fd = make_file(path);

	assert_int_equal(source_open(path, &s, NULL), 0);
	assert_int_equal(ftruncate(fd, 50), 0);
	assert_int_equal(source_read(&s, 0, out, 100), 50);
	assert_int_equal(source_read(&s, 60, out, 100), 0);
	source_done(&s);
	close(fd);
}

static void a_file_that_grew_is_seen_after_a_refresh(void **state)
{
	uint8_t out[100];
	struct source s;
	char path[64];
	int fd = make_file(path);

	assert_int_equal(source_open(path, &s, NULL), 0);
	assert_int_equal(write(fd, "more", 4), 4);
	assert_int_equal(source_read(&s, SIZE, out, 100), 0);
	source_refresh(&s);
	assert_int_equal(source_read(&s, SIZE, out, 100), 4);
	source_done(&s);
	close(fd);
}

/* More than a pipe holds, so that it takes many reads. */
static void a_pipe_is_copied_completely(void **state)
{
	struct source s;
	char path[64];
	int fds[2];
	pid_t child;

	assert_int_equal(pipe(fds), 0);
	child = fork();
	if (!child) {
		for (size_t off = 0; off < SIZE; off += 1000)
			if (write(fds[1], bytes + off, 1000) != 1000)
				_exit(1);
		_exit(0);
	}
	close(fds[1]);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[0]);
	assert_int_equal(source_open(path, &s, NULL), 0);
	assert_int_equal(s.size_bytes, SIZE);
	check_reads(&s);
	source_done(&s);
	close(fds[0]);
}

static void what_cannot_be_opened_is_an_errno(void **state)
{
	struct source s;

	assert_int_equal(source_open("/nonexistent", &s, NULL), -ENOENT);
	assert_int_equal(source_open("/proc", &s, NULL), -EISDIR);
	assert_int_equal(source_open("", &s, NULL), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_and_memory_read_alike),
		cmocka_unit_test(a_file_that_became_shorter_gives_fewer_bytes),
		cmocka_unit_test(a_file_that_grew_is_seen_after_a_refresh),
		cmocka_unit_test(a_pipe_is_copied_completely),
		cmocka_unit_test(what_cannot_be_opened_is_an_errno),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
