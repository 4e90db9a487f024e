/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* movedtext: what is code of a file in anonymous memory of a real process, ours, and what only looks like it */
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

#include "record/process/hugepage_text.h"
#include "tests/unit/random.h"

#define MIB       ((size_t)1 << 20)
#define FILE_SIZE (10 * MIB)
#define PAGE      4096u
#define LATER_NS  HUGEPAGE_TEXT_AGAIN_NS

/* A file of 10 MiB that is mapped as it is; from 4 MiB on lie 4 MiB of our own. */
struct fixture {
	struct io_timeout *io;
	struct hugepage_text t;
	char path[64], other[64];
	uint8_t *at, *moved;
	uint8_t *content;
};

static void write_file(char *path, const uint8_t *content)
{
	int fd;

	strcpy(path, "/tmp/ebprec-movedtext-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, content, FILE_SIZE), FILE_SIZE);
	close(fd);
}

static void map_file(const char *path, uint8_t *at, size_t offset, size_t size)
{
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	assert_ptr_equal(mmap(at, size, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fileno(f),
			      (off_t)offset),
			 at);
	fclose(f);
}

static void lay_over(struct fixture *f, const uint8_t *content)
{
	assert_ptr_equal(mmap(f->moved, 4 * MIB, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
			 f->moved);
	if (content)
		memcpy(f->moved, content, 4 * MIB);
	assert_int_equal(mprotect(f->moved, 4 * MIB, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	uint64_t seed = 3;

	assert_non_null(f);
	f->content = malloc(FILE_SIZE);
	assert_non_null(f->content);
	for (size_t i = 0; i < FILE_SIZE; i++)
		f->content[i] = (uint8_t)next_random(&seed);
	write_file(f->path, f->content);
	write_file(f->other, f->content);
	assert_int_equal(io_timeout_new(60000000000ULL, &f->io), 0);
	f->t.io = f->io;
	f->at = mmap(NULL, FILE_SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(f->at, MAP_FAILED);
	map_file(f->path, f->at, 0, FILE_SIZE);
	f->moved = f->at + 4 * MIB;
	lay_over(f, f->content + 4 * MIB);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	munmap(f->at, FILE_SIZE);
	unlink(f->path);
	unlink(f->other);
	io_timeout_free(f->io);
	hugepage_text_done(&f->t);
	free(f->content);
	free(f);
	return 0;
}

static struct mapping anon(const struct fixture *f)
{
	return (struct mapping){ .pid = (uint32_t)getpid(),
				 .tid = (uint32_t)getpid(),
				 .start = (uint64_t)(uintptr_t)f->moved,
				 .size_bytes = 4 * MIB,
				 .file_off_bytes = (uint64_t)(uintptr_t)f->moved,
				 .prot = PROT_READ | PROT_EXEC,
				 .path = "//anon" };
}

static bool is_found(struct fixture *f, uint64_t now_ns)
{
	struct mapping m = anon(f), was = m;
	bool found = hugepage_text_look(&f->t, &m, NULL, now_ns);

	if (!found) {
		assert_int_equal(m.id.inode, 0);
		assert_int_equal(m.file_off_bytes, was.file_off_bytes);
		assert_string_equal(m.path, "//anon");
	}
	return found;
}

static void same_code_is_of_the_file(void **state)
{
	struct fixture *f = *state;
	struct mapping m = anon(f);
	struct stat st;

	assert_int_equal(stat(f->path, &st), 0);
	assert_true(hugepage_text_look(&f->t, &m, NULL, 0));
	assert_string_equal(m.path, f->path);
	assert_int_equal(m.id.inode, st.st_ino);
	assert_int_equal(m.file_off_bytes, 4 * MIB);
	assert_int_equal(m.start, (uint64_t)(uintptr_t)f->moved);
	assert_int_equal(m.size_bytes, 4 * MIB);
	assert_int_equal(f->t.waiting_count, 0);
}

static void other_code_is_not(void **state)
{
	struct fixture *f = *state;

	lay_over(f, f->content);
	assert_false(is_found(f, 0));
	lay_over(f, NULL);
	assert_false(is_found(f, 0));
}

/* A program may patch itself: some of its pages differ.  With more it is another program. */
static void few_pages_may_differ(void **state)
{
	struct fixture *f = *state;

	for (size_t page = 0; page < 4 * MIB / PAGE; page += 40)
		f->moved[page * PAGE + 7] ^= 1;
	assert_true(is_found(f, 0));
	for (size_t page = 0; page < 4 * MIB / PAGE; page += 4)
		f->moved[page * PAGE + 8] ^= 1;
	assert_false(is_found(f, 0));
}

/* Nothing is like nothing: that identifies no code. */
static void empty_pages_prove_nothing(void **state)
{
	struct fixture *f = *state;
	FILE *file = fopen(f->path, "r+");
	uint8_t *zeros = calloc(1, 4 * MIB);

	assert_non_null(file);
	assert_non_null(zeros);
	fseek(file, 4 * (long)MIB, SEEK_SET);
	assert_int_equal(fwrite(zeros, 1, 4 * MIB, file), 4 * MIB);
	fclose(file);
	lay_over(f, zeros);
	assert_false(is_found(f, 0));
	free(zeros);
}

static void between_two_files_it_is_of_none(void **state)
{
	struct fixture *f = *state;

	map_file(f->other, f->at + 8 * MIB, 8 * MIB, 2 * MIB);
	assert_false(is_found(f, 0));
	assert_int_equal(f->t.waiting_count, 0);
}

/* Segments are not as far apart in the file as in memory: either neighbour may have the offset. */
static void either_neighbour_has_the_offset_in_the_file(void **state)
{
	struct fixture *f = *state;
	struct mapping m;

	map_file(f->path, f->at, 2 * MIB, 4 * MIB);
	m = anon(f);
	assert_true(hugepage_text_look(&f->t, &m, NULL, 0));
	assert_int_equal(m.file_off_bytes, 4 * MIB);
	map_file(f->path, f->at, 0, 4 * MIB);
	map_file(f->path, f->at + 8 * MIB, 6 * MIB, 2 * MIB);
	m = anon(f);
	assert_true(hugepage_text_look(&f->t, &m, NULL, 0));
	assert_int_equal(m.file_off_bytes, 4 * MIB);
}

static void only_large_anonymous_code_is_looked_at(void **state)
{
	struct fixture *f = *state;
	struct mapping m = anon(f);

	m.prot = PROT_READ | PROT_WRITE;
	assert_false(hugepage_text_look(&f->t, &m, NULL, 0));
	m = anon(f);
	m.path = "/memfd:code (deleted)";
	assert_false(hugepage_text_look(&f->t, &m, NULL, 0));
	m = anon(f);
	m.size_bytes = HUGEPAGE_TEXT_MIN_BYTES - PAGE;
	assert_false(hugepage_text_look(&f->t, &m, NULL, 0));
	m.size_bytes = HUGEPAGE_TEXT_MIN_BYTES;
	assert_true(hugepage_text_look(&f->t, &m, NULL, 0));
	m = anon(f);
	m.pid = 0x7ffffff0; /* no process */
	assert_false(hugepage_text_look(&f->t, &m, NULL, 0));
	m = anon(f);
	m.start -= PAGE; /* what is known is not what is there */
	assert_false(hugepage_text_look(&f->t, &m, NULL, 0));
	assert_int_equal(f->t.waiting_count, 0);
}

static void code_that_comes_later_is_found_later(void **state)
{
	struct fixture *f = *state;
	struct mapping m;

	lay_over(f, NULL);
	assert_false(is_found(f, 1000));
	assert_false(is_found(f, 1000)); /* mprotect() reports the same mapping again */
	assert_int_equal(f->t.waiting_count, 1);
	memcpy(f->moved, f->content + 4 * MIB, 4 * MIB);
	assert_false(hugepage_text_again(&f->t, &m, 1000));
	assert_true(hugepage_text_again(&f->t, &m, 1000 + LATER_NS));
	assert_string_equal(m.path, f->path);
	assert_int_equal(m.file_off_bytes, 4 * MIB);
	assert_int_equal(f->t.waiting_count, 0);
	assert_false(hugepage_text_again(&f->t, &m, 1000 + 9 * LATER_NS));
}

static void no_process_is_waited_for_after_it_was_found(void **state)
{
	struct fixture *f = *state;

	lay_over(f, NULL);
	assert_false(is_found(f, 0));
	memcpy(f->moved, f->content + 4 * MIB, 4 * MIB);
	assert_true(is_found(f, 0));
	assert_int_equal(f->t.waiting_count, 0);
}

static void what_never_comes_is_given_up(void **state)
{
	struct fixture *f = *state;
	struct mapping m;
	uint64_t now_ns = 0;
	unsigned turns = 0;

	lay_over(f, NULL);
	assert_false(is_found(f, 0));
	for (; f->t.waiting_count && turns < 100; turns++) {
		now_ns += LATER_NS << turns;
		assert_false(hugepage_text_again(&f->t, &m, now_ns));
	}
	assert_int_equal(turns, HUGEPAGE_TEXT_TURNS);
	assert_in_range(now_ns, 3000000000, 5000000000);
}

static void more_than_may_wait_are_left_out(void **state)
{
	struct fixture *f = *state;
	struct mapping m;

	lay_over(f, NULL);
	for (unsigned i = 0; i < 2 * HUGEPAGE_TEXT_WAITING; i++) {
		m = anon(f);
		m.start += i * PAGE;
		m.size_bytes -= i * PAGE;
		assert_false(hugepage_text_look(&f->t, &m, NULL, 0));
	}
	assert_int_equal(f->t.waiting_count, HUGEPAGE_TEXT_WAITING);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(same_code_is_of_the_file),
		TEST(other_code_is_not),
		TEST(few_pages_may_differ),
		TEST(empty_pages_prove_nothing),
		TEST(between_two_files_it_is_of_none),
		TEST(either_neighbour_has_the_offset_in_the_file),
		TEST(only_large_anonymous_code_is_looked_at),
		TEST(code_that_comes_later_is_found_later),
		TEST(no_process_is_waited_for_after_it_was_found),
		TEST(what_never_comes_is_given_up),
		TEST(more_than_may_wait_are_left_out),
	};

	return cmocka_run_group_tests_name("movedtext", tests, NULL, NULL);
}
