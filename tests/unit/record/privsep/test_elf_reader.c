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
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/privsep/elf_reader.h"

static const char ends[] = "#!/bin/sh\nexec /bin/dd bs=1 count=1 <&3\n";

static void write_file(char *path, const void *bytes, size_t size_bytes)
{
	int fd;

	strcpy(path, "/tmp/ebprec-elf-reader-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size_bytes), size_bytes);
	assert_int_equal(fchmod(fd, 0700), 0);
	close(fd);
}

/* A program in the place of the reader. */
static void write_reader(char *path, const char *text)
{
	write_file(path, text, strlen(text));
}

/* A value that an earlier call left in errno is not believed of a read that found the end: it would be "no answer in time". */
static void a_reader_that_ends_is_reported_at_once(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct elf_reader *reader = NULL;
	struct elf_facts facts;
	char path[64];

	assert_true(fd >= 0);
	write_reader(path, ends);
	assert_int_equal(elf_reader_new(path, ELF_READER_OPTION, &reader), 0);
	for (unsigned i = 0; i < 8; i++) {
		errno = EINTR;
		assert_int_equal(elf_reader_facts(reader, fd, &facts), -ECHILD);
		assert_memory_equal(elf_reader_death(reader), "exited with ", 12);
	}
	elf_reader_free(reader);
	unlink(path);
	close(fd);
}

/* Facts of nothing, but for one byte. */
static int ask_for(size_t off_bytes, uint8_t byte)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), err;
	struct elf_reader *reader = NULL;
	struct elf_facts facts;
	uint8_t answer[sizeof(facts)] = { 0 };
	char path[64], answer_path[64], text[160];

	assert_true(fd >= 0);
	answer[off_bytes] = byte;
	write_file(answer_path, answer, sizeof(answer));
	/* One program.  Behind the answer it sends the question back; it ends when the socket does. */
	snprintf(text, sizeof(text), "#!/bin/sh\nexec cat %s - <&3 >&3\n", answer_path);
	write_reader(path, text);
	assert_int_equal(elf_reader_new(path, ELF_READER_OPTION, &reader), 0);
	err = elf_reader_facts(reader, fd, &facts);
	elf_reader_free(reader);
	unlink(path);
	unlink(answer_path);
	close(fd);
	return err;
}

/* It may have been taken over. */
static void facts_that_cannot_be_are_not_believed(void **state)
{
	assert_int_equal(ask_for(0, 0), 0);
	assert_int_equal(ask_for(offsetof(struct elf_facts, sum.has_loaded), 1), 0);
	assert_int_equal(ask_for(offsetof(struct elf_facts, sum.has_loaded), 2), -ECHILD);
	assert_int_equal(ask_for(offsetof(struct elf_facts, sum.has_spread), 255), -ECHILD);
	assert_int_equal(ask_for(offsetof(struct elf_facts, segment_count) + 3, 1), -ECHILD);
	assert_int_equal(ask_for(offsetof(struct elf_facts, site_count) + 3, 1), -ECHILD);
	assert_int_equal(ask_for(offsetof(struct elf_facts, runtime.state), ELF_RUNTIME_THREADED),
			 0);
	assert_int_equal(
		ask_for(offsetof(struct elf_facts, runtime.state), ELF_RUNTIME_THREADED + 1),
		-ECHILD);
	/* It has a description of nothing. */
	assert_int_equal(ask_for(offsetof(struct elf_facts, runtime.state), ELF_RUNTIME_UNDERSTOOD),
			 -ECHILD);
	assert_int_equal(ask_for(offsetof(struct elf_facts, runtime.kind), RUNTIME_KINDS - 1), 0);
	assert_int_equal(ask_for(offsetof(struct elf_facts, runtime.kind), RUNTIME_KINDS), -ECHILD);
	assert_int_equal(ask_for(offsetof(struct elf_facts, runtime.desc.kind), RUNTIME_KINDS - 1),
			 0);
	assert_int_equal(ask_for(offsetof(struct elf_facts, runtime.desc.kind), RUNTIME_KINDS),
			 -ECHILD);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_reader_that_ends_is_reported_at_once),
		cmocka_unit_test(facts_that_cannot_be_are_not_believed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
