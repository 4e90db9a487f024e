/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "record/output/snapshot/snapshot_trigger.h"

static void good_words_are_understood(void **state)
{
	static const struct {
		const char *words, *file;
		bool full;
		uint64_t stall_us, window_us;
	} cases[] = {
		{ "psi:cpu:some:50ms/1s", "/proc/pressure/cpu", false, 50000, 1000000 },
		{ "psi:memory:full:1us/500ms", "/proc/pressure/memory", true, 1, 500000 },
		{ "psi:io:some:10s/10s", "/proc/pressure/io", false, 10000000, 10000000 },
	};
	struct snapshot_trigger t;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(snapshot_trigger_parse(cases[i].words, &t), 0);
		assert_int_equal(t.kind, SNAPSHOT_TRIGGER_PSI);
		assert_string_equal(t.file, cases[i].file);
		assert_int_equal(t.full, cases[i].full);
		assert_int_equal(t.stall_us, cases[i].stall_us);
		assert_int_equal(t.window_us, cases[i].window_us);
	}
	assert_int_equal(snapshot_trigger_parse("mark:a:b c", &t), 0);
	assert_int_equal(t.kind, SNAPSHOT_TRIGGER_MARK);
	assert_string_equal(t.mark, "a:b c");
	assert_int_equal(snapshot_trigger_parse("runq:20ms", &t), 0);
	assert_int_equal(t.kind, SNAPSHOT_TRIGGER_RUNQ);
	assert_int_equal(t.late_us, 20000);
	assert_int_equal(snapshot_trigger_parse("runq:500us", &t), 0);
	assert_int_equal(t.late_us, 500);
}

static void bad_words_are_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"mark",
		"mark:",
		"psi",
		"psi:",
		"psi:cpu",
		"psi:cpus:some:1ms/1s",
		"psi:cp:some:1ms/1s",
		"psi:cpu:any:1ms/1s",
		"psi:cpu:some:",
		"psi:cpu:some:1/1s",
		"psi:cpu:some:1ms",
		"psi:cpu:some:0ms/1s",
		"psi:cpu:some:2s/1s",
		"psi:cpu:some:1ms/1sx",
		"psi:cpu:some:1ms/499ms",
		"psi:cpu:some:1ms/11s",
		"psi:cpu:some:-1ms/1s",
		"psi:cpu:some:99999999999999999999s/1s",
		"runq",
		"runq:",
		"runq:0ms",
		"runq:5",
		"runq:5ms/1s",
		"runq:-5ms",
	};
	struct snapshot_trigger t = { .words = "as it was" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (snapshot_trigger_parse(bad[i], &t) != -EINVAL)
			fail_msg("taken: '%s'", bad[i]);
		assert_string_equal(t.words, "as it was");
	}
}

static void a_mark_fires_by_text_or_name_and_then_there_is_a_pause(void **state)
{
	const struct option_list words = { { "mark:now" }, 1 };
	const struct trace_data_mark other = { .group = "now", .name = "x", .message = "now!" },
				     text = { .group = "", .name = "x", .message = "now" },
				     name = { .group = "", .name = "now", .message = "" };
	struct snapshot_triggers t = { 0 };
	struct notes notes = { 0 };

	assert_int_equal(snapshot_triggers_open(&t, &words, &notes), 0);
	assert_int_equal(snapshot_triggers_fd(&t, 0), -1);
	snapshot_triggers_mark(&t, &other, 5);
	assert_null(t.fired);
	snapshot_triggers_mark(&t, &text, 10);
	assert_string_equal(t.fired, "mark:now");
	t.fired = NULL;
	snapshot_triggers_mark(&t, &name, 10 + SNAPSHOT_TRIGGERS_PAUSE_NS - 1);
	assert_null(t.fired);
	snapshot_triggers_pressure(&t, 0,
				   10 + SNAPSHOT_TRIGGERS_PAUSE_NS); /* it is none of pressure */
	assert_null(t.fired);
	snapshot_triggers_mark(&t, &name, 10 + SNAPSHOT_TRIGGERS_PAUSE_NS);
	assert_string_equal(t.fired, "mark:now");
	snapshot_triggers_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_words_are_understood),
		cmocka_unit_test(bad_words_are_refused),
		cmocka_unit_test(a_mark_fires_by_text_or_name_and_then_there_is_a_pause),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
