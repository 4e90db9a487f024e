/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyze/input/cmdlines.h"
#include "format/payload/cmdline_record.h"
#include "record/process/cmdline_log.h"
#include "record/events/side_record.h"
#include "tests/lib/gen/captures.h"

static size_t put(uint8_t *to, struct cmdline_record p)
{
	cmdline_record_encode(&p, to);
	memcpy(to + CMDLINE_RECORD_HEAD_BYTES, p.args, p.args_bytes);
	memcpy(to + CMDLINE_RECORD_HEAD_BYTES + p.args_bytes, p.env, p.env_bytes);
	return CMDLINE_RECORD_HEAD_BYTES + p.args_bytes + p.env_bytes;
}

static const struct cmdline_record example = {
	.pid = 7,
	.flags = 5,
	.time_ns = 1ULL << 40,
	.args = "a\0b c",
	.args_bytes = 6,
	.env = "X=1",
	.env_bytes = 4,
};

static void entries_come_back(void **state)
{
	uint8_t bytes[256];
	size_t size = put(bytes, example);
	struct cmdline_record got;
	struct cursor c;

	size += put(bytes + size, (struct cmdline_record){ .pid = 8, .args = "", .env = "" });
	c = cursor_of(bytes, size);
	assert_int_equal(cmdline_record_next(&c, &got), 1);
	assert_int_equal(got.pid, 7);
	assert_int_equal(got.flags, 5);
	assert_int_equal(got.time_ns, 1ULL << 40);
	assert_int_equal(got.args_bytes, 6);
	assert_memory_equal(got.args, "a\0b c", 6);
	assert_memory_equal(got.env, "X=1", 4);
	assert_int_equal(cmdline_record_next(&c, &got), 1);
	assert_int_equal(got.pid, 8);
	assert_int_equal(got.args_bytes + got.env_bytes, 0);
	assert_int_equal(cmdline_record_next(&c, &got), 0);
}

static void what_is_behind_the_texts_is_stepped_over(void **state)
{
	uint8_t bytes[256] = { 0 };
	size_t size = put(bytes, example);
	struct cmdline_record got;
	struct cursor c;

	le32_store(bytes, (uint32_t)size + 8); /* a field of the future */
	size += 8 + put(bytes + size + 8, example);
	c = cursor_of(bytes, size);
	assert_int_equal(cmdline_record_next(&c, &got), 1);
	assert_int_equal(cmdline_record_next(&c, &got), 1);
	assert_int_equal(got.pid, 7);
	assert_int_equal(cmdline_record_next(&c, &got), 0);
}

static void broken_entries_are_refused(void **state)
{
	static const struct {
		size_t off_bytes;
		uint32_t value;
	} changes[] = {
		{ 0, 0 },         { 0, CMDLINE_RECORD_HEAD_BYTES - 1 },
		{ 0, 1000 },      { 0, UINT32_MAX },
		{ 20, 11 },       { 20, UINT32_MAX },
		{ 24, 5 },        { 24, UINT32_MAX },
		{ 20, 1u << 31 },
	};
	uint8_t bytes[256];
	size_t size = put(bytes, example);
	struct cmdline_record got = { .pid = 99 };
	struct cursor c;

	for (size_t cut = 1; cut < size; cut++) {
		c = cursor_of(bytes, cut);
		assert_int_equal(cmdline_record_next(&c, &got), -EBADMSG);
	}
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		put(bytes, example);
		le32_store(bytes + changes[i].off_bytes, changes[i].value);
		c = cursor_of(bytes, size);
		assert_int_equal(cmdline_record_next(&c, &got), -EBADMSG);
	}
	assert_int_equal(got.pid, 99);
}

static void lines_are_as_a_shell_would_take_them(void **state)
{
	static const struct {
		const char *args;
		uint32_t bytes, flags;
		const char *want;
	} cases[] = {
		{ "ls\0-l", 6, 0, "ls -l" },
		{ "ls\0-l", 5, 0, "ls -l" }, /* cut before its NUL */
		{ "a b\0\0'\0\xc3\xa9\0$", 12, 0, "'a b' '' ''\\''' \xc3\xa9 '$'" },
		{ "long", 4, CMDLINE_RECORD_ARGS_CUT, "long..." },
		{ "", 0, 0, "" },
	};
	char *line;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cmdline_record p = { .args = cases[i].args,
					    .args_bytes = cases[i].bytes,
					    .flags = cases[i].flags };

		line = cmdlines_line(&p);
		assert_string_equal(line, cases[i].want);
		free(line);
	}
}

/* ---- a window ---- */

static struct cmdline_log keep;

static void record(uint32_t type, uint32_t pid, uint32_t ppid, uint64_t time_ns)
{
	struct side_record r = { .id = 1, .time_ns = time_ns };
	struct perf_event_header *h = (void *)r.bytes;

	side_record_fork(&r, pid, pid, ppid, ppid, time_ns);
	h->type = type;
	h->misc = 0;
	assert_int_equal(cmdline_log_record(&keep, h, time_ns, false), 0);
}

