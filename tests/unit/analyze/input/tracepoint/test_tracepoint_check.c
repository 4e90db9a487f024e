/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* tpcheck: the kernel's formats pass, and nothing that libtraceevent would believe wrongly */
#include "analyze/input/tracepoint/tracepoint_check.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/base/cursor.h"
#include "format/perf/trace_data.h"

#define HEAD                                                                           \
	"name: some_event\nID: 372\nformat:\n"                                         \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"         \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"         \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define FIELDS                                                                \
	"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"            \
	"\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"                \
	"\tfield:__data_loc char[] text;\toffset:28;\tsize:4;\tsigned:0;\n"   \
	"\tfield:__data_loc u8[] data;\toffset:32;\tsize:4;\tsigned:0;\n"     \
	"\tfield:const struct iovec * vec;\toffset:40;\tsize:8;\tsigned:0;\n" \
	"\tfield:u32 four[4];\toffset:48;\tsize:16;\tsigned:0;\n"

static int check(const char *text, struct tracepoint_check *out)
{
	size_t bytes = strlen(text);
	char *copy = malloc(bytes ? bytes : 1); /* of its exact size */
	int err;

	assert_non_null(copy);
	memcpy(copy, text, bytes);
	err = tracepoint_check_format(copy, bytes, out);
	free(copy); /* names are not looked at below */
	return err;
}

static void print_formats_of_the_kernel_pass(void **state)
{
	static const char *const fine[] = {
		"\"\"",
		"\"comm=%s pid=%d\", REC->comm, REC->pid",
		"\"a\" \"b %-16.16s\", __get_str(text)",
		"\"%.*s 0%o %#lx %p %ps %%\", REC->pid, __get_str(text), REC->pid, REC->pid, REC->vec, (void *)REC->pid",
		"\"%s\", REC->pid & (((0x0000 | 0x01) + 1) << 1) ? \"+\" : \"\"",
		"\"%d\", ((unsigned int) ((REC->pid) >> 20)), REC->four[3]",
		"\"%s\", (REC->pid & 1UL) ? __print_flags(REC->pid & 1UL, \"|\", { 0x01, \"S\" }, {(1 << 2), \"D\"}) : \"R\"",
		"\"%s\", __print_symbolic(REC->pid, { 0, \"a\" }, { TCP_CLOSE, \"b\" \"c\" }, { -1, ((void *)0) })",
		"\"%d %d\", !!REC->pid, REC->pid / 1000 % 0x10",
	};
	struct tracepoint_check c;
	char text[4096];

	for (size_t i = 0; i < sizeof(fine) / sizeof(fine[0]); i++) {
		snprintf(text, sizeof(text), HEAD FIELDS "\nprint fmt: %s\n", fine[i]);
		print_message("%s\n", fine[i]);
		assert_int_equal(check(text, &c), 0);
		assert_true(c.print_fmt);
		assert_int_equal(c.id, 372);
		assert_int_equal(c.end_bytes, 64);
		assert_int_equal(c.field_count, 10);
	}
}

static void what_cannot_be_bounded_is_shown_by_its_fields(void **state)
{
	static const char *const malformed[] = {
		"",
		"\"%d\", 1 / 0",
		"\"%d\", 1 % REC->pid",
		"\"%d\", 7 / 0x0",
		"\"%s\", __get_str(nothing)",
		"\"%s\", __get_str(comm)",
		"\"%s\", __get_str(data)",
		"\"%d\", REC->nothing",
		"\"%d\", REC->four[4]",
		"\"%d\", REC->pid[0]",
		"\"%d\", REC->four[REC->pid]",
		"\"%*d\", REC->pid, REC->pid",
		"\"%99999d\", REC->pid",
		"\"%n\", REC->pid",
		"\"%pI4\", REC->pid",
		"\"%s\", __print_hex(__get_dynamic_array(data), REC->pid)",
		"\"%s\", __print_array(__get_dynamic_array(data), 4, 8)",
		"\"%s\", __print_symbolic(REC->pid, { 1, })",
		"\"%s\", __print_symbolic(REC->pid, { 1, \"a\" }",
		"\"%s\", __print_flags(REC->pid, { 1, \"a\" })",
		"\"%d\", jiffies_to_msecs(REC->pid)",
		"\"%d\", (REC->pid",
		"\"%d\", REC->pid &",
		"\"%d\", REC->pid ? 1",
		"\"%d\", bare",
		"\"%d\" REC->pid",
		"\"%d, REC->pid",
		"\"%d\", ({ 1; })",
		"\"%",
		"\"\\",
	};
	struct tracepoint_check c;
	char text[4096];

	for (size_t i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++) {
		snprintf(text, sizeof(text), HEAD FIELDS "\nprint fmt: %s", malformed[i]);
		print_message("%s\n", malformed[i]);
		assert_int_equal(check(text, &c), 0);
		assert_false(c.print_fmt);
		assert_int_equal(c.fields_bytes, strlen(HEAD FIELDS));
	}
}

static void nesting_has_an_end(void **state)
{
	struct tracepoint_check c;
	char *text = malloc(200000), *at = text;

	assert_non_null(text);
	at += sprintf(at, "%s", HEAD FIELDS "\nprint fmt: \"%d\", ");
	at = (char *)memset(at, '(', 100000) + 100000;
	*at = '\0';
	assert_int_equal(check(text, &c), 0);
	assert_false(c.print_fmt);
	free(text);
}

