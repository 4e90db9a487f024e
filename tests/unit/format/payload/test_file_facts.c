/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* filefacts, jitfiles: what is recorded of files, there and back, complete and broken */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "format/payload/file_facts.h"
#include "record/process/jit_file.h"
#include "tests/unit/fixture.h"

#define TEXT(s)                  \
	{                        \
		s, sizeof(s) - 1 \
	}

static const struct file_facts example = {
	.id.dev_major = 8,
	.id.dev_minor = 1,
	.id.inode = 0x123456789a,
	.id.inode_generation = 7,
	.size_bytes = 1000,
	.mtime_ns = 1700000000123456789,
	.mount_namespace = 4026531832,
	.id.build_id = { "\x01\x02\x03", 3 },
	.sum = { 0x12345678, 0x9abcdef0, true, true },
	.segment_count = 2,
	.segments = { { 0x401000, 0x1000, 0x300 }, { 0x413000, 0x3000, 0x20 } },
	.path = TEXT("/usr/bin/app"),
	.root = TEXT("/srv/jail"),
	.cgroup = TEXT("/system.slice/x.service"),
};

static void assert_text(const struct file_facts_text *got, const struct file_facts_text *want)
{
	assert_int_equal(got->size_bytes, want->size_bytes);
	assert_memory_equal(got->text, want->text, want->size_bytes);
}

static void assert_facts(const struct file_facts *got, const struct file_facts *want)
{
	assert_int_equal(got->id.dev_major, want->id.dev_major);
	assert_int_equal(got->id.dev_minor, want->id.dev_minor);
	assert_true(got->id.inode == want->id.inode &&
		    got->id.inode_generation == want->id.inode_generation);
	assert_true(got->size_bytes == want->size_bytes && got->mtime_ns == want->mtime_ns);
	assert_true(got->mount_namespace == want->mount_namespace);
	assert_int_equal(got->id.build_id.size_bytes, want->id.build_id.size_bytes);
	assert_memory_equal(got->id.build_id.bytes, want->id.build_id.bytes, BUILDID_MAX_BYTES);
	assert_int_equal(got->sum.loaded_crc, want->sum.loaded_crc);
	assert_int_equal(got->sum.spread_crc, want->sum.spread_crc);
	assert_int_equal(got->sum.has_loaded, want->sum.has_loaded);
	assert_int_equal(got->sum.has_spread, want->sum.has_spread);
	assert_int_equal(got->segment_count, want->segment_count);
	assert_memory_equal(got->segments, want->segments,
			    want->segment_count * sizeof(want->segments[0]));
	assert_text(&got->path, &want->path);
	assert_text(&got->root, &want->root);
	assert_text(&got->cgroup, &want->cgroup);
}

static void filefacts_come_back(void **state)
{
	static const struct file_facts bare = { .path = TEXT(""),
						.root = TEXT(""),
						.cgroup = TEXT("") };
	uint8_t bytes[2 * FILE_FACTS_MAX_BYTES];
	size_t size = file_facts_encode(&example, bytes);
	struct file_facts got;
	struct cursor c;

	size += file_facts_encode(&bare, bytes + size);
	c = cursor_of(bytes, size);
	assert_int_equal(file_facts_next(&c, &got), 1);
	assert_facts(&got, &example);
	assert_int_equal(file_facts_next(&c, &got), 1);
	assert_facts(&got, &bare);
	assert_int_equal(file_facts_next(&c, &got), 0);
}

static void filefacts_longest_entry_fits(void **state)
{
	static char text[FILE_FACTS_TEXT_MAX + 1];
	static uint8_t bytes[FILE_FACTS_MAX_BYTES];
	struct file_facts f = { .segment_count = FILE_FACTS_SEGMENTS_MAX }, got;
	struct cursor c;
	size_t size;

	memset(text, 'x', sizeof(text));
	f.path = f.root = f.cgroup = (struct file_facts_text){ text, sizeof(text) };
	size = file_facts_encode(&f, bytes);
	assert_true(size <= sizeof(bytes));
	c = cursor_of(bytes, size);
	assert_int_equal(file_facts_next(&c, &got), 1);
	assert_int_equal(got.path.size_bytes, FILE_FACTS_TEXT_MAX); /* cut */
}

static void filefacts_unknown_ends_are_stepped_over(void **state)
{
	uint8_t bytes[2 * FILE_FACTS_MAX_BYTES] = { 0 };
	size_t size = file_facts_encode(&example, bytes);
	struct file_facts got;
	struct cursor c;

	le32_store(bytes, (uint32_t)size + 24); /* a field of the future */
	file_facts_encode(&example, bytes + size + 24);
	c = cursor_of(bytes, 2 * size + 24);
	assert_int_equal(file_facts_next(&c, &got), 1);
	assert_int_equal(file_facts_next(&c, &got), 1);
	assert_facts(&got, &example);
}

static void filefacts_refuse_what_is_broken(void **state)
{
	uint8_t bytes[FILE_FACTS_MAX_BYTES];
	size_t i, size = file_facts_encode(&example, bytes);
	struct file_facts got;
	struct cursor c;

	for (i = 1; i < size; i++) {
		c = cursor_of(bytes, i);
		assert_int_equal(file_facts_next(&c, &got), -EBADMSG);
	}
	static const struct {
		size_t off;
		uint8_t value;
	} breaks[] = { { 0, 87 }, { 3, 255 }, { 12, 21 }, { 13, 9 }, { 88 + 48 + 1, 255 } };

	for (i = 0; i < sizeof(breaks) / sizeof(breaks[0]); i++) {
		size = file_facts_encode(&example, bytes);
		bytes[breaks[i].off] = breaks[i].value;
		c = cursor_of(bytes, size);
		assert_int_equal(file_facts_next(&c, &got), -EBADMSG);
	}
}

