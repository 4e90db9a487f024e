/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* tracing: the section is what libtraceevent (perf's own reader) takes, marks print as they should */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <traceevent/event-parse.h>

#include <cmocka.h>

#include "format/base/cursor.h"
#include "format/perf/trace_data.h"

static const char switch_format[] =
	"name: sched_switch\n"
	"ID: 372\n"
	"format:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
	"\n"
	"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
	"\n"
	"print fmt: \"prev_comm=%s\", REC->prev_comm\n";

/* Reads a section the way perf's trace-event-read.c does, into what libtraceevent knows. */
static struct tep_handle *read_section(const uint8_t *data, size_t size_bytes)
{
	struct tep_handle *tep = tep_alloc();
	struct cursor c = cursor_of(data, size_bytes);
	uint32_t systems, events;
	uint64_t text_bytes;
	const char *system;

	assert_non_null(tep);
	assert_memory_equal(cursor_bytes(&c, 10), "\x17\x08\x44tracing", 10);
	assert_string_equal(cursor_str(&c), "0.6");
	assert_int_equal(cursor_u8(&c), 0);
	assert_int_equal(cursor_u8(&c), 8);
	tep_set_long_size(tep, 8);
	assert_int_equal(cursor_u32(&c), 4096);
	assert_string_equal(cursor_str(&c), "header_page");
	text_bytes = cursor_u64(&c);
	assert_int_equal(
		tep_parse_header_page(tep, (char *)cursor_bytes(&c, text_bytes), text_bytes, 8), 0);
	assert_string_equal(cursor_str(&c), "header_event");
	cursor_skip(&c, cursor_u64(&c));
	assert_int_equal(cursor_u32(&c), 0);
	for (systems = cursor_u32(&c); systems; systems--) {
		system = cursor_str(&c);
		assert_non_null(system);
		for (events = cursor_u32(&c); events; events--) {
			text_bytes = cursor_u64(&c);
			assert_int_equal(tep_parse_event(tep,
							 (const char *)cursor_bytes(&c, text_bytes),
							 text_bytes, system),
					 0);
		}
	}
	assert_int_equal(cursor_u32(&c), 0);
	assert_int_equal(cursor_u32(&c), 0);
	assert_true(cursor_u64(&c) == 0);
	assert_true(cursor_ok(&c));
	assert_int_equal(cursor_left(&c), 0);
	return tep;
}

static struct tep_handle *build_and_read(void)
{
	const struct trace_data_event events[] = {
		{ "ebprec", trace_data_mark_format() },
		{ "sched", switch_format },
		{ "ebprec", trace_data_waker_format() }, /* not beside its sister */
	};
	struct tep_handle *tep;
	size_t size_bytes;
	uint8_t *data;

	assert_int_equal(trace_data_build(events, 3, NULL, &data, &size_bytes), 0);
	tep = read_section(data, size_bytes);
	free(data);
	return tep;
}

static void tracing_section_is_read_by_libtraceevent(void **state)
{
	struct tep_handle *tep = build_and_read();
	struct tep_event *e;

	e = tep_find_event_by_name(tep, "ebprec", "mark");
	assert_non_null(e);
	assert_int_equal(e->id, TRACE_DATA_MARK_ID);
	e = tep_find_event_by_name(tep, "ebprec", "waker");
	assert_non_null(e);
	assert_int_equal(e->id, TRACE_DATA_WAKER_ID);
	e = tep_find_event_by_name(tep, "sched", "sched_switch");
	assert_non_null(e);
	assert_int_equal(e->id, 372);
	tep_free(tep);
}

static void tracing_section_of_no_events_is_complete(void **state)
{
	size_t size_bytes;
	uint8_t *data;

	assert_int_equal(trace_data_build(NULL, 0, NULL, &data, &size_bytes), 0);
	tep_free(read_section(data, size_bytes));
	free(data);
}

static void check_printed(uint8_t *raw, size_t raw_bytes, const char *expected)
{
	struct tep_record rec = { .data = raw, .size = (int)raw_bytes };
	struct tep_handle *tep = build_and_read();
	struct trace_seq s;

	trace_seq_init(&s);
	tep_print_event(tep, &s, &rec, "%s", TEP_PRINT_INFO);
	trace_seq_terminate(&s);
	assert_string_equal(s.buffer, expected);
	trace_seq_destroy(&s);
	tep_free(tep);
}

/* The older form. */
static size_t encode(uint8_t *out, size_t out_bytes, uint64_t duration_ns, uint32_t kind,
		     const char *group, const char *name, const char *message)
{
	const struct trace_data_mark m = {
		.duration_ns = duration_ns,
		.id = 0x1122334455667788,
		.kind = kind,
		.group = group,
		.name = name,
		.message = message,
	};

	return trace_data_mark_encode(out, out_bytes, 77, &m);
}

static void tracing_mark_prints_its_strings(void **state)
{
	uint8_t raw[256];
	size_t n;

	n = encode(raw, sizeof(raw), 1234, TRACE_DATA_MARK_SPAN, "gfx", "frame",
		   "hello \"mark\" \xc3\xbcnic\xc3\xb6"
		   "de");
	assert_true(n > 0);
	assert_int_equal((n + 4) % 8, 0);
	assert_int_equal(le16_load(raw), TRACE_DATA_MARK_ID);
	assert_int_equal(le32_load(raw + 4), 77);
	assert_int_equal(le32_load(raw + 16), TRACE_DATA_MARK_SPAN);
	check_printed(raw, n,
		      "gfx/frame span dur=1234 ns: hello \"mark\" \xc3\xbcnic\xc3\xb6"
		      "de");
	n = encode(raw, sizeof(raw), 0, TRACE_DATA_MARK_POINT, "", "", "");
	assert_true(n > 0);
	check_printed(raw, n, "/ dur=0 ns: ");
	n = encode(raw, sizeof(raw), 0, TRACE_DATA_MARK_BEGIN, "g", "n", "m");
	check_printed(raw, n, "g/n begin dur=0 ns: m");
	n = encode(raw, sizeof(raw), 0, TRACE_DATA_MARK_END, "g", "n", "");
	check_printed(raw, n, "g/n end dur=0 ns: ");
}

static void tracing_groups_that_ebprec_fills_are_reserved(void **state)
{
	static const char *const reserved[] = { "log",   "log:", "log:err",
						"log:/", "dbus", "dbus:session" },
				 *const free_ones[] = { "",    "logs",   "lo",
							"Log", ":log",   "program:log:err",
							"dbu", "dbus-x", "shell" };

	for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++)
		assert_true(trace_data_mark_is_reserved(reserved[i]));
	for (size_t i = 0; i < sizeof(free_ones) / sizeof(free_ones[0]); i++)
		assert_false(trace_data_mark_is_reserved(free_ones[i]));
}