static void exec(uint32_t pid, uint64_t time_ns, const char *args)
{
	struct cmdline_record p = { .pid = pid,
				    .time_ns = time_ns,
				    .args = args,
				    .args_bytes = (uint32_t)strlen(args) + 1 };

	assert_int_equal(cmdline_log_add(&keep, &p), 0);
}

/* The records that the backlog would write: "pid:time:args ..." */
static void wrote(const char *want)
{
	struct maker maker;
	struct bytes bytes;
	struct capture *c;
	struct cmdlines list;
	char got[512] = "";
	size_t used = 0;

	maker_begin(&maker, false);
	assert_int_equal(cmdline_log_copy(&keep, maker.w), 0);
	assert_int_equal(writer_finish(maker.w, NULL, 0), 0);
	bytes = maker_bytes(&maker);
	assert_int_equal(capture_from_bytes(bytes.data, bytes.size, &c, NULL), 0);
	assert_int_equal(cmdlines_load(c, &list), 0);
	for (size_t i = 0; i < list.count; i++)
		used += (size_t)snprintf(got + used, sizeof(got) - used, "%u:%u:%s ",
					 list.list[i].pid, (unsigned)list.list[i].time_ns,
					 list.list[i].args);
	assert_string_equal(got, want);
	cmdlines_done(&list);
	capture_close(c);
	free(bytes.data);
	maker_end(&maker);
}

static void a_backlog_keeps_processes_that_may_be_in_it(void **state)
{
	keep = (struct cmdline_log){ .wanted = true, .in_window = true };
	exec(1, 0, "init");
	exec(2, 0, "sh");
	record(PERF_RECORD_FORK, 3, 2, 10);
	exec(3, 11, "make");
	record(PERF_RECORD_EXIT, 3, 2, 20);
	record(PERF_RECORD_FORK, 4, 2, 30); /* called as its parent is */
	record(PERF_RECORD_EXIT, 2, 1, 40);
	wrote("1:0:init 2:0:sh 3:10:sh 3:11:make 4:30:sh ");
	cmdline_log_drop(&keep, 21);
	wrote("1:0:init 2:0:sh 4:30:sh ");
	cmdline_log_drop(&keep, 50);
	wrote("1:0:init 4:30:sh ");
	cmdline_log_done(&keep);
}

/* Execs come through another ring than forks and ends. */
static void late_command_lines_are_put_in_their_place(void **state)
{
	keep = (struct cmdline_log){ .wanted = true, .in_window = true };
	exec(2, 0, "sh");
	exec(3, 11, "true"); /* before its fork */
	record(PERF_RECORD_FORK, 3, 2, 10);
	record(PERF_RECORD_EXIT, 3, 2, 12);
	record(PERF_RECORD_FORK, 4, 2, 20);
	record(PERF_RECORD_EXIT, 4, 2, 22);
	exec(4, 21, "late"); /* behind its end */
	wrote("2:0:sh 3:10:sh 3:11:true 4:20:sh 4:21:late ");
	cmdline_log_drop(&keep, 15);
	wrote("2:0:sh 4:20:sh 4:21:late ");
	cmdline_log_drop(&keep, 30);
	wrote("2:0:sh ");
	assert_int_equal(keep.count, 1);
	cmdline_log_done(&keep);
}

/* Looking through all for each would take minutes. */
static void a_window_may_have_many_processes_in_it(void **state)
{
	const uint32_t count = 200000;

	keep = (struct cmdline_log){ .wanted = true, .in_window = true };
	for (uint32_t i = 0; i < count; i++) {
		uint32_t pid = 2 + i % 30000; /* numbers are used again */

		exec(pid, 10ULL * i + 10, "true");
		record(PERF_RECORD_EXIT, pid, 1, 10ULL * i + 15);
		if (i % 1000 == 999)
			cmdline_log_drop(&keep, i > 100000 ? 10ULL * (i - 100000) : 0);
	}
	assert_in_range(keep.count, 200000, 300000);
	cmdline_log_drop(&keep, 10ULL * (count - 2));
	wrote("19999:1999980:true 20000:1999990:true 20001:2000000:true ");
	cmdline_log_drop(&keep, UINT64_MAX);
	assert_int_equal(keep.count, 0);
	cmdline_log_done(&keep);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_come_back),
		cmocka_unit_test(what_is_behind_the_texts_is_stepped_over),
		cmocka_unit_test(broken_entries_are_refused),
		cmocka_unit_test(lines_are_as_a_shell_would_take_them),
		cmocka_unit_test(a_backlog_keeps_processes_that_may_be_in_it),
		cmocka_unit_test(late_command_lines_are_put_in_their_place),
		cmocka_unit_test(a_window_may_have_many_processes_in_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
