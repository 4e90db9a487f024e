/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <cmocka.h>

#include "record/privsep/io_timeout.h"
#include "record/privsep/elf_reader.h"
#include "record/unwind/table_builder.h"

#define LONG_NS 60000000000ULL

/* A way to a file by its path alone: no process maps it there. */
static struct io_timeout *io;

static struct mapping way_to(const char *path)
{
	struct mapping m = { .pid = (uint32_t)getpid(), .start = 4096, .path = path };
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	m.id.dev_major = major(st.st_dev);
	m.id.dev_minor = minor(st.st_dev);
	m.id.inode = st.st_ino;
	return m;
}

static const char *own_path(void)
{
	static char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	assert_true(n > 0);
	path[n] = 0;
	return path;
}

static bool readable(const struct table_builder *w)
{
	struct pollfd p = { .fd = table_builder_fd(w), .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

static struct table_job *next(struct table_builder *w)
{
	struct table_job *job;

	while (!(job = table_builder_take(w))) {
		assert_true(table_builder_count(w) > 0);
		table_builder_wait(w, LONG_NS);
	}
	return job;
}

static void jobs_come_back_in_order_with_their_tables(void **state)
{
	struct mapping m = way_to(own_path());
	struct table_builder *w = NULL;
	struct module_table_view view;
	struct table_job *job;
	uint32_t i;

	assert_int_equal(table_builder_new(io, NULL, NULL, &w), 0);
	assert_null(table_builder_take(w));
	for (i = 0; i < 20; i++)
		assert_int_equal(table_builder_put(w, i, &m), 0);
	assert_int_equal(table_builder_count(w), 20);
	for (i = 0; i < 20; i++) {
		job = next(w);
		assert_int_equal(job->number, i);
		assert_int_equal(job->err, 0);
		module_table_view(job->table, &view);
		assert_true(view.n_rows > 100);
		assert_false(job->from_cache);
		tablejob_free(job);
	}
	assert_int_equal(table_builder_count(w), 0);
	assert_false(readable(w));
	assert_null(table_builder_take(w));
	assert_true(table_builder_free(w));
}

static void files_without_a_table_have_the_reason(void **state)
{
	struct mapping gone = way_to(own_path()), text = way_to("/etc/passwd");
	struct table_builder *w = NULL;
	struct table_job *job;

	gone.id.inode++;
	assert_int_equal(table_builder_new(io, NULL, NULL, &w), 0);
	assert_int_equal(table_builder_put(w, 1, &gone), 0);
	assert_int_equal(table_builder_put(w, 2, &text), 0);
	job = next(w);
	assert_int_equal(job->err, -ESTALE);
	assert_null(job->table);
	tablejob_free(job);
	job = next(w);
	assert_int_equal(job->number, 2);
	assert_true(job->err && job->err != -ESTALE);
	assert_null(job->table);
	tablejob_free(job);
	assert_true(table_builder_free(w));
}

static void a_table_is_made_once_and_then_cached(void **state)
{
	char dir[] = "/tmp/ebprec-worker-XXXXXX", command[64];
	struct mapping m = way_to(own_path());
	struct table_cache *cache = NULL;
	struct table_builder *w = NULL;
	struct table_job *job;
	unsigned i;

	/* With any mask of its builder: others do not write it. */
	assert_int_equal(chmod(own_path(), 0755), 0);
	assert_non_null(mkdtemp(dir));
	assert_int_equal(table_cache_open(dir, 64 << 20, &cache), 0);
	assert_int_equal(table_builder_new(io, cache, NULL, &w), 0);
	for (i = 0; i < 3; i++) {
		assert_int_equal(table_builder_put(w, i, &m), 0);
		job = next(w);
		assert_int_equal(job->err, 0);
		assert_int_equal(job->from_cache, i > 0);
		tablejob_free(job);
	}
	assert_true(table_builder_free(w));
	table_cache_close(cache);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	assert_int_equal(system(command), 0);
}

static void jobs_without_a_taker_are_freed(void **state)
{
	struct mapping m = way_to(own_path());
	struct table_builder *w = NULL;
	uint32_t i;

	assert_int_equal(table_builder_new(io, NULL, NULL, &w), 0);
	for (i = 0; i < 8; i++)
		assert_int_equal(table_builder_put(w, i, &m), 0);
	while (!readable(w))
		table_builder_wait(w, LONG_NS);
	assert_true(table_builder_free(w));
	assert_true(table_builder_free(NULL));
}

static void a_process_of_its_own_makes_the_same_table(void **state)
{
	struct mapping m = way_to(own_path()), text = way_to("/etc/passwd");
	struct table_builder *here = NULL, *there = NULL;
	struct module_table_view a, b;
	struct table_job *ja, *jb;

	assert_int_equal(table_builder_new(io, NULL, NULL, &here), 0);
	assert_int_equal(table_builder_new(io, NULL, "/proc/self/exe", &there), 0);
	assert_int_equal(table_builder_put(here, 1, &m), 0);
	assert_int_equal(table_builder_put(there, 1, &m), 0);
	ja = next(here);
	jb = next(there);
	assert_int_equal(jb->err, 0);
	module_table_view(ja->table, &a);
	module_table_view(jb->table, &b);
	assert_int_equal(a.n_rows, b.n_rows);
	assert_int_equal(a.n_pages, b.n_pages);
	assert_memory_equal(a.pc_low, b.pc_low, a.n_rows * sizeof(*a.pc_low));
	for (uint32_t i = 0; i < a.n_rows; i++)
		assert_memory_equal(&rule_table_rules(ja->rules)[a.rule_id[i]],
				    &rule_table_rules(jb->rules)[b.rule_id[i]],
				    sizeof(struct unwind_rule));
	assert_true(jb->reader_ns > 0);
	tablejob_free(ja);
	tablejob_free(jb);
	assert_int_equal(table_builder_put(here, 2, &text), 0);
	assert_int_equal(table_builder_put(there, 2, &text), 0);
	ja = next(here);
	jb = next(there);
	assert_int_equal(ja->err, jb->err);
	tablejob_free(ja);
	tablejob_free(jb);
	assert_true(table_builder_free(here));
	assert_true(table_builder_free(there));
}

static void a_process_that_cannot_be_or_lies_costs_tables(void **state)
{
	static const struct {
		const char *program, *want;
	} cases[] = {
		{ "/nowhere/at/all", "cannot be started: No such file or directory" },
		{ "/bin/true", "exited with 0" },
		{ "/bin/false", "exited with 1" },
	};
	struct mapping m = way_to(own_path());
	struct table_builder *w = NULL;
	struct table_job *job;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(table_builder_new(io, NULL, cases[i].program, &w), 0);
		for (uint32_t k = 0; k < 3; k++) {
			assert_int_equal(table_builder_put(w, k, &m), 0);
			job = next(w);
			assert_int_equal(job->err, -ECHILD);
			assert_null(job->table);
			assert_non_null(strstr(job->death, cases[i].want));
			tablejob_free(job);
		}
		assert_true(table_builder_free(w));
	}
}

/* Owned by another user, as far as root can bring that about, or open to all. */
static int strangers_copy(char path[], mode_t mode)
{
	char command[4200];
	int fd;

	snprintf(path, 64, "/tmp/ebprec-facts-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	snprintf(command, sizeof(command), "cat %s >%s", own_path(), path);
	assert_int_equal(system(command), 0);
	assert_int_equal(chmod(path, mode), 0);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	unlink(path);
	return fd;
}

static void facts_of_a_process_are_those_of_the_recorder(void **state)
{
	struct elf_facts here, there;
	struct elf_reader *w = NULL;
	char path[64];
	int fd;

	assert_int_equal(elf_reader_new(own_path(), ELF_READER_FACTS_OPTION, &w), 0);
	fd = strangers_copy(path, 0666);
	elf_facts_read(fd, &here);
	assert_true(here.build_id.size_bytes > 0);
	assert_true(here.segment_count > 0);
	for (int i = 0; i < 3; i++) {
		memset(&there, 0xa5, sizeof(there));
		assert_int_equal(elf_reader_facts_safely(w, fd, &there), 0);
		assert_memory_equal(&here, &there, sizeof(here));
	}
	assert_true(elf_reader_cpu_ns(w) > 0); /* it was that process */
	close(fd);
	fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
	assert_int_equal(elf_reader_facts(w, fd, &there), 0);
	assert_int_equal(there.build_id.size_bytes + there.segment_count + there.site_count, 0);
	close(fd);
	elf_reader_free(w);
}

static void a_file_of_the_user_needs_no_process(void **state)
{
	struct elf_facts facts;
	struct elf_reader *w = NULL;
	char path[64];
	int fd = strangers_copy(path, 0700);

	assert_int_equal(elf_reader_new("/nowhere", ELF_READER_FACTS_OPTION, &w), 0);
	assert_int_equal(elf_reader_facts_safely(w, fd, &facts), 0);
	assert_true(facts.build_id.size_bytes > 0);
	close(fd);
	elf_reader_free(w);
}

static void a_process_that_is_none_costs_what_is_known_of_the_file(void **state)
{
	static const char *const programs[] = { "/nowhere", "/bin/true", "/bin/cat" };
	struct elf_facts facts;
	struct elf_reader *w = NULL;
	char path[64];
	int fd = strangers_copy(path, 0666);

	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		assert_int_equal(elf_reader_new(programs[i], ELF_READER_FACTS_OPTION, &w), 0);
		memset(&facts, 0xa5, sizeof(facts));
		assert_int_equal(elf_reader_facts_safely(w, fd, &facts), -ECHILD);
		assert_int_equal(facts.build_id.size_bytes + facts.segment_count + facts.site_count,
				 0);
		assert_true(*elf_reader_death(w));
		elf_reader_free(w);
	}
	close(fd);
}

int main(int argc, char **argv)
{
	if (argc == 2 &&
	    (!strcmp(argv[1], ELF_READER_OPTION) || !strcmp(argv[1], ELF_READER_FACTS_OPTION)))
		return elf_reader_serve();

	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_come_back_in_order_with_their_tables),
		cmocka_unit_test(files_without_a_table_have_the_reason),
		cmocka_unit_test(a_table_is_made_once_and_then_cached),
		cmocka_unit_test(jobs_without_a_taker_are_freed),
		cmocka_unit_test(a_process_of_its_own_makes_the_same_table),
		cmocka_unit_test(a_process_that_cannot_be_or_lies_costs_tables),
		cmocka_unit_test(facts_of_a_process_are_those_of_the_recorder),
		cmocka_unit_test(a_file_of_the_user_needs_no_process),
		cmocka_unit_test(a_process_that_is_none_costs_what_is_known_of_the_file),
	};

	int failed;

	if (io_timeout_new(60000000000ULL, &io))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	io_timeout_free(io);
	return failed;
}