static void tracing_mark_comes_back_as_it_went_in(void **state)
{
	struct trace_data_mark m;
	uint8_t raw[256], *cut;
	size_t n = encode(raw, sizeof(raw), 55, TRACE_DATA_MARK_END, "grp", "name", "message"), i;

	assert_int_equal(trace_data_mark_decode(raw, n, &m), 0);
	assert_string_equal(m.group, "grp");
	assert_string_equal(m.name, "name");
	assert_string_equal(m.message, "message");
	assert_int_equal(m.duration_ns, 55);
	assert_int_equal(m.kind, TRACE_DATA_MARK_END);
	assert_int_equal(m.id, 0x1122334455667788);
	/* Cut anywhere, it is refused or complete. */
	for (i = 0; i < n; i++) {
		cut = malloc(i ? i : 1);
		memcpy(cut, raw, i);
		assert_true(trace_data_mark_decode(cut, i, &m) == -EBADMSG || i > n - 8);
		free(cut);
	}
	/* Places outside of the record, or in its head. */
	for (i = 20; i <= 28; i += 4) {
		n = encode(raw, sizeof(raw), 55, 0, "grp", "name", "message");
		le32_store(raw + i, 4 << 16 | 0xfff0);
		assert_int_equal(trace_data_mark_decode(raw, n, &m), -EBADMSG);
		le32_store(raw + i, 4 << 16 | 8);
		assert_int_equal(trace_data_mark_decode(raw, n, &m), -EBADMSG);
	}
	raw[0]++;
	assert_int_equal(trace_data_mark_decode(raw, n, &m), -EBADMSG);
}

