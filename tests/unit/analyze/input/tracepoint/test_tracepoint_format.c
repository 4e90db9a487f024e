/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/input/tracepoint/tracepoint_format.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/perf/trace_data.h"

static const struct trace_data_event events[] = {
	{ "sched", "name: sched_switch\nID: 1\n" },
	{ "ebprec", "name: mark\nID: 2\n" },
	{ "sched", "name: sched_wakeup\nID: 3\n" },
	{ "sched", "name: sched_wakeup_new\nID: 4\n" },
};

static uint8_t *make(size_t *bytes)
{
	uint8_t *section;

	assert_int_equal(trace_data_build(events, 4, NULL, &section, bytes), 0);
	return section;
}

static void finds_the_text_of_that_name_and_system(void **state)
{
	static const struct {
		const char *system, *name, *want; /* NULL: there is none */
	} cases[] = {
		{ "sched", "sched_switch", "name: sched_switch\nID: 1\n" },
		{ "sched", "sched_wakeup", "name: sched_wakeup\nID: 3\n" },
		{ "sched", "sched_wakeup_new", "name: sched_wakeup_new\nID: 4\n" },
		{ "ebprec", "mark", "name: mark\nID: 2\n" },
		{ "sched", "mark", NULL },
		{ "sched", "sched_wake", NULL },
		{ "", "", NULL },
	};
	size_t bytes;
	uint8_t *section = make(&bytes);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = NULL;
		int err = tracepoint_format_find(section, bytes, cases[i].system, cases[i].name,
						 &text);

		assert_int_equal(err, cases[i].want ? 0 : -ENOENT);
		if (cases[i].want)
			assert_string_equal(text, cases[i].want);
		free(text);
	}
	free(section);
}

static void cut_anywhere_is_an_error_or_not_found(void **state)
{
	size_t bytes;
	uint8_t *section = make(&bytes), *part;

	for (size_t cut = 0; cut < bytes; cut++) {
		char *text = NULL;
		int err;

		part = malloc(cut + 1); /* of its own, so that a sanitizer sees reads behind it */
		memcpy(part, section, cut);
		err = tracepoint_format_find(part, cut, "sched", "sched_wakeup_new", &text);
		if (err != -EBADMSG && err != -ENOENT && err)
			fail_msg("cut at %zu: %d", cut, err);
		if (!err)
			assert_string_equal(text, "name: sched_wakeup_new\nID: 4\n");
		free(text);
		free(part);
	}
	free(section);
}

static void lengths_are_not_believed(void **state)
{
	size_t bytes;
	uint8_t *section = make(&bytes);
	char *text = NULL;

	for (size_t i = 10; i + 8 <= bytes; i++) {
		uint8_t saved[8];

		memcpy(saved, section + i, 8);
		memset(section + i, 0xff, 8);
		if (!tracepoint_format_find(section, bytes, "sched", "sched_wakeup_new", &text)) {
			free(text);
			text = NULL;
		}
		memcpy(section + i, saved, 8);
	}
	section[0] ^= 1;
	assert_int_equal(tracepoint_format_find(section, bytes, "sched", "sched_switch", &text),
			 -EBADMSG);
	free(section);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_the_text_of_that_name_and_system),
		cmocka_unit_test(cut_anywhere_is_an_error_or_not_found),
		cmocka_unit_test(lengths_are_not_believed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
