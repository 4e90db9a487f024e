/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* interpreter_files: what one recording finds the next one reads, and what a command will run */
#include "record/runtime/interpreter_files.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/fixture.h"

struct env {
	char root[64], python[FIXTURE_PATH], other[FIXTURE_PATH], text[FIXTURE_PATH];
	struct interpreter_files files;
	uint32_t found; /* their versions, added up: files are read at once, and end in any order */
	size_t found_count;
};

static void on_found(void *arg, const struct stat *st, const struct elf_facts *facts)
{
	struct env *e = arg;

	assert_true(st->st_ino);
	e->found += facts->runtime.version;
	e->found_count++;
}

/* The list as a new recording has it. */
static void load(struct env *e)
{
	struct io_timeout *io = e->files.io;

	interpreter_files_done(&e->files);
	e->files = (struct interpreter_files){ .io = io, .found = on_found, .arg = e };
	interpreter_files_load(&e->files, e->root);
	e->found = 0;
	e->found_count = 0;
}

static int setup(void **state)
{
	struct env *e = calloc(1, sizeof(*e));

	fixture_path("python3.11", e->python);
	fixture_path("python3.13.stripped", e->other);
	fixture_path("names", e->text);
	strcpy(e->root, "/tmp/ebprec-test-XXXXXX");
	assert_non_null(mkdtemp(e->root));
	assert_int_equal(io_timeout_new(IO_WAIT_NS, &e->files.io), 0);
	load(e);
	*state = e;
	return 0;
}

static int teardown(void **state)
{
	struct env *e = *state;
	char cmd[128];

	interpreter_files_done(&e->files);
	io_timeout_free(e->files.io);
	snprintf(cmd, sizeof(cmd), "rm -rf '%s'", e->root);
	assert_int_equal(system(cmd), 0);
	free(e);
	return 0;
}

static void look(struct env *e)
{
	interpreter_files_look(&e->files);
	io_timeout_finish(e->files.io, 10000000000ULL);
}

static void look_at_command(struct env *e, const char *name)
{
	e->found = 0;
	e->found_count = 0;
	interpreter_files_look_at_command(&e->files, name);
	io_timeout_finish(e->files.io, 10000000000ULL);
}

static void the_next_recording_reads_each_file_with_an_interpreter_once(void **state)
{
	struct env *e = *state;

	look(e);
	assert_int_equal(e->found_count, 0);
	interpreter_files_add(&e->files, e->python);
	interpreter_files_add(&e->files, e->other);
	interpreter_files_add(&e->files, e->python);
	load(e);
	look(e);
	assert_int_equal(e->found_count, 2);
	assert_int_equal(e->found, 0x030b + 0x030d);
}

static void a_path_without_an_interpreter_leaves_the_list(void **state)
{
	struct env *e = *state;

	interpreter_files_add(&e->files, "/nonexistent/python");
	interpreter_files_add(&e->files, e->text);
	interpreter_files_add(&e->files, "/dev/zero");
	interpreter_files_add(&e->files, e->python);
	load(e);
	assert_int_equal(e->files.count, 4);
	look(e);
	assert_int_equal(e->found_count, 1);
	load(e);
	assert_int_equal(e->files.count, 1);
	assert_string_equal(e->files.path[0], e->python);
}

/* The path was a stranger's program when it was recorded.  A FIFO stands for a device, which may do anything when it is opened. */
static void what_is_no_regular_file_is_not_opened(void **state)
{
	struct env *e = *state;
	char path[FIXTURE_PATH], seen[256];
	int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK), fd;

	snprintf(path, sizeof(path), "%s/fifo", e->root);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_true(watch >= 0 && inotify_add_watch(watch, path, IN_OPEN) >= 0);
	interpreter_files_add(&e->files, path);
	look(e);
	assert_int_equal(read(watch, seen, sizeof(seen)), -1);
	assert_int_equal(e->files.count, 0);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* which the watch sees */
	assert_true(fd >= 0 && read(watch, seen, sizeof(seen)) > 0);
	close(fd);
	close(watch);
}

static void a_full_list_loses_its_oldest_path_and_takes_none_that_is_no_line(void **state)
{
	struct env *e = *state;
	char path[32];

	interpreter_files_add(&e->files, "python3");
	interpreter_files_add(&e->files, "/a\nb");
	assert_int_equal(e->files.count, 0);
	for (int i = 0; i < INTERPRETER_FILES_MAX + 3; i++) {
		snprintf(path, sizeof(path), "/usr/bin/python%d", i);
		interpreter_files_add(&e->files, path);
	}
	load(e);
	assert_int_equal(e->files.count, INTERPRETER_FILES_MAX);
	assert_string_equal(e->files.path[0], "/usr/bin/python3");
}

static void write_script(const char *path, const char *first)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fprintf(f, "%s\nprint(1)\n", first) > 0);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, 0755), 0);
}

static void a_command_is_a_program_or_the_program_of_a_script(void **state)
{
	struct env *e = *state;
	char script[96], first[FIXTURE_PATH + 32], *path = strdup(getenv("PATH"));

	look_at_command(e, e->python);
	assert_int_equal(e->found, 0x030b);
	look_at_command(e, e->text);
	assert_int_equal(e->found_count, 0);
	look_at_command(e, "/nonexistent/python");
	assert_int_equal(e->found_count, 0);

	snprintf(script, sizeof(script), "%s/script", e->root);
	snprintf(first, sizeof(first), "#! %s -S", e->other);
	write_script(script, first);
	look_at_command(e, script);
	assert_int_equal(e->found, 0x030d);

	*strrchr(e->python, '/') = 0;
	assert_int_equal(setenv("PATH", e->python, 1), 0);
	write_script(script, "#!/usr/bin/env -S A=1 python3.11 -I");
	look_at_command(e, script);
	assert_int_equal(e->found, 0x030b);
	write_script(script, "#!/usr/bin/env");
	look_at_command(e, script);
	write_script(script, "#!");
	look_at_command(e, script);
	assert_int_equal(e->found_count, 0);
	look_at_command(e, "python3.13");
	assert_int_equal(e->found, 0x030d);
	assert_int_equal(setenv("PATH", path, 1), 0);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			the_next_recording_reads_each_file_with_an_interpreter_once, setup,
			teardown),
		cmocka_unit_test_setup_teardown(a_path_without_an_interpreter_leaves_the_list,
						setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_no_regular_file_is_not_opened, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			a_full_list_loses_its_oldest_path_and_takes_none_that_is_no_line, setup,
			teardown),
		cmocka_unit_test_setup_teardown(a_command_is_a_program_or_the_program_of_a_script,
						setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
