/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* spool, with index, removed and select: folders of generated captures */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "analyze/spool/index.h"
#include "analyze/spool/removed.h"
#include "analyze/spool/select.h"
#include "tests/lib/gen/captures.h"

#define MINUTE_NS 60000000000ULL

static struct maker maker;
static char dir[64];

static int make_dir(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/test_spool.XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	char command[100];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

static const char *in_dir(const char *name)
{
	static char path[300];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void write_file(const char *name, const void *data, size_t size)
{
	FILE *f = fopen(in_dir(name), "w");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
}

/* Samples of a program of that name each second from a minute on. */
static void add_capture(const char *name, const char *comm, unsigned minute, unsigned samples,
			bool finished)
{
	const struct timespec old[2] = { { .tv_sec = 1700000000 + minute * 60 },
					 { .tv_sec = 1700000000 + minute * 60 } };
	uint64_t from_ns = (minute + 1) * MINUTE_NS;
	struct bytes b;

	maker_begin(&maker, false);
	maker_comm(&maker, 7, comm, from_ns);
	for (unsigned i = 0; i < samples; i++)
		maker_sample(&maker, 7, from_ns + i * 1000000000ULL, 0);
	writer_lost(maker.w, EBX_STREAM_CPU, minute);
	assert_int_equal(writer_flush(maker.w, true), 0);
	if (finished)
		assert_int_equal(writer_finish(maker.w, NULL, 0), 0);
	b = maker_bytes(&maker);
	maker_end(&maker);
	write_file(name, b.data, b.size);
	free(b.data);
	assert_int_equal(utimensat(AT_FDCWD, in_dir(name), old, 0), 0);
}

static struct spool *open_spool(enum spool_access access)
{
	struct spool *s = NULL;

	assert_int_equal(spool_open(dir, access, &s), 0);
	return s;
}

static void assert_services(const struct spool *s, size_t at, const char *want, uint64_t samples)
{
	struct service_counts counts = { 0 };
	size_t count;
	const struct spool_capture *c = spool_captures(s, &count);

	assert_true(at < count);
	assert_int_equal(spool_services(s, &c[at], NULL, &counts), 0);
	service_counts_settle(&counts);
	assert_int_equal(counts.count, 1);
	assert_string_equal(counts.list[0].name, want);
	assert_int_equal(counts.list[0].sample_count, samples);
	service_counts_done(&counts);
}

static void assert_two(struct spool *s)
{
	size_t count;
	const struct spool_capture *c = spool_captures(s, &count);

	assert_int_equal(count, 2);
	assert_string_equal(c[0].name, "b.data");
	assert_string_equal(c[1].name, "a.data");
	assert_int_equal(c[0].facts.sample_count, 3);
	assert_int_equal(c[1].facts.sample_count, 5);
	assert_int_equal(c[1].facts.to_ns - c[1].facts.from_ns, 4000000000);
	assert_int_equal(c[0].state, SPOOL_COMPLETE);
	assert_services(s, 0, "two", 3);
	assert_services(s, 1, "one", 5);
	spool_close(s);
}

static void add_two(void)
{
	add_capture("a.data", "one", 9, 5, true);
	add_capture("b.data", "two", 1, 3, true);
}

static void answers_are_the_same_with_and_without_an_index(void **state)
{
	(void)state;
	add_two();
	assert_two(open_spool(SPOOL_READ));
	assert_int_equal(access(in_dir("index.sqlite"), F_OK), -1);
	assert_two(open_spool(SPOOL_WRITE));
	assert_int_equal(access(in_dir("index.sqlite"), F_OK), 0);
	assert_two(open_spool(SPOOL_READ));
	assert_int_equal(unlink(in_dir("index.sqlite")), 0);
	assert_two(open_spool(SPOOL_WRITE));
}

static void damaged_index_is_made_anew(void **state)
{
	char bytes[16384];
	struct spool *s;
	FILE *f;

	(void)state;
	add_two();
	spool_close(open_spool(SPOOL_WRITE));
	f = fopen(in_dir("index.sqlite"), "r");
	assert_int_equal(fread(bytes, 1, sizeof(bytes), f), sizeof(bytes));
	fclose(f);
	/* Each page of it, the header, all, and nothing left of it. */
	for (size_t at = 0; at <= sizeof(bytes); at += 2048) {
		size_t end = at == sizeof(bytes) ? 100 : at + 2048;
		char bad[sizeof(bytes)];

		memcpy(bad, bytes, sizeof(bad));
		memset(bad + at % sizeof(bytes), 0xa5, end - at % sizeof(bytes));
		write_file("index.sqlite", bad, at == sizeof(bytes) ? 100 : sizeof(bad));
		assert_two(open_spool(SPOOL_READ));
		assert_two(open_spool(SPOOL_WRITE));
		s = open_spool(SPOOL_CHECK);
		assert_false(spool_get_check(s)->index_was_damaged);
		assert_int_equal(spool_get_check(s)->wrong_rows, 0);
		assert_two(s);
	}
}

static void wrong_rows_are_found_by_check_and_corrected(void **state)
{
	struct spool_capture row;
	struct service_counts none = { 0 };
	struct index *x;
	bool damaged;
	size_t count;
	int64_t number;
	struct spool *s;

	(void)state;
	add_two();
	s = open_spool(SPOOL_WRITE);
	row = spool_captures(s, &count)[0];
	row.name = "b.data";
	row.facts.sample_count = 99;
	spool_close(s);
	assert_int_equal(index_open(in_dir("index.sqlite"), true, &x, &damaged), 0);
	assert_int_equal(index_put(x, &row, &none, &number), 0);
	index_close(x);
	s = open_spool(SPOOL_CHECK);
	assert_int_equal(spool_get_check(s)->wrong_rows, 1);
	assert_int_equal(spool_get_check(s)->missing_rows, 0);
	assert_two(s);
	s = open_spool(SPOOL_CHECK);
	assert_int_equal(spool_get_check(s)->wrong_rows, 0);
	spool_close(s);
}

static void capture_removed_by_others_is_noted_once(void **state)
{
	const struct spool_removed *gone;
	struct spool *s;
	size_t count;

	(void)state;
	add_two();
	spool_close(open_spool(SPOOL_WRITE));
	assert_int_equal(unlink(in_dir("a.data")), 0);
	for (int i = 0; i < 2; i++) {
		s = open_spool(SPOOL_CHECK);
		assert_int_equal(spool_get_check(s)->gone_captures, i ? 0 : 1);
		gone = spool_removals(s, &count);
		assert_int_equal(count, 1);
		assert_string_equal(gone[0].name, "a.data");
		assert_string_equal(gone[0].why, "missing");
		assert_int_equal(gone[0].sample_count, 5);
		assert_int_equal(gone[0].lost_count, 9);
		spool_close(s);
	}
	/* When it is back, it is not gone. */
	add_capture("a.data", "one", 9, 5, true);
	s = open_spool(SPOOL_WRITE);
	(void)spool_removals(s, &count);
	assert_int_equal(count, 0);
	spool_close(s);
}

static void oldest_are_removed_until_each_limit_holds(void **state)
{
	struct spool_limits limits = { .now_ns = 60 * MINUTE_NS };
	const struct spool_removed *gone;
	const struct spool_capture *left;
	size_t count;
	struct spool *s;

	(void)state;
	for (unsigned i = 0; i < 5; i++) {
		char name[] = "0.data";

		name[0] = (char)('0' + i);
		add_capture(name, "one", i * 10, 3, i != 2);
	}
	s = open_spool(SPOOL_WRITE);
	assert_int_equal(spool_prune(s, &limits, &count), 0);
	assert_int_equal(count, 0);
	for (size_t i = 0; i < 5; i++)
		limits.size_bytes += spool_captures(s, &count)[i].file_bytes;
	limits.size_bytes--;
	assert_int_equal(spool_prune(s, &limits, &count), 0);
	assert_int_equal(count, 1);
	limits.size_bytes = 0;
	limits.age_ns = 35 *
			MINUTE_NS; /* 2.data ended 39 minutes ago, without an end of its recorder */
	assert_int_equal(spool_prune(s, &limits, &count), 0);
	assert_int_equal(count, 2);
	gone = spool_removals(s, &count);
	assert_int_equal(count, 3);
	assert_string_equal(gone[0].why, "size");
	assert_string_equal(gone[1].why, "age");
	assert_string_equal(gone[2].name, "2.data");
	assert_int_equal(gone[2].sample_count, 3);
	limits.age_ns = 0;
	limits.free_bytes = UINT64_MAX / 2; /* more than any disk has */
	assert_int_equal(spool_prune(s, &limits, &count), 0);
	assert_int_equal(count, 2);
	left = spool_captures(s, &count);
	assert_int_equal(count, 0);
	(void)left;
	spool_close(s);
	s = open_spool(SPOOL_CHECK);
	assert_int_equal(spool_get_check(s)->gone_captures, 0);
	gone = spool_removals(s, &count);
	assert_int_equal(count, 5);
	assert_string_equal(gone[4].why, "disk");
	spool_close(s);
}

static void capture_being_recorded_stays_and_is_read_each_time(void **state)
{
	const struct spool_limits limits = { .size_bytes = 1, .now_ns = 1 };
	const struct spool_capture *c;
	struct spool *s;
	size_t count;

	(void)state;
	add_capture("now.data", "one", 1, 3, false);
	assert_int_equal(utimensat(AT_FDCWD, in_dir("now.data"), NULL, 0), 0);
	s = open_spool(SPOOL_WRITE);
	c = spool_captures(s, &count);
	assert_int_equal(count, 1);
	assert_int_equal(c->state, SPOOL_RECORDING);
	assert_int_equal(c->row, 0);
	assert_services(s, 0, "one", 3);
	assert_int_equal(spool_prune(s, &limits, &count), 0);
	assert_int_equal(count, 0);
	spool_close(s);
	add_capture("now.data", "one", 1, 3, false); /* long ago */
	s = open_spool(SPOOL_WRITE);
	assert_int_equal(spool_captures(s, &count)->state, SPOOL_CUT);
	spool_close(s);
}

static void what_is_no_capture_is_passed_over(void **state)
{
	struct spool *s;
	size_t count;

	(void)state;
	add_two();
	write_file("text", "not a capture", 13);
	write_file("empty", "", 0);
	write_file("cut", "PERFILE2", 8);
	assert_int_equal(symlink("a.data", in_dir("link.data")), 0);
	assert_int_equal(mkdir(in_dir("folder"), 0700), 0);
	assert_int_equal(mkfifo(in_dir("pipe"), 0600), 0);
	add_capture("new\nline", "one", 3, 1, true);
	s = open_spool(SPOOL_WRITE);
	(void)spool_captures(s, &count);
	assert_int_equal(count, 3);
	assert_string_equal(spool_captures(s, &count)->name, "cut");
	assert_int_equal(spool_captures(s, &count)->state, SPOOL_UNREADABLE);
	assert_int_equal(spool_strange_names(s), 1);
	spool_close(s);
}

static void writer_that_is_killed_leaves_a_spool_that_the_next_one_completes(void **state)
{
	char name[] = "00.data";
	struct spool *s;
	size_t count;
	pid_t pid;

	(void)state;
	for (unsigned i = 0; i < 20; i++) {
		name[0] = (char)('0' + i / 10);
		name[1] = (char)('0' + i % 10);
		add_capture(name, "one", i, 3, true);
	}
	for (unsigned turn = 0; turn < 10; turn++) {
		const struct timespec wait = { .tv_nsec = turn * 2000000 };

		pid = fork();
		if (!pid) {
			for (;;)
				if (!spool_open(dir, SPOOL_CHECK, &s))
					spool_close(s);
		}
		nanosleep(&wait, NULL);
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
	}
	s = open_spool(SPOOL_WRITE);
	(void)spool_captures(s, &count);
	assert_int_equal(count, 20);
	for (size_t i = 0; i < count; i++)
		if (spool_captures(s, &count)[i].state == SPOOL_COMPLETE)
			assert_services(s, i, "one", 3);
	spool_close(s);
	s = open_spool(SPOOL_CHECK);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(spool_captures(s, &count)[i].state, SPOOL_COMPLETE);
		assert_services(s, i, "one", 3);
	}
	assert_int_equal(spool_get_check(s)->gone_captures, 0);
	spool_close(s);
}

static void capture_whose_reading_was_cut_off_is_read_once_more(void **state)
{
	struct spool_capture row = { .name = "a.data", .state = SPOOL_UNREADABLE };
	struct index *x;
	struct spool *s;
	bool damaged;
	size_t count;

	(void)state;
	add_two();
	for (int turn = 0; turn < 2; turn++) {
		s = open_spool(SPOOL_WRITE);
		row = spool_captures(s, &count)[1];
		spool_close(s);
		row.name = "a.data";
		row.facts = (struct capture_facts){ 0 };
		row.state = SPOOL_UNREADABLE;
		row.error = turn ? -EBADMSG : -EAGAIN;
		assert_int_equal(index_open(in_dir("index.sqlite"), true, &x, &damaged), 0);
		assert_int_equal(index_put(x, &row, NULL, &row.row), 0);
		index_close(x);
		if (!turn) {
			assert_two(open_spool(SPOOL_READ));
			assert_two(open_spool(SPOOL_WRITE));
		}
	}
	s = open_spool(SPOOL_WRITE);
	assert_int_equal(spool_captures(s, &count)[0].state, SPOOL_UNREADABLE);
	spool_close(s);
	assert_two(open_spool(SPOOL_CHECK));
}

static void two_writers_exclude_each_other(void **state)
{
	struct spool *first, *second = NULL;

	(void)state;
	add_two();
	first = open_spool(SPOOL_WRITE);
	assert_int_equal(spool_open(dir, SPOOL_WRITE, &second), -EBUSY);
	assert_int_equal(spool_open(dir, SPOOL_READ, &second), 0);
	spool_close(second);
	spool_close(first);
}

static void torn_and_foreign_lines_of_removals_are_passed_over(void **state)
{
	const char text[] = "1\t2\t3\t4\t5\tage\tx.data\t.\n"
			    "nonsense\n\t\t\t\n1\t2\t3\t4\tx\tage\ty\t.\n"
			    "1\t2\t3\t4\t99999999999999999999999\tage\ty\t.\n"
			    "7\t8\t9\t10\t11\tsi";
	struct spool_removed more = { .from_ns = 20, .why = "size", .name = (char[]){ "z" } };
	struct removed_list l;

	(void)state;
	write_file("removed", text, strlen(text));
	assert_int_equal(removed_read(in_dir("removed"), &l), 0);
	assert_int_equal(l.count, 1);
	assert_int_equal(removed_add(in_dir("removed"), &more, &l), 0);
	removed_done(&l);
	assert_int_equal(removed_read(in_dir("removed"), &l), 0);
	assert_int_equal(l.count, 2);
	assert_string_equal(l.list[0].name, "x.data");
	assert_string_equal(l.list[1].name, "z");
	removed_done(&l);
}

static void many_removals_keep_their_sums_in_a_bounded_file(void **state)
{
	char name[200];
	struct spool_removed e = { .from_ns = 5, .sample_count = 3, .why = "age", .name = name };
	struct removed_list l = { 0 };
	uint64_t samples = 0;
	struct stat st;
	FILE *f;

	(void)state;
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	f = fopen(in_dir("removed"), "w");
	assert_non_null(f);
	for (unsigned i = 0; i < 2990; i++)
		fprintf(f, "5\t%u\t3\t0\t0\tage\t%s\t.\n", i, name);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(removed_read(in_dir("removed"), &l), 0);
	for (unsigned i = 0; i < 10; i++) {
		e.to_ns = 3000 + i;
		assert_int_equal(removed_add(in_dir("removed"), &e, &l), 0);
	}
	removed_done(&l);
	assert_int_equal(stat(in_dir("removed"), &st), 0);
	assert_true(st.st_size <= REMOVED_BYTES_MAX);
	assert_int_equal(removed_read(in_dir("removed"), &l), 0);
	for (size_t i = 0; i < l.count; i++)
		samples += l.list[i].sample_count;
	assert_int_equal(samples, 9000);
	assert_int_equal(l.list[0].from_ns, 5);
	assert_true(l.count < 3000);
	removed_done(&l);
}

static void removal_that_is_written_twice_counts_once(void **state)
{
	static const char text[] = "5\t9\t3\t0\t7\tage\ta.data\t.\n5\t9\t3\t0\t7\tdisk\ta.data\t.\n"
				   "5\t9\t4\t0\t7\tage\ta.data\t.\n";
	struct removed_list l = { 0 };

	(void)state;
	write_file("removed", text, sizeof(text) - 1);
	assert_int_equal(removed_read(in_dir("removed"), &l), 0);
	assert_int_equal(l.count, 2);
	assert_int_equal(l.list[1].sample_count, 4);
	removed_done(&l);
}

static void own_names_of_others_kinds_do_not_stop_the_spool(void **state)
{
	struct spool *s;
	size_t count;

	(void)state;
	add_two();
	(void)alarm(20);
	assert_int_equal(mkfifo(in_dir("index.sqlite"), 0600), 0);
	assert_int_equal(mkfifo(in_dir("removed"), 0600), 0);
	assert_two(open_spool(SPOOL_READ));
	s = open_spool(SPOOL_WRITE);
	assert_int_equal(spool_prune(s, &(struct spool_limits){ .size_bytes = 1 }, &count), 0);
	assert_int_equal(count, 2);
	spool_close(s);
	(void)alarm(0);
	assert_int_equal(unlink(in_dir("index.sqlite")), 0);
	assert_int_equal(mkdir(in_dir("index.sqlite"), 0700), 0);
	add_two();
	assert_two(open_spool(SPOOL_WRITE));
}

static void run_sql(const char *sql)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(in_dir("index.sqlite"), &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void index_with_a_schema_of_others_is_as_none(void **state)
{
	struct spool *s;

	(void)state;
	add_two();
	(void)alarm(20);
	run_sql("PRAGMA user_version = 1; CREATE TABLE services (capture, name, samples);"
		"CREATE VIEW captures AS WITH RECURSIVE c (id) AS "
		"(SELECT 1 UNION ALL SELECT id + 1 FROM c) SELECT id, 'x' AS name, 1 AS bytes, 1 AS mtime_ns, "
		"1 AS inode, 0 AS state, 0 AS error, 0 AS from_ns, 0 AS to_ns, 0 AS clock_ns, 0 AS clock_wall_ns, "
		"0 AS boot_wall_ns, 0 AS samples, 0 AS lost, 0 AS services_known FROM c");
	assert_two(open_spool(SPOOL_READ));
	s = open_spool(SPOOL_CHECK);
	assert_true(spool_get_check(s)->index_was_damaged);
	spool_close(s);
	(void)alarm(0);
}

static void capture_of_the_future_that_is_not_complete_is_cut(void **state)
{
	struct timespec times[2] = { { .tv_sec = time(NULL) + 3600 },
				     { .tv_sec = time(NULL) + 3600 } };
	struct spool *s;
	size_t count;

	(void)state;
	add_capture("a.data", "one", 1, 5, false);
	assert_int_equal(utimensat(AT_FDCWD, in_dir("a.data"), times, 0), 0);
	s = open_spool(SPOOL_READ);
	assert_int_equal(spool_captures(s, &count)[0].state, SPOOL_CUT);
	spool_close(s);
}

/* Threads choose their names. */
static void index_has_no_services_of_a_capture_with_too_many(void **state)
{
	struct service_counts counts = { 0 };
	struct spool *s;
	struct bytes b;
	char comm[16];
	size_t count;

	(void)state;
	maker_begin(&maker, false);
	for (uint32_t i = 0; i < 4097; i++) {
		snprintf(comm, sizeof(comm), "n%u", i);
		maker_comm(&maker, 10 + i, comm, MINUTE_NS);
		maker_sample(&maker, 10 + i, MINUTE_NS + 1000 + i, 0);
	}
	assert_int_equal(writer_flush(maker.w, true), 0);
	assert_int_equal(writer_finish(maker.w, NULL, 0), 0);
	b = maker_bytes(&maker);
	maker_end(&maker);
	write_file("a.data", b.data, b.size);
	free(b.data);
	spool_close(open_spool(SPOOL_WRITE));
	assert_int_equal(access(in_dir("index.sqlite"), F_OK), 0);
	run_sql("CREATE TEMP TABLE none (count CHECK (count = 0));"
		"INSERT INTO none SELECT count(*) FROM services;");
	s = open_spool(SPOOL_CHECK);
	assert_int_equal(spool_get_check(s)->wrong_rows, 0);
	assert_int_equal(spool_services(s, spool_captures(s, &count), NULL, &counts), 0);
	assert_int_equal(counts.count, 4097);
	service_counts_done(&counts);
	spool_close(s);
}

static bool is_two(const void *arg, const char *name)
{
	(void)arg;
	return !strcmp(name, "two");
}

static void selection_has_time_service_and_what_is_missing(void **state)
{
	struct spool_wanted wanted = { .span = { 0, UINT64_MAX } };
	struct spool_selection got;
	struct spool *s;

	(void)state;
	add_two();
	add_capture("c.data", "two", 20, 2, true);
	s = open_spool(SPOOL_WRITE);
	assert_int_equal(spool_select(s, &wanted, &got), 0);
	assert_int_equal(got.count, 3);
	assert_int_equal(got.losses.lost_count, 30);
	assert_int_equal(got.losses.gap_count, 2);
	assert_int_equal(got.losses.gap_ns / 1000000000, 8 * 60 - 2 + 11 * 60 - 4);
	assert_int_equal(got.records.from_ns, 0);
	spool_selection_done(&got);
	wanted.wants_service = is_two;
	assert_int_equal(spool_select(s, &wanted, &got), 0);
	assert_int_equal(got.count, 2);
	assert_int_equal(got.without_service, 1);
	spool_selection_done(&got);
	/* A part of b.data: its times are those of its records. */
	wanted.span.to_ns = spool_captures(s, &(size_t){ 0 })[0].facts.from_ns + 1000000000;
	assert_int_equal(spool_select(s, &wanted, &got), 0);
	assert_int_equal(got.count, 1);
	assert_string_equal(got.list[0]->name, "b.data");
	assert_int_equal(got.records.to_ns, 2 * MINUTE_NS + 1000000000);
	assert_int_equal(got.losses.lost_count, 1);
	spool_selection_done(&got);
	spool_close(s);
}

static void times_are_read_as_people_write_them(void **state)
{
	const uint64_t second = 1000000000, now = 1700000000 * second; /* 2023-11-14T22:13:20 */
	static const struct {
		const char *text;
		uint64_t seconds;
	} good[] = {
		{ "now", 1700000000 },
		{ "2h", 1700000000 - 7200 },
		{ "22:13", 1700000000 - 20 },
		{ "22:13:21", 1700000001 - 86400 },
		{ "2023-11-14", 1699920000 },
		{ "2023-11-14T22:13:20", 1700000000 },
		{ "2023-11-14T22:13", 1699999980 },
		{ "100000d", 0 },
	};
	static const char *const bad[] = {
		"",           "2",    "2x",          "25:00",  "12:61",
		"2023-13-01", "1h x", "2023-11-14T", "nowish", "99999999999999999999h"
	};
	uint64_t got;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_true(spool_read_time(good[i].text, now, &got));
		assert_int_equal(got, good[i].seconds * second);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(spool_read_time(bad[i], now, &got));
}

#define IN_DIR(test) cmocka_unit_test_setup_teardown(test, make_dir, remove_dir)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_DIR(answers_are_the_same_with_and_without_an_index),
		IN_DIR(damaged_index_is_made_anew),
		IN_DIR(wrong_rows_are_found_by_check_and_corrected),
		IN_DIR(capture_removed_by_others_is_noted_once),
		IN_DIR(oldest_are_removed_until_each_limit_holds),
		IN_DIR(capture_being_recorded_stays_and_is_read_each_time),
		IN_DIR(what_is_no_capture_is_passed_over),
		IN_DIR(writer_that_is_killed_leaves_a_spool_that_the_next_one_completes),
		IN_DIR(capture_whose_reading_was_cut_off_is_read_once_more),
		IN_DIR(two_writers_exclude_each_other),
		IN_DIR(torn_and_foreign_lines_of_removals_are_passed_over),
		IN_DIR(many_removals_keep_their_sums_in_a_bounded_file),
		IN_DIR(removal_that_is_written_twice_counts_once),
		IN_DIR(own_names_of_others_kinds_do_not_stop_the_spool),
		IN_DIR(index_with_a_schema_of_others_is_as_none),
		IN_DIR(capture_of_the_future_that_is_not_complete_is_cut),
		IN_DIR(index_has_no_services_of_a_capture_with_too_many),
		IN_DIR(selection_has_time_service_and_what_is_missing),
		cmocka_unit_test(times_are_read_as_people_write_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