static void filefacts_find_the_executable_segments(void **state)
{
	struct file_facts_segment s[FILE_FACTS_SEGMENTS_MAX];
	char path[FIXTURE_PATH];
	int fd;

	fixture_path("layout", path);
	fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	assert_int_equal(file_facts_segments(fd, s), 3);
	assert_true(s[0].vaddr == 0x401000 && s[0].off_bytes == 0x1000 && s[0].size_bytes == 0x300);
	assert_true(s[2].vaddr == 0x415000);
	close(fd);
	fd = open("/dev/null", O_RDONLY);
	assert_int_equal(file_facts_segments(fd, s), 0);
	close(fd);
	assert_int_equal(file_facts_segments(-1, s), 0);
}

/* A copy of a fixture in memory, of at least size_bytes. */
static int copy_of(const char *name, off_t size_bytes)
{
	char path[FIXTURE_PATH], block[4096];
	int from, to = memfd_create(name, 0);
	ssize_t n;

	fixture_path(name, path);
	from = open(path, O_RDONLY);
	assert_true(from >= 0 && to >= 0);
	while ((n = read(from, block, sizeof(block))) > 0)
		assert_int_equal(write(to, block, (size_t)n), n);
	close(from);
	if (lseek(to, 0, SEEK_END) < size_bytes)
		assert_int_equal(ftruncate(to, size_bytes), 0);
	return to;
}

static void change_byte(int fd, off_t at)
{
	uint8_t byte;

	assert_int_equal(pread(fd, &byte, 1, at), 1);
	byte ^= 1;
	assert_int_equal(pwrite(fd, &byte, 1, at), 1);
}

static void filefacts_sum_differs_when_headers_code_or_end_do(void **state)
{
	static const struct {
		off_t at;
		bool loaded; /* that part of the sum differs, too */
	} changes[] = {
		{ 16, true },             /* the file's header */
		{ 0x1000, true },         /* a segment's first byte of code, */
		{ 0x12ff, true },         /* its last */
		{ (1 << 20) - 1, false }, /* the file's last byte: names of sections */
		{ (1 << 19) + 9, false }, /* one of the blocks between */
	};
	int fd = copy_of("layout", 1 << 20);
	struct file_facts_sum was = file_facts_sum(fd), now;

	assert_true(was.has_loaded && was.has_spread && file_facts_same_sum(&was, &was));
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		change_byte(fd, changes[i].at);
		now = file_facts_sum(fd);
		assert_false(file_facts_same_sum(&was, &now));
		assert_int_equal(now.loaded_crc != was.loaded_crc, changes[i].loaded);
		change_byte(fd, changes[i].at);
		now = file_facts_sum(fd);
		assert_true(file_facts_same_sum(&was, &now));
	}
	close(fd);
}

static void filefacts_sum_of_mapped_parts_agrees_with_the_files(void **state)
{
	int fd = copy_of("layout", 1 << 20);
	struct file_facts_sum complete = file_facts_sum(fd), part, none = { 0 };

	assert_int_equal(ftruncate(fd, 0x6000), 0); /* behind all segments */
	part = file_facts_sum(fd);
	assert_int_equal(part.loaded_crc, complete.loaded_crc);
	assert_false(file_facts_same_sum(&complete, &part));
	part.has_spread = false;
	assert_true(file_facts_same_sum(&complete, &part));
	assert_true(file_facts_same_sum(&part, &complete));
	assert_false(file_facts_same_sum(&complete, &none));
	assert_false(file_facts_same_sum(&none, &none));
	close(fd);
}

static void filefacts_sum_of_no_elf_file_is_none(void **state)
{
	int fd = open("/dev/null", O_RDONLY);
	struct file_facts_sum s = file_facts_sum(fd);

	assert_false(s.has_loaded || s.has_spread);
	close(fd);
	s = file_facts_sum(-1);
	assert_false(s.has_loaded || s.has_spread);
	fd = memfd_create("text", 0);
	assert_int_equal(write(fd, "#!/bin/sh\n", 10), 10);
	s = file_facts_sum(fd);
	assert_false(s.has_loaded || s.has_spread);
	close(fd);
}

static void jitfiles_use_the_innermost_pid(void **state)
{
	static const struct {
		const char *status;
		uint32_t pid;
	} cases[] = {
		{ "Name:\tnode\nNStgid:\t9\nNSpid:\t123\t45\t6\nNSpgid:\t1\n", 6 },
		{ "Name:\tnode\nNSpid:\t123\n", 123 },
		{ "Name:\tNSpid:\t5\n", 0 }, /* a name is not the line */
		{ "Name:\tnode\nNSpid:\tx\n", 0 },
		{ "Name:\tnode\nNSpid:\n", 0 },
		{ "Name:\tnode\nNSpid:\t99999999999\n", 0 },
		{ "", 0 },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(jit_file_inner_pid(cases[i].status), cases[i].pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(filefacts_come_back),
		cmocka_unit_test(filefacts_longest_entry_fits),
		cmocka_unit_test(filefacts_unknown_ends_are_stepped_over),
		cmocka_unit_test(filefacts_refuse_what_is_broken),
		cmocka_unit_test(filefacts_find_the_executable_segments),
		cmocka_unit_test(filefacts_sum_differs_when_headers_code_or_end_do),
		cmocka_unit_test(filefacts_sum_of_mapped_parts_agrees_with_the_files),
		cmocka_unit_test(filefacts_sum_of_no_elf_file_is_none),
		cmocka_unit_test(jitfiles_use_the_innermost_pid),
	};

	return cmocka_run_group_tests_name("filefacts", tests, NULL, NULL);
}
