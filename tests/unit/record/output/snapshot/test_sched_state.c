/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "format/base/cursor.h"
#include "format/payload/border_head.h"
#include "format/perf/perfrec.h"
#include "record/output/sample_record.h"
#include "record/output/snapshot/sched_state.h"

#define SWITCH_BYTES 60 /* of the fields below; with the four of the size a multiple of 8 */
#define WAKEUP_BYTES 28
#define FORK_BYTES   44

static const char switch_format[] = "name: sched_switch\nID: 1\nformat:\n"
				    "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
				    "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
				    "\tfield:long prev_state;\toffset:28;\tsize:8;\tsigned:1;\n"
				    "\tfield:char next_comm[16];\toffset:36;\tsize:16;\tsigned:0;\n"
				    "\tfield:pid_t next_pid;\toffset:52;\tsize:4;\tsigned:1;\n";
static const char wakeup_format[] = "name: sched_wakeup\nID: 2\nformat:\n"
				    "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n";
static const char fork_format[] = "name: sched_process_fork\nID: 3\nformat:\n"
				  "\tfield:pid_t child_pid;\toffset:40;\tsize:4;\tsigned:1;\n";

enum { RUNS = 0, SLEEPS = 1, DEAD = 0x10 };

static struct event_attrs attrs;
static struct sched_state *state;

static void add_event(enum event_attrs_event event, const char *name, const char *format,
		      uint32_t id)
{
	event_attrs_set_tracepoint(&attrs, event, name, id);
	event_attrs_set_format(&attrs, event, strdup(format));
}

static int begin(void **unused)
{
	attrs = (struct event_attrs){ 0 };
	add_event(ATTR_SWITCH, "sched:sched_switch", switch_format, 1);
	add_event(ATTR_WAKEUP, "sched:sched_wakeup", wakeup_format, 2);
	add_event(ATTR_FORK, "sched:sched_process_fork", fork_format, 3);
	assert_int_equal(event_attrs_number(&attrs), 0);
	assert_int_equal(sched_state_new(&attrs, &state), 0);
	assert_non_null(state);
	return 0;
}

static int end(void **unused)
{
	sched_state_free(state);
	event_attrs_done(&attrs);
	return 0;
}

static void give(enum event_attrs_event event, uint32_t cpu, uint64_t time_ns, const uint8_t *raw,
		 size_t raw_bytes)
{
	_Alignas(8) uint8_t record[SAMPLE_RECORD_MAX_BYTES];
	struct sample_record rec = { .id = event_attrs_id(&attrs, event),
				     .cpu = cpu,
				     .time_ns = time_ns,
				     .period = 1,
				     .raw = raw,
				     .raw_bytes = raw_bytes };
	size_t bytes = sample_record_encode(record, &rec);

	assert_int_not_equal(bytes, 0);
	assert_int_equal(sched_state_record(state, record, bytes), 0);
}

static void give_switch(uint64_t time_ns, uint32_t cpu, uint32_t prev, uint64_t prev_state,
			uint32_t next)
{
	uint8_t raw[SWITCH_BYTES] = { 0 };

	le32_store(raw + 24, prev);
	le64_store(raw + 28, prev_state);
	memcpy(raw + 36, "next", 5);
	le32_store(raw + 52, next);
	give(ATTR_SWITCH, cpu, time_ns, raw, sizeof(raw));
}

static void give_wakeup(uint64_t time_ns, uint32_t cpu, uint32_t tid)
{
	uint8_t raw[WAKEUP_BYTES] = { 0 };

	le32_store(raw + 24, tid);
	give(ATTR_WAKEUP, cpu, time_ns, raw, sizeof(raw));
}

static void give_fork(uint64_t time_ns, uint32_t cpu, uint32_t child)
{
	uint8_t raw[FORK_BYTES] = { 0 };

	le32_store(raw + 40, child);
	give(ATTR_FORK, cpu, time_ns, raw, sizeof(raw));
}

/* "time:prev>next time:woken! time:+child ", in the order in which they stand there. */
static void list_records(const struct buf *border, char *out, size_t room)
{
	struct perf_sample s;
	size_t at = BORDER_HEAD_BYTES, used = 0;

	*out = '\0';
	for (; at < border->size_bytes; at += le16_load(border->data + at + 6)) {
		const uint8_t *record = border->data + at;
		uint64_t id = le64_load(record + 8);

		assert_int_equal(perfrec_sample(record, le16_load(record + 6),
						&attrs.entry[ATTR_SWITCH].attr, &s, NULL),
				 0);
		if (id == event_attrs_id(&attrs, ATTR_SWITCH))
			used += (size_t)snprintf(out + used, room - used, "%u:%u>%u%s ",
						 (unsigned)s.time_ns, le32_load(s.raw + 24),
						 le32_load(s.raw + 52), (const char *)s.raw + 36);
		else if (id == event_attrs_id(&attrs, ATTR_WAKEUP))
			used += (size_t)snprintf(out + used, room - used, "%u:%u! ",
						 (unsigned)s.time_ns, le32_load(s.raw + 24));
		else
			used += (size_t)snprintf(out + used, room - used, "%u:+%u ",
						 (unsigned)s.time_ns, le32_load(s.raw + 40));
		assert_true(used < room);
	}
}

