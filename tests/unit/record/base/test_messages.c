/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/base/messages.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static char shown[256];
static unsigned shown_count;

static void show(void *arg, enum note_level level, const char *text)
{
	assert_int_equal(level, NOTE_WARNING);
	snprintf(shown, sizeof(shown), "%s", text);
	shown_count++;
}

static void a_failed_part_is_shown_once_and_counted_each_time(void **state)
{
	struct notes n = { .show = show };
	struct outbuf out = { 0 };
	struct json_writer j = { .out = &out };

	note_failed_part(&n, -ENOMEM, "cannot read the table 'x'", "it waits");
	note_failed_part(&n, -EFAULT, "cannot read the table 'x'", "it waits");
	assert_int_equal(shown_count, 1);
	assert_string_equal(shown, "cannot read the table 'x': Cannot allocate memory (it waits)");
	note_failed_part(&n, -EFAULT, "cannot read the table 'y'", "it waits");
	assert_int_equal(shown_count, 2);
	assert_int_equal(n.failed_count, 2);
	json_writer_begin(&j, NULL);
	notes_json(&n, &j);
	json_writer_end(&j);
	outbuf_add(&out, "", 1);
	assert_non_null(strstr((char *)out.data, "\"error\": \"Cannot allocate memory\""));
	assert_non_null(strstr((char *)out.data, "\"times\": 2"));
	outbuf_done(&out);
	notes_done(&n);
}

static void more_failed_parts_than_there_is_room_for_are_counted_with_the_last(void **state)
{
	struct notes n = { 0 };
	char what[32];

	for (int i = 0; i < FAILED_PARTS_MAX + 5; i++) {
		snprintf(what, sizeof(what), "part %d", i);
		note_failed_part(&n, -EIO, what, "nothing");
	}
	assert_int_equal(n.failed_count, FAILED_PARTS_MAX);
	assert_int_equal(n.failed[FAILED_PARTS_MAX - 1].count, 6);
	notes_done(&n);
}

static void without_failures_there_is_no_member(void **state)
{
	struct notes n = { 0 };
	struct outbuf out = { 0 };
	struct json_writer j = { .out = &out };

	notes_json(&n, &j);
	assert_int_equal(out.size_bytes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_failed_part_is_shown_once_and_counted_each_time),
		cmocka_unit_test(
			more_failed_parts_than_there_is_room_for_are_counted_with_the_last),
		cmocka_unit_test(without_failures_there_is_no_member),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