static void tracing_exit_comes_back_as_it_went_in(void **state)
{
	const struct trace_data_exit e = {
		.comm = "exactly16letters",
		.pid = 10,
		.tid = 11,
		.ppid = 1,
		.prio = -1,
		.nice = -20,
		.policy = 6,
		.runtime_ns = 1ULL << 40,
		.voluntary = 5,
		.involuntary = 6,
		.code = 139,
	};
	uint8_t raw[TRACE_DATA_EXIT_BYTES];
	struct trace_data_exit out;

	assert_int_equal((TRACE_DATA_EXIT_BYTES + 4) % 8, 0);
	trace_data_exit_encode(raw, &e);
	assert_int_equal(trace_data_exit_decode(raw, sizeof(raw), &out), 0);
	assert_memory_equal(&out, &e, offsetof(struct trace_data_exit, code));
	assert_int_equal(out.code, e.code);
	assert_int_equal(trace_data_exit_decode(raw, sizeof(raw) - 1, &out), -EBADMSG);
	raw[0]++;
	assert_int_equal(trace_data_exit_decode(raw, sizeof(raw), &out), -EBADMSG);
}

static void tracing_mark_of_an_older_recorder_has_no_id(void **state)
{
	static const char old[] = "\xe8\xfd\0\0\x4d\0\0\0"
				  "\7\0\0\0\0\0\0\0"
				  "\0\0\0\0"
				  "\x20\0\2\0"
				  "\x22\0\2\0"
				  "\x24\0\2\0"
				  "g\0n\0m\0\0\0\0\0\0\0";
	struct trace_data_mark m;

	assert_int_equal(trace_data_mark_decode((const uint8_t *)old, sizeof(old) - 1, &m), 0);
	assert_string_equal(m.message, "m");
	assert_int_equal(m.id, 0);
	assert_int_equal(m.duration_ns, 7);
}

static void tracing_mark_needs_its_room(void **state)
{
	uint8_t raw[128];
	size_t n, room;

	n = encode(raw, sizeof(raw), 2, 3, "g", "n", "message");
	assert_true(n > 0);
	for (room = 0; room < n; room++) {
		uint8_t *exact = malloc(room ? room : 1);

		assert_int_equal(encode(exact, room, 2, 3, "g", "n", "message"), 0);
		free(exact);
	}
}

/* The message as it came out: at its place, and as long. */
static size_t message_bytes(const uint8_t *raw, size_t raw_bytes)
{
	uint32_t place = le32_load(raw + 28);

	assert_true((place & 0xffff) + (place >> 16) <= raw_bytes);
	assert_int_equal(raw[(place & 0xffff) + (place >> 16) - 1], 0);
	assert_int_equal(strlen((const char *)raw + (place & 0xffff)), (place >> 16) - 1);
	return (place >> 16) - 1;
}

static void tracing_mark_strings_are_cut_between_characters(void **state)
{
	static const struct {
		const char *tail; /* behind the a's, so that byte 512 falls into it */
		size_t a_count, left_bytes;
	} cases[] = {
		{ "", 512, 512 },
		{ "b", 512, 512 },
		{ "\xc3\xbc", 510, 512 },
		{ "\xc3\xbcx", 511, 511 },
		{ "\xe2\x82\xacx", 509, 512 },
		{ "\xe2\x82\xacx", 510, 510 },
		{ "\xe2\x82\xacx", 511, 511 },
		{ "\xf0\x9f\x99\x82x", 509, 509 },
		{ "\xf0\x9f\x99\x82x", 508, 512 },
		{ "\x80\x80\x80\x80\x80\x80\x80\x80", 509, 512 }, /* not UTF-8 at all */
	};
	char text[600];
	uint8_t raw[2048];
	size_t i, n;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		memset(text, 'a', sizeof(text));
		strcpy(text + cases[i].a_count, cases[i].tail);
		n = encode(raw, sizeof(raw), 2, 3, "g", "n", text);
		assert_true(n > 0);
		if (message_bytes(raw, n) != cases[i].left_bytes)
			fail_msg("case %zu: %zu bytes left, expected %zu", i, message_bytes(raw, n),
				 cases[i].left_bytes);
	}
}

