/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* source_lines: places in scripts, in UTF-16, are in the lines that a reader of the file counts */
#include "record/runtime/source_lines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void lines_begin_behind_each_terminator(void **state)
{
	/* A mark of order, two bytes, three and four (two units); \r\n is one end, \r another, U+2028 too. */
	static const char text[] = "\xef\xbb\xbf"
				   "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x90\x8d\r\nb\rc\xe2\x80\xa8"
				   "d\n";
	static const uint32_t starts[] = { 0, 7, 9, 11, 13 };
	struct source_starts s = { 0 };

	(void)state;
	assert_int_equal(source_lines_read((const uint8_t *)text, sizeof(text) - 1, &s), 0);
	assert_int_equal(s.unit_count, 13);
	assert_int_equal(s.line_count, 5);
	assert_memory_equal(s.starts, starts, sizeof(starts));
	free(s.starts);
}

static void bytes_that_are_no_utf8_are_read_to_their_end(void **state)
{
	struct source_starts s = { 0 };

	(void)state;
	for (int c = 0x80; c < 0x100; c++) {
		uint8_t *one = malloc(
			1); /* of its exact size: valgrind and the sanitizer see a byte too far */

		assert_non_null(one);
		*one = (uint8_t)c;
		assert_int_equal(source_lines_read(one, 1, &s), 0);
		assert_int_equal(s.unit_count, 1);
		free(one);
		free(s.starts);
		s = (struct source_starts){ 0 };
	}
}

static void names_of_scripts_have_paths(void **state)
{
	static const struct {
		const char *name, *path;
	} cases[] = {
		{ "/srv/a b.js", "/srv/a b.js" },
		{ "file:///srv/a%20b.mjs?x=1", "/srv/a b.mjs" },
		{ "file:///100%", "/100%" },
		{ "file://host/a.js", NULL },
		{ "node:internal/fs", NULL },
		{ ".../cut/away.js", NULL },
		{ "evalmachine.<anonymous>", NULL },
		{ "", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *path = source_path(cases[i].name);

		if (cases[i].path)
			assert_string_equal(path, cases[i].path);
		else
			assert_null(path);
		free(path);
	}
}

/* Reads the script in a thread, as the recorder does. */
static uint32_t find(struct source_lines *l, const char *name, uint32_t unit_count, uint32_t place)
{
	uint32_t column = 0, line;

	source_lines_see(l, (uint32_t)getpid(), 65534, name);
	io_timeout_finish(l->io, 2000000000);
	line = source_lines_find(l, (uint32_t)getpid(), name, unit_count, place, &column);
	return line * 100 + column;
}

static void only_the_text_that_runs_has_lines(void **state)
{
	struct source_lines l = { 0 };
	char path[] = "/tmp/test_source_lines.XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "let a;\nfunction f() {}\n", 23), 23);
	assert_int_equal(io_timeout_new(IO_WAIT_NS, &l.io), 0);
	assert_int_equal(find(&l, path, 23, 17), 0); /* another user may not read it */
	source_lines_done(&l);
	assert_int_equal(fchmod(fd, 0644), 0);
	assert_int_equal(find(&l, path, 23, 17), 211);
	assert_int_equal(find(&l, path, 23, 0), 101);
	assert_int_equal(find(&l, path, 22, 17), 0); /* another text */
	assert_int_equal(find(&l, path, 23, 23), 0); /* behind its end */
	assert_int_equal(find(&l, "/tmp", 23, 0), 0);
	assert_int_equal(find(&l, "/dev/zero", 23, 0), 0);
	assert_int_equal(find(&l, "/tmp/there/is/no.js", 23, 0), 0);
	source_lines_done(&l);
	io_timeout_free(l.io);
	close(fd);
	unlink(path);
}

/* However a read ends, it is no more under way. */
static void no_file_is_being_read_in_the_end(void **state)
{
	struct source_lines l = { 0 };

	(void)state;
	assert_int_equal(io_timeout_new(0, &l.io), 0);
	source_lines_see(&l, 1, 0, "/none/1.js");
	source_lines_see(&l, 1, 0, "/none/1.js");
	source_lines_see(&l, 1, 0, "node:fs");
	assert_true(l.reading <= 1);
	io_timeout_finish(l.io, 2000000000);
	assert_int_equal(l.reading, 0);
	source_lines_see(&l, 1, 0, "/none/2.js");
	io_timeout_finish(l.io, 0); /* given up, if it is not done by then */
	assert_int_equal(l.reading, 0);
	source_lines_done(&l);
	io_timeout_free(l.io);
}

static void the_oldest_files_are_forgotten(void **state)
{
	struct source_lines l = { 0 };
	char name[32];

	(void)state;
	assert_int_equal(io_timeout_new(IO_WAIT_NS, &l.io), 0);
	for (unsigned i = 0; i < SOURCE_FILES_MAX + 3; i++) {
		snprintf(name, sizeof(name), "/none/%u.js", i);
		source_lines_see(&l, 1, 0, name);
		io_timeout_finish(l.io, 2000000000);
	}
	assert_int_equal(l.count, SOURCE_FILES_MAX);
	assert_string_equal(l.files[0]->name, "/none/3.js");
	source_lines_done(&l);
	io_timeout_free(l.io);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_begin_behind_each_terminator),
		cmocka_unit_test(bytes_that_are_no_utf8_are_read_to_their_end),
		cmocka_unit_test(names_of_scripts_have_paths),
		cmocka_unit_test(only_the_text_that_runs_has_lines),
		cmocka_unit_test(no_file_is_being_read_in_the_end),
		cmocka_unit_test(the_oldest_files_are_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
