/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* jitfiles: the maps of JIT compilers, also when the mounts that they are on go with their process */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "format/writer/writer.h"
#include "record/process/jit_symbols.h"
#include "tests/unit/stays.h"

#define LONG_NS 60000000000ULL
#define TEXT    "1000 10 made\n"

static char dir[64];
static struct writer *writer;
static struct io_timeout *io;

static int setup(void **state)
{
	static const uint64_t id = 1;
	struct writer_attr attr = { .ids = &id, .id_count = 1 };
	char tmp[96];

	attr.attr.sample_type = PERF_SAMPLE_IDENTIFIER;
	attr.attr.sample_id_all = 1;
	snprintf(dir, sizeof(dir), "/tmp/ebprec-jitfiles-XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(tmp, sizeof(tmp), "%s/tmp", dir);
	assert_int_equal(mkdir(tmp, 0777), 0);
	assert_int_equal(io_timeout_new(LONG_NS, &io), 0);
	return writer_new(-1, &(struct writer_opts){ .attrs = &attr, .attr_count = 1, .level = 1 },
			  &writer);
}

static int teardown(void **state)
{
	char command[96];

	io_timeout_free(io);
	writer_free(writer);
	snprintf(command, sizeof(command), "rm -rf --one-file-system %s", dir);
	return system(command);
}

/* link: not "": where the file is, and the map a link to it. */
static bool write_map(const char *link)
{
	char path[48];
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	f = fopen(*link ? link : path, "we");
	if (!f)
		return false;
	fputs(TEXT, f);
	return !fclose(f) && (!*link || !symlink(link, path));
}

/* A /tmp of its own, in a mount namespace that ends with the process. */
static bool go_apart(void)
{
	char tmp[96];

	snprintf(tmp, sizeof(tmp), "%s/tmp", dir);
	return !unshare(CLONE_NEWNS) && !mount(NULL, "/", "none", MS_REC | MS_PRIVATE, NULL) &&
	       !mount("none", tmp, "tmpfs", 0, NULL);
}

enum where { IN_TMP, IN_APART_TMP, LINKED_TMP, LINKED_MAP, OLDER_MAP, OLDER_DUMP };

/* As if it had last been written a second before the process began, by an earlier one of this pid. */
static bool make_older(const char *path)
{
	struct timespec times[2];

	clock_gettime(CLOCK_REALTIME, &times[0]);
	times[0].tv_sec--;
	times[1] = times[0];
	return !utimensat(AT_FDCWD, path, times, 0);
}

static bool write_older(enum where where)
{
	char path[48];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	return write_map("") &&
	       (where == OLDER_MAP ? make_older(path)
				   : !rename(path, "/jit-1.dump") && make_older("/jit-1.dump"));
}

static bool settle(int where)
{
	char var[96], tmp[96];

	snprintf(tmp, sizeof(tmp), "%s/tmp", dir);
	snprintf(var, sizeof(var), "%s/elsewhere", dir);
	if (where == IN_APART_TMP && !go_apart())
		return false;
	/* Where it leads to from the process's root; from ours it leads nowhere. */
	if (where == LINKED_TMP && (rmdir(tmp) || mkdir(var, 0777) || symlink("/elsewhere", tmp)))
		return false;
	if (chroot(dir) || chdir("/"))
		return false;
	if (where == OLDER_MAP || where == OLDER_DUMP)
		return write_older(where);
	return write_map(where == LINKED_MAP ? "/real" : "");
}

/* Its map is taken when it is gone: so many are, and none of its bytes where its share has been used up. */
static void check_share(enum where where, uint64_t want, bool is_used)
{
	struct {
		struct perf_event_header head;
		uint32_t pid, parent, tid, parent_tid;
	} gone = { .head.size = sizeof(gone) };
	pid_t pid = stays_in(settle, where);
	struct mapping m = { .pid = (uint32_t)pid,
			     .path = where == OLDER_DUMP ? "/jit-1.dump" : "//anon",
			     .prot = PROT_EXEC };
	struct jit_symbols j = { .writer = writer, .io = io };

	if (!pid)
		skip();
	jit_symbols_map(&j, &m);
	assert_int_equal(j.count, 1);
	stays_end(pid);
	if (is_used) /* of root */
		assert_int_equal(fair_share_take(&j.taken, JIT_SYMBOLS_ALL_BYTES, m.pid, 0,
						 JIT_SYMBOLS_ALL_BYTES / 2),
				 0);
	gone.pid = gone.tid = m.pid;
	assert_int_equal(jit_symbols_exit(&j, &gone.head), 0);
	assert_int_equal(j.count, 0);
	io_timeout_finish(io, LONG_NS);
	assert_int_equal(j.late_err, 0);
	assert_int_equal(j.counts.file_count, want);
	assert_int_equal(j.counts.missing_count, !want);
	assert_int_equal(j.counts.older_count, where == OLDER_MAP || where == OLDER_DUMP);
	assert_int_equal(j.counts.bytes, is_used ? 0 : want * strlen(TEXT));
	assert_int_equal(j.counts.cut_count, is_used);
	jit_symbols_done(&j);
}

static void check(enum where where, uint64_t want)
{
	check_share(where, want, false);
}

static void a_map_is_found_below_its_root(void **state)
{
	check(IN_TMP, 1);
}

static void a_map_outlives_its_mount_namespace(void **state)
{
	check(IN_APART_TMP, 1);
}

static void its_folder_may_be_a_link(void **state)
{
	check(LINKED_TMP, 1);
}

static void the_map_itself_may_not(void **state)
{
	check(LINKED_MAP, 0);
}

static void a_map_of_an_earlier_process_is_not_taken(void **state)
{
	check(OLDER_MAP, 0);
}

static void a_jitdump_of_an_earlier_process_is_not_taken(void **state)
{
	check(OLDER_DUMP, 0);
}

static void put_map(const char *path, const char *mode, const char *text)
{
	FILE *f = fopen(path, mode);

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

/*
 * A map that was there before its process, and what is written later, mode: how, before the recorder sees it or behind
 * that: so many bytes of it are taken.
 */
static void check_written(const char *older, const char *mode, bool before, const char *later,
			  size_t want, bool has_older)
{
	struct {
		struct perf_event_header head;
		uint32_t pid, parent, tid, parent_tid;
	} gone = { .head.size = sizeof(gone) };
	pid_t pid = stays_in(settle, OLDER_MAP);
	struct mapping m = { .pid = (uint32_t)pid, .path = "//anon", .prot = PROT_EXEC };
	struct jit_symbols j = { .writer = writer, .io = io };
	char path[128];

	if (!pid)
		skip();
	snprintf(path, sizeof(path), "%s/tmp/perf-%d.map", dir, (int)pid);
	put_map(path, "we", older);
	assert_true(make_older(path));
	if (before)
		put_map(path, mode, later);
	jit_symbols_map(&j, &m);
	while (j.list[0].look) {
		io_timeout_wait(io, 10000000);
		io_timeout_pass(io);
	}
	if (!before)
		put_map(path, mode, later);
	stays_end(pid);
	gone.pid = gone.tid = m.pid;
	assert_int_equal(jit_symbols_exit(&j, &gone.head), 0);
	io_timeout_finish(io, LONG_NS);
	assert_int_equal(j.late_err, 0);
	assert_int_equal(j.counts.file_count, 1);
	assert_int_equal(j.counts.older_count, has_older);
	assert_int_equal(j.counts.bytes, want);
	jit_symbols_done(&j);
	unlink(path);
}

static void lines_of_an_earlier_process_in_a_map_are_not_taken(void **state)
{
	const char *later = "2000 10 fresh\n";

	check_written(TEXT, "ae", false, later, strlen(later), true);
	check_written(TEXT TEXT TEXT TEXT, "ae", false, later, strlen(later), true);
	/* The rest of its last line could be a line with another address. */
	check_written(TEXT "1000 10", "ae", false, "00 20 made\n2000 10 fresh\n", strlen(later),
		      true);
	check_written(TEXT "1000 10", "ae", false, "00 20 made", 0, true);
	check_written("", "ae", false, later, strlen(later), false);
}

static void a_map_that_a_process_writes_anew_is_taken_entirely(void **state)
{
	const char *later = "2000 10 first\n2010 10 second\n2020 10 third\n";

	check_written(TEXT, "we", false, later, strlen(later), false);
	check_written(TEXT TEXT TEXT TEXT, "we", false, later, strlen(later), false);
}

/* Nothing distinguishes these lines: perf_map has the later ones for an address. */
static void lines_of_both_are_taken_where_the_process_wrote_before_it_was_seen(void **state)
{
	const char *later = "2000 10 fresh\n";

	check_written(TEXT, "ae", true, later, strlen(TEXT) + strlen(later), false);
	check_written(TEXT, "we", true, later, strlen(later), false);
}

static void a_map_beyond_the_share_of_its_process_is_cut(void **state)
{
	check_share(IN_TMP, 1, true);
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_map_is_found_below_its_root),
		CASE(a_map_outlives_its_mount_namespace),
		CASE(its_folder_may_be_a_link),
		CASE(the_map_itself_may_not),
		CASE(a_map_of_an_earlier_process_is_not_taken),
		CASE(a_jitdump_of_an_earlier_process_is_not_taken),
		CASE(lines_of_an_earlier_process_in_a_map_are_not_taken),
		CASE(lines_of_both_are_taken_where_the_process_wrote_before_it_was_seen),
		CASE(a_map_that_a_process_writes_anew_is_taken_entirely),
		CASE(a_map_beyond_the_share_of_its_process_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