static void tracing_format_id_is_found_or_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"ID:",
		"ID: \n",
		"ID: x\n",
		"ID: 12",
		"ID: 12x\n",
		"ID: 4294967296\n",
		"name: x\nformat:\n",
		"name: ID: 5\n",
		"ID: -1\n",
	};
	uint32_t id = 99;
	size_t i;

	assert_int_equal(trace_data_format_id(switch_format, &id), 0);
	assert_int_equal(id, 372);
	assert_int_equal(trace_data_format_id(trace_data_mark_format(), &id), 0);
	assert_int_equal(id, TRACE_DATA_MARK_ID);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		id = 99;
		if (trace_data_format_id(bad[i], &id) != -EBADMSG || id != 99)
			fail_msg("\"%s\" was not refused", bad[i]);
	}
}

static void tracing_format_field_finds_the_complete_name(void **state)
{
	struct trace_data_field f;

	assert_int_equal(trace_data_format_field(switch_format, "prev_state", &f), 0);
	assert_int_equal(f.off_bytes, 32);
	assert_int_equal(f.size_bytes, 8);
	assert_int_equal(trace_data_format_field(switch_format, "prev_comm", &f), 0);
	assert_int_equal(f.off_bytes, 8);
	assert_int_equal(f.size_bytes, 16);
	assert_int_equal(trace_data_format_field(trace_data_mark_format(), "group", &f), 0);
	assert_int_equal(f.off_bytes, 20);
	assert_int_equal(trace_data_format_field(switch_format, "comm", &f), -ENOENT);
	assert_int_equal(trace_data_format_field(switch_format, "prev_", &f), -ENOENT);
	assert_int_equal(trace_data_format_field(switch_format, "", &f), -ENOENT);
	assert_int_equal(trace_data_format_field("", "x", &f), -ENOENT);
}

static void tracing_broken_fields_are_refused(void **state)
{
	static const char *const bad[] = {
		"\tfield:int x;",
		"\tfield:int x;\n\toffset:4;\tsize:4;\n",
		"\tfield:int x;\toffset:4;\n\tsize:4;\n",
		"\tfield:int x;\toffset:;\tsize:4;\n",
		"\tfield:int x;\toffset:4\tsize:4;\n",
		"\tfield:int x;\toffset:4;\tsize:4",
		"\tfield:int x;\toffset:-4;\tsize:4;\n",
		"\tfield:int x;\toffset:4294967295;\tsize:1;\n",
		"\tfield:int x;\toffset:99999999999999999999999;\tsize:1;\n",
	};
	struct trace_data_field f = { 7, 8 };
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (trace_data_format_field(bad[i], "x", &f) != -EBADMSG || f.off_bytes != 7)
			fail_msg("\"%s\" was not refused", bad[i]);
	/* Brackets without a beginning are no array, and read nothing before the line. */
	assert_int_equal(trace_data_format_field("\tfield:x];\toffset:4;\tsize:4;\n", "x", &f),
			 -ENOENT);
	assert_int_equal(trace_data_format_field("\tfield:];\toffset:4;\tsize:4;\n", "x", &f),
			 -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tracing_section_is_read_by_libtraceevent),
		cmocka_unit_test(tracing_section_of_no_events_is_complete),
		cmocka_unit_test(tracing_mark_prints_its_strings),
		cmocka_unit_test(tracing_groups_that_ebprec_fills_are_reserved),
		cmocka_unit_test(tracing_mark_comes_back_as_it_went_in),
		cmocka_unit_test(tracing_exit_comes_back_as_it_went_in),
		cmocka_unit_test(tracing_mark_of_an_older_recorder_has_no_id),
		cmocka_unit_test(tracing_mark_needs_its_room),
		cmocka_unit_test(tracing_mark_strings_are_cut_between_characters),
		cmocka_unit_test(tracing_format_id_is_found_or_refused),
		cmocka_unit_test(tracing_format_field_finds_the_complete_name),
		cmocka_unit_test(tracing_broken_fields_are_refused),
	};

	return cmocka_run_group_tests_name("tracing", tests, NULL, NULL);
}
