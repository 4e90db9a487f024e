/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/output/sample_record.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <linux/perf_event.h>

#include "format/base/cursor.h"
#include "format/perf/perfrec.h"
#include "format/payload/switch_fields.h"
#include "format/unwind/unwind.h"
#include "record/events/event_attrs.h"

/* ---- samples: what the encoder writes, perf's layout reads ---- */

static struct perf_event_attr attr_of(enum event_attrs_event event)
{
	struct perf_event_attr kernel, out;
	struct event_attrs a = { 0 };

	event_attrs_sample_kernel(&kernel, false, 99);
	event_attrs_set_sample(&a, &kernel);
	event_attrs_set_tracepoint(&a, ATTR_SWITCH, "sched:sched_switch", 372);
	out = a.entry[event].attr;
	event_attrs_done(&a);
	return out;
}

static struct perf_sample decode(const uint8_t *rec, size_t bytes, enum event_attrs_event event)
{
	struct perf_event_attr attr = attr_of(event);
	struct parse_err err = { 0 };
	struct perf_sample s;

	assert_int_equal(bytes % 8, 0);
	assert_int_equal(le16_load(rec + 6), bytes);
	if (perfrec_sample(rec, bytes, &attr, &s, &err))
		fail_msg("at %llu: %s", (unsigned long long)err.offset_bytes, err.what);
	return s;
}

static void samplerec_writes_both_stacks_leaf_first(void **state)
{
	static const __u64 kernel[] = { 0xffffffff81000010, 0xffffffff81000020 };
	static const __u64 user[] = { 0x401000, 0x402000, 0x403000 };
	static const uint64_t chain[] = { (uint64_t)-128, 0xffffffff81000010, 0xffffffff81000020,
					  (uint64_t)-512, 0x401000,           0x402000,
					  0x403000 };
	const struct sample_record rec = { .id = 7,
					   .pid = 1,
					   .tid = 2,
					   .cpu = 3,
					   .time_ns = 4,
					   .period = 5,
					   .kernel = kernel,
					   .kernel_count = 2,
					   .user = user,
					   .user_count = 3,
					   .cgroup_id = 6,
					   .stack = { .how = STACK_RESULT_MIXED,
						      .why = UNWIND_NO_CFI,
						      .flags = STACK_RESULT_COPY } };
	uint8_t out[SAMPLE_RECORD_MAX_BYTES];
	struct perf_sample s = decode(out, sample_record_encode(out, &rec), ATTR_SAMPLE);
	struct stack_result info = { 0 };

	assert_int_equal(s.cpumode, PERF_RECORD_MISC_KERNEL);
	assert_int_equal(s.ip, kernel[0]);
	assert_int_equal(s.chain_count, 7);
	assert_memory_equal(s.chain, chain, sizeof(chain));
	assert_true(s.id == 7 && s.pid == 1 && s.tid == 2 && s.cpu == 3 && s.time_ns == 4 &&
		    s.period == 5 && s.cgroup == 6);
	assert_int_equal(s.raw_bytes, STACK_RESULT_BYTES);
	assert_true(stack_result_decode(s.raw, s.raw_bytes, &info));
	assert_true(info.how == STACK_RESULT_MIXED && info.why == UNWIND_NO_CFI &&
		    info.flags == STACK_RESULT_COPY);
}

static void samplerec_mode_follows_the_first_frame(void **state)
{
	static const __u64 user[] = { 0x401000 };
	const struct sample_record only_user = { .user = user, .user_count = 1 };
	const struct sample_record nothing = { 0 };
	uint8_t out[SAMPLE_RECORD_MAX_BYTES];
	struct perf_sample s = decode(out, sample_record_encode(out, &only_user), ATTR_SAMPLE);

	assert_int_equal(s.cpumode, PERF_RECORD_MISC_USER);
	assert_int_equal(s.ip, 0x401000);
	assert_int_equal(s.chain_count, 2);
	s = decode(out, sample_record_encode(out, &nothing), ATTR_SAMPLE);
	assert_int_equal(s.ip, 0);
	assert_int_equal(s.chain_count, 0);
}