static void border_is(const char *want)
{
	struct buf border = { 0 };
	struct border_head head = { 0 };
	char text[512];

	assert_int_equal(sched_state_border(state, 1000, &border), 0);
	assert_true(border_head_decode(border.data, border.size_bytes, &head));
	assert_true(head.is_file);
	assert_int_equal(head.from_ns, 1000);
	assert_true(head.to_ns == UINT64_MAX);
	list_records(&border, text, sizeof(text));
	assert_string_equal(text, want);
	buf_done(&border);
}

static void a_thread_that_waits_has_its_switch_and_the_wakeup_since_then(void **unused)
{
	give_wakeup(5, 1, 7);
	give_switch(10, 0, 7, SLEEPS, 8);
	give_switch(20, 0, 8, SLEEPS, 9);
	give_wakeup(30, 1, 8);
	give_switch(40, 0, 9, RUNS, 10);
	/* The thread that came then has another state by now: the last switch of a CPU alone has the thread that runs. */
	border_is("40:9>10next 10:7>0 20:8>0 30:8! ");
}

static void a_thread_that_runs_or_has_ended_has_none(void **unused)
{
	give_switch(10, 0, 7, SLEEPS, 8);
	give_switch(20, 0, 8, DEAD, 7);
	border_is("20:8>7next ");
}

static void records_of_cpus_in_any_order_leave_the_last_state(void **unused)
{
	/* 7 left CPU 0, was woken by CPU 0, came onto CPU 1, and waits since it left that. */
	give_switch(10, 0, 7, SLEEPS, 0);
	give_wakeup(20, 0, 7);
	give_wakeup(60, 0, 7);
	give_switch(40, 1, 7, SLEEPS, 8);
	give_switch(30, 1, 9, SLEEPS, 7);
	/* And 11 runs on CPU 0 since before what CPU 1 reports of it. */
	give_switch(90, 0, 0, RUNS, 11);
	give_switch(80, 1, 11, SLEEPS, 8);
	border_is("90:0>11next 80:11>8next 40:7>0 60:7! 30:9>0 ");
}

static void a_thread_that_has_not_run_yet_has_its_fork(void **unused)
{
	give_fork(10, 0, 7);
	give_wakeup(11, 0, 7);
	give_switch(12, 0, 3, SLEEPS, 4);
	border_is("12:3>4next 10:+7 11:7! ");
}

static void without_a_switch_there_is_no_border(void **unused)
{
	struct buf border = { 0 };

	give_wakeup(10, 0, 7);
	assert_int_equal(sched_state_border(state, 1000, &border), 0);
	assert_int_equal(border.size_bytes, 0);
	buf_done(&border);
}

static void records_that_do_not_fit_their_event_are_left_out(void **unused)
{
	_Alignas(8) uint8_t record[16] = { 0 };
	uint8_t raw[WAKEUP_BYTES] = { 0 };
	struct buf border = { 0 };

	le32_store(record, PERF_RECORD_SAMPLE);
	le64_store(record + 8, event_attrs_id(&attrs, ATTR_SWITCH));
	assert_int_equal(sched_state_record(state, record, 16), 0);
	assert_int_equal(sched_state_record(state, record, 8), 0);
	give(ATTR_SWITCH, 0, 10, raw, sizeof(raw)); /* too short for its fields */
	assert_int_equal(sched_state_border(state, 1000, &border), 0);
	assert_int_equal(border.size_bytes, 0);
	buf_done(&border);
}

static void threads_that_ended_are_forgotten(void **unused)
{
	for (uint32_t i = 0; i < 100000; i++) {
		uint64_t time_ns = 1 + i * 1000000ULL; /* of 100 s */

		give_switch(time_ns, 0, 1, SLEEPS, 10 + i);
		give_switch(time_ns + 1, 0, 10 + i, DEAD, 1);
	}
	assert_in_range(sched_state_thread_count(state), 1, 20000);
}

static void a_capture_without_switches_has_no_states(void **unused)
{
	struct event_attrs none = { 0 };
	struct sched_state *s = (void *)&none;

	assert_int_equal(sched_state_new(&none, &s), 0);
	assert_null(s);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(a_thread_that_waits_has_its_switch_and_the_wakeup_since_then),
		TEST(a_thread_that_runs_or_has_ended_has_none),
		TEST(records_of_cpus_in_any_order_leave_the_last_state),
		TEST(a_thread_that_has_not_run_yet_has_its_fork),
		TEST(without_a_switch_there_is_no_border),
		TEST(records_that_do_not_fit_their_event_are_left_out),
		TEST(threads_that_ended_are_forgotten),
		TEST(a_capture_without_switches_has_no_states),
	};
#undef TEST
	return cmocka_run_group_tests(tests, NULL, NULL);
}