static void fields_of_another_form_are_refused(void **state)
{
	static const char *const bad[] = {
		"\tfield:char comm[16D;\toffset:8;\tsize:16;\tsigned:0;\n", /* crashed libtraceevent */
		"\tfield:char comm[16;\toffset:8;\tsize:16;\tsigned:0;\n",
		"\tfield:char comm[4][4];\toffset:8;\tsize:16;\tsigned:0;\n",
		"\tfield:char;\toffset:8;\tsize:16;\tsigned:0;\n",
		"\tfield:;\toffset:8;\tsize:16;\tsigned:0;\n",
		"\tfield:int x;\toffset:70000;\tsize:4;\tsigned:0;\n",
		"\tfield:int x;\toffset:-8;\tsize:4;\tsigned:0;\n",
		"\tfield:int x;\toffset:8;\tsize:99999999999999999999;\tsigned:0;\n",
		"\tfield:int x;\toffset:8;\tsize:4;\tsigned:2;\n",
		"\tfield:int x;\toffset:8;\tsize:4;\n",
		"\tfield:int x offset:8;\tsize:4;\tsigned:0;\n",
		"\tfield:__data_loc char[] x;\toffset:8;\tsize:8;\tsigned:0;\n",
		"\tfield:__data_loc char x;\toffset:8;\tsize:4;\tsigned:0;\n",
		"\tfield:__rel_loc char[] x;\toffset:8;\tsize:4;\tsigned:0;\n",
	};
	struct tracepoint_check c;
	char text[4096];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(text, sizeof(text), HEAD "%s\nprint fmt: \"\"\n", bad[i]);
		print_message("%s", bad[i]);
		assert_int_equal(check(text, &c), -ENOTSUP);
	}
	assert_int_equal(check("", &c), -EBADMSG);
	assert_int_equal(check("name: x\nID: 65536\nformat:\n", &c), -EBADMSG);
	assert_int_equal(check("name: x\nID: 7\nformat:\n\nprint fmt: \"\"\n", &c), -EBADMSG);
	assert_int_equal(
		check("name: x\nID: 7\nformat:\n"
		      "\tfield:unsigned short common_type;\toffset:8;\tsize:2;\tsigned:0;\n",
		      &c),
		-EBADMSG);
}

/* But for those that end behind a complete expression. */
static void every_cut_is_noticed(void **state)
{
	static const char complete[] = HEAD FIELDS "\nprint fmt: \"%s %d\", REC->comm, (REC->pid)";
	struct tracepoint_check c;
	char text[sizeof(complete)];

	for (size_t i = 0; i < sizeof(complete) - 1; i++) {
		memcpy(text, complete, i);
		text[i] = '\0';
		if (!check(text, &c) && c.print_fmt)
			assert_true(text[i - 1] == '"' || !strcmp(text + i - 9, "REC->comm"));
	}
}

static void our_own_formats_pass(void **state)
{
	const char *const ours[] = { trace_data_mark_format(), trace_data_waker_format(),
				     trace_data_exit_format() };
	struct tracepoint_check c;

	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
		assert_int_equal(check(ours[i], &c), 0);
		assert_true(c.print_fmt);
	}
}

static void an_event_holds_what_it_points_to(void **state)
{
	static const struct {
		uint32_t where, size;
		bool fine;
	} texts[] = { { 64, 4, true },  { 64, 0, false },     { 64, 3, false },
		      { 65, 4, false }, { 0xffff, 1, false }, { 0, 0xffff, false },
		      { 67, 1, true } };
	static const char format[] = HEAD FIELDS;
	uint8_t raw[68] = { 0 };
	struct tracepoint_check c;

	assert_int_equal(tracepoint_check_format(format, sizeof(format) - 1, &c), 0);
	le16_store(raw, 372);
	memcpy(raw + 64, "abc", 4);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		print_message("%u bytes at %u\n", texts[i].size, texts[i].where);
		le32_store(raw + 28, texts[i].size << 16 | texts[i].where);
		assert_int_equal(tracepoint_check_event(&c, raw, sizeof(raw)), texts[i].fine);
	}
	assert_false(tracepoint_check_event(&c, raw, 63));
	assert_false(tracepoint_check_event(&c, raw, 0));
	le32_store(raw + 32, 1u << 16 | 68); /* other data need no end */
	assert_false(tracepoint_check_event(&c, raw, sizeof(raw)));
	le32_store(raw + 32, 3u << 16 | 64);
	assert_true(tracepoint_check_event(&c, raw, sizeof(raw)));
	le16_store(raw, 373); /* another event's */
	assert_false(tracepoint_check_event(&c, raw, sizeof(raw)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(print_formats_of_the_kernel_pass),
		cmocka_unit_test(what_cannot_be_bounded_is_shown_by_its_fields),
		cmocka_unit_test(nesting_has_an_end),
		cmocka_unit_test(fields_of_another_form_are_refused),
		cmocka_unit_test(every_cut_is_noticed),
		cmocka_unit_test(our_own_formats_pass),
		cmocka_unit_test(an_event_holds_what_it_points_to),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