static void samplerec_holds_the_largest_stacks_and_no_larger(void **state)
{
	static __u64 frames[SAMPLE_RECORD_USER_MAX + 1];
	static uint8_t raw[SAMPLE_RECORD_RAW_MAX + 8];
	struct sample_record rec = { .kernel = frames,
				     .kernel_count = CPU_KERNEL_MAX,
				     .user = frames,
				     .user_count = SAMPLE_RECORD_USER_MAX,
				     .raw = raw,
				     .raw_bytes = SAMPLE_RECORD_RAW_MAX - 4 };
	uint8_t out[SAMPLE_RECORD_MAX_BYTES];

	assert_int_equal(decode(out, sample_record_encode(out, &rec), ATTR_SWITCH).raw_bytes,
			 SAMPLE_RECORD_RAW_MAX - 4);
	rec.kernel_count++;
	assert_int_equal(sample_record_encode(out, &rec), 0);
	rec.kernel_count--;
	rec.user_count++;
	assert_int_equal(sample_record_encode(out, &rec), 0);
	rec.user_count--;
	rec.raw_bytes = SAMPLE_RECORD_RAW_MAX + 4;
	assert_int_equal(sample_record_encode(out, &rec), 0);
}

/* ---- sched_switch ---- */

#define FIELD(type, name, off, size) \
	"\tfield:" type " " name ";\toffset:" #off ";\tsize:" #size ";\tsigned:1;\n"
#define COMMON FIELD("unsigned short", "common_type", 0, 2) FIELD("int", "common_pid", 4, 4)
#define HEAD   "name: sched_switch\nID: 372\nformat:\n" COMMON "\n"

static const char format_6_18[] = HEAD FIELD("char", "prev_comm[16]", 8, 16)
	FIELD("pid_t", "prev_pid", 24, 4) FIELD("int", "prev_prio", 28, 4)
		FIELD("long", "prev_state", 32, 8) FIELD("char", "next_comm[16]", 40, 16)
			FIELD("pid_t", "next_pid", 56, 4)
				FIELD("int", "next_prio", 60, 4) "\nprint fmt: \"\"\n";

static void switch_fields_go_to_the_offsets_of_the_format(void **state)
{
	const struct switch_event ev = { .prev_tid = 11,
					 .next_tid = 22,
					 .prev_prio = 120,
					 .next_prio = 98,
					 .prev_state = 1,
					 .syscall = 1,
					 .weight = 17,
					 .stack = { .how = STACK_RESULT_CFI,
						    .why = UNWIND_COMPLETE },
					 .prev_comm = "before",
					 .next_comm = "fifteen letters" };
	uint8_t raw[SAMPLE_RECORD_RAW_MAX];
	struct switch_fields info;
	struct switch_layout l;

	assert_int_equal(switch_layout_from_format(format_6_18, &l), 0);
	assert_int_equal(l.size_bytes, 76);
	switch_encode(&l, &ev, &(struct stack_result){ ev.stack.how, ev.stack.why, ev.stack.flags },
		      raw);
	assert_int_equal(le16_load(raw), 372);
	assert_int_equal(le32_load(raw + 4), 11);
	assert_string_equal((char *)raw + 8, "before");
	assert_int_equal(le32_load(raw + 24), 11);
	assert_int_equal(le32_load(raw + 28), 120);
	assert_int_equal(le64_load(raw + 32), 1);
	assert_string_equal((char *)raw + 40, "fifteen letters");
	assert_int_equal(le32_load(raw + 56), 22);
	assert_int_equal(le32_load(raw + 60), 98);
	assert_true(switch_fields_decode(raw + l.size_bytes - SWITCH_FIELDS_BYTES,
					 SWITCH_FIELDS_BYTES, &info));
	assert_int_equal(info.syscall, 1); /* number 0: read() */
	assert_int_equal(info.weight, 17);
	assert_int_equal(info.stack.how, STACK_RESULT_CFI);
	assert_int_equal(info.stack.why, UNWIND_COMPLETE);
}

static void switchinfo_is_not_made_of_what_is_none(void **state)
{
	uint8_t good[SWITCH_FIELDS_BYTES], raw[SWITCH_FIELDS_BYTES];
	const struct switch_fields info = { .weight = 1 };
	struct switch_fields out = { .weight = 42 };

	switch_fields_encode(&info, good);
	assert_false(switch_fields_decode(good, SWITCH_FIELDS_BYTES - 1, &out)); /* cut */
	memset(raw, 0, sizeof(raw));
	assert_false(switch_fields_decode(raw, sizeof(raw), &out)); /* padding */
	memcpy(raw, good, sizeof(raw));
	raw[1] = 1;
	assert_false(switch_fields_decode(raw, sizeof(raw), &out)); /* another version */
	memcpy(raw, good, sizeof(raw));
	raw[8] = STACK_RESULT_HOWS;
	assert_false(switch_fields_decode(raw, sizeof(raw), &out)); /* found in an unheard-of way */
	assert_int_equal(out.weight, 42);
}

