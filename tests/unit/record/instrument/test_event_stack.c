/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "format/unwind/unwind.h"
#include "record/instrument/event_stack.h"
#include "record/runtime/runtimes.h"
#include "record/unwind/unwinder.h"

#define BASE 0x7f0000000000u
#define LOOP 0x1000u

static struct runtimes runtimes;
static struct copy_event ev;

static void setup(void)
{
	memset(&ev, 0, sizeof(ev));
	code_names_done(&runtimes.names[RUNTIME_PYTHON]);
	memset(&runtimes, 0, sizeof(runtimes));
	runtimes.count = 1;
	runtimes.files[1].desc = (struct runtime_desc){ .kind = RUNTIME_PYTHON,
							.eval = { { LOOP, 0x100 } } };
}

/* The frames of a copy: a function, and the loop that called it.  Returns what they become. */
static struct event_stack_writer join(size_t stack_bytes, size_t size_bytes, uint32_t runtime)
{
	static const __u64 frames[] = { 0x401000, BASE + LOOP + 8, 0x402000 };
	const struct unwinder_found found = {
		.frames = frames,
		.count = 3,
		.info = { .why = UNWIND_COMPLETE, .flags = STACK_RESULT_COPY },
		.runtime = runtime,
		.runtime_base = BASE,
	};
	struct event_stack_writer out = { 0 };

	ev.h.size_bytes = (uint16_t)size_bytes;
	event_stack_join_copy(&ev.h, ev.stack, stack_bytes, &found, &runtimes, &out);
	return out;
}

static void put_words(size_t at, uint32_t count)
{
	__u64 words[3] = { RUNTIME_WORD_HEAD(count, RUNTIME_COMPLETE, 1), BASE,
			   RUNTIME_FRAME_ENTRY | 5u << RUNTIME_INSTR_BITS | 1 };

	memcpy(ev.stack + at, words, sizeof(words));
}

static uint32_t why_of(const struct event_stack_writer *s)
{
	return s->info.flags >> STACK_RESULT_RUNTIME_SHIFT & STACK_RESULT_RUNTIME_MASK;
}

static void words_behind_a_copy_become_frames(void **state)
{
	struct event_stack_writer out;

	setup();
	put_words(104, 1);
	out = join(99, COPY_EVENT_HEAD_BYTES + 104 + 24, 1);
	assert_int_equal(out.user_count, 4);
	assert_int_equal(out.user[1], SPLICE_BASE + (5u << RUNTIME_INSTR_BITS) + 1);
	assert_int_equal(why_of(&out), RUNTIME_COMPLETE);
	assert_true(out.info.flags & STACK_RESULT_RUNTIME);
}

static void a_copy_without_words_has_the_reason_where_the_loop_runs(void **state)
{
	struct event_stack_writer out;

	setup();
	out = join(96, COPY_EVENT_HEAD_BYTES + 96, 1);
	assert_int_equal(out.user_count, 3);
	assert_int_equal(why_of(&out), RUNTIME_NOT_WALKED);
	out = join(96, COPY_EVENT_HEAD_BYTES + 96, 0); /* a process without an interpreter */
	assert_int_equal(why_of(&out), RUNTIME_COMPLETE);
}

/* The same of a JVM, whose methods are in code without a file where made has it; BPF saw the method of frame `seen`, -1: none. */
static uint32_t why_of_methods(const char *made, int seen)
{
	const __u64 frames[6] = { 0x401000, 0x10000, 0x10010, 0x10020, 0x402000, 0x403000 };
	const __u64 words[3] = { RUNTIME_WORD_HEAD(1, RUNTIME_COMPLETE, 1) |
					 (__u64)RUNTIME_SUM(0, frames[seen < 0 ? 0 : seen]) << 32,
				 BASE,
				 (__u64)(seen < 0 ? 0 : seen) << RUNTIME_FRAME_BITS |
					 5u << RUNTIME_INSTR_BITS | 1 };
	bool is_made[6];
	const struct unwinder_found found = {
		.frames = frames,
		.count = 6,
		.info = { .why = UNWIND_COMPLETE, .flags = STACK_RESULT_COPY },
		.runtime = 1,
		.runtime_base = BASE,
		.made = is_made,
	};
	struct event_stack_writer out = { 0 };

	for (size_t i = 0; i < 6; i++)
		is_made[i] = made[i] == 'M';
	memset(&ev, 0, sizeof(ev));
	ev.h.size_bytes = (uint16_t)(COPY_EVENT_HEAD_BYTES + 96 + (seen < 0 ? 0 : sizeof(words)));
	memcpy(ev.stack + 96, words, sizeof(words));
	event_stack_join_copy(&ev.h, ev.stack, 96, &found, &runtimes, &out);
	for (size_t i = 0; i < RUNTIME_KINDS; i++)
		code_names_done(&runtimes.names[i]);
	memset(runtimes.names, 0, sizeof(runtimes.names));
	return why_of(&out);
}

static void methods_that_bpf_did_not_reach_have_the_reason(void **state)
{
	setup();
	runtimes.files[1].desc = (struct runtime_desc){ .kind = RUNTIME_JVM };
	assert_int_equal(why_of_methods("......", -1), RUNTIME_COMPLETE);
	assert_int_equal(why_of_methods(".M..M.", -1), RUNTIME_COMPLETE); /* stubs */
	assert_int_equal(why_of_methods(".MM...", -1), RUNTIME_NOT_WALKED);
	assert_int_equal(why_of_methods("....MM", -1), RUNTIME_NOT_WALKED);
	assert_int_equal(why_of_methods(".MM...", 1), RUNTIME_COMPLETE); /* a method and its stub */
	assert_int_equal(why_of_methods(".MM.MM", 1), RUNTIME_NOT_WALKED);
	runtimes.files[1].desc.kind = RUNTIME_V8;
	assert_int_equal(why_of_methods("......", -1), RUNTIME_COMPLETE);
	assert_int_equal(why_of_methods(".M....", -1), RUNTIME_NOT_WALKED);
}

static void words_that_are_cut_or_too_many_are_not_read(void **state)
{
	struct event_stack_writer out;

	setup();
	put_words(96, 1);
	out = join(96, COPY_EVENT_HEAD_BYTES + 96 + 16, 1);
	assert_int_equal(why_of(&out), RUNTIME_NOT_WALKED);
	put_words(96, RUNTIME_SAMPLE_MAX + 1);
	out = join(96, sizeof(ev), 1);
	assert_int_equal(out.user_count, 3);
	out = join(sizeof(ev.stack) + 64, sizeof(ev), 1);
	assert_int_equal(out.user_count, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_behind_a_copy_become_frames),
		cmocka_unit_test(a_copy_without_words_has_the_reason_where_the_loop_runs),
		cmocka_unit_test(methods_that_bpf_did_not_reach_have_the_reason),
		cmocka_unit_test(words_that_are_cut_or_too_many_are_not_read),
	};

	return cmocka_run_group_tests_name("event_stack", tests, NULL, NULL);
}