static void switch_layout_refuses_formats_it_does_not_know(void **state)
{
	static const char *const cases[] = {
		"",
		"name: sched_switch\n",
		HEAD,
		/* no prev_state */
		HEAD FIELD("char", "prev_comm[16]", 8, 16) FIELD("pid_t", "prev_pid", 24, 4)
			FIELD("int", "prev_prio", 28, 4) FIELD("char", "next_comm[16]", 40, 16)
				FIELD("pid_t", "next_pid", 56, 4) FIELD("int", "next_prio", 60, 4),
		/* a name of 32 bytes */
		HEAD FIELD("char", "prev_comm[32]", 8, 32) FIELD("pid_t", "prev_pid", 40,
								 4) FIELD("int", "prev_prio", 44, 4)
			FIELD("long", "prev_state", 48, 8) FIELD("char", "next_comm[32]", 56, 32)
				FIELD("pid_t", "next_pid", 88, 4) FIELD("int", "next_prio", 92, 4),
		/* far outside */
		HEAD FIELD("char", "prev_comm[16]", 8, 16) FIELD("pid_t", "prev_pid", 24, 4)
			FIELD("int", "prev_prio", 28, 4) FIELD("long", "prev_state", 32, 8)
				FIELD("char", "next_comm[16]", 40, 16)
					FIELD("pid_t", "next_pid", 56, 4)
						FIELD("int", "next_prio", 99999, 4),
	};
	struct switch_layout l = { .id = 42 };
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (switch_layout_from_format(cases[i], &l) != -EBADMSG)
			fail_msg("taken: '%s'", cases[i]);
		assert_int_equal(l.id, 42);
	}
}

/* include/trace/events/sched.h: __trace_sched_switch_state() */
static void switch_state_is_the_kernels(void **state)
{
	static const struct {
		uint32_t preempt, state, exit_state;
		uint64_t want;
	} cases[] = {
		{ 0, 0, 0, 0 },               /* R */
		{ 1, 0, 0, 0x100 },           /* R+ */
		{ 1, 1, 0, 0x100 },           /* preempted on the way to sleep */
		{ 0, 1, 0, 1 },               /* S */
		{ 0, 2, 0, 2 },               /* D */
		{ 0, 0x402, 0, 0x80 },        /* I: UNINTERRUPTIBLE | NOLOAD */
		{ 0, 4, 0, 4 },               /* T */
		{ 0, 8, 0, 8 },               /* t */
		{ 0, TASK_DEAD, 0x10, 0x10 }, /* X */
		{ 0, 0x80, 0x20, 0x20 },      /* Z */
		{ 0, 0x40, 0, 0x40 },         /* P */
		{ 0, 0x101, 0, 1 },           /* S | WAKEKILL */
		{ 0, 0x102, 0, 2 },           /* D | WAKEKILL: killable */
		{ 0, 0x1000, 0, 2 },          /* RTLOCK_WAIT looks like D */
		{ 0, 0x8000, 0, 2 },          /* FROZEN, too */
		{ 0, 0x2001, 0, 1 },          /* S | FREEZABLE */
	};
	struct switch_event ev = { 0 };
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ev.preempt = cases[i].preempt;
		ev.prev_state = cases[i].state;
		ev.prev_exit_state = cases[i].exit_state;
		if (switch_state(&ev) != cases[i].want)
			fail_msg("state %x exit %x: %llx, not %llx", cases[i].state,
				 cases[i].exit_state, (unsigned long long)switch_state(&ev),
				 (unsigned long long)cases[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samplerec_writes_both_stacks_leaf_first),
		cmocka_unit_test(samplerec_mode_follows_the_first_frame),
		cmocka_unit_test(samplerec_holds_the_largest_stacks_and_no_larger),
		cmocka_unit_test(switch_fields_go_to_the_offsets_of_the_format),
		cmocka_unit_test(switchinfo_is_not_made_of_what_is_none),
		cmocka_unit_test(switch_layout_refuses_formats_it_does_not_know),
		cmocka_unit_test(switch_state_is_the_kernels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
