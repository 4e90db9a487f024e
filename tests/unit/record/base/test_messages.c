/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/base/messages.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
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

static void a_delayed_part_is_reported_and_harms_nothing_until_it_fails(void **state)
{
	struct notes n = { .show = show };
	unsigned before = shown_count;

	note_delayed_part(&n, -ENOMEM, "cannot read the table 'x'", "later");
	assert_int_equal(shown_count, before + 1);
	assert_int_equal(n.failed_count, 1);
	assert_int_equal(notes_harmed(&n), 0);
	note_failed_part(&n, -ENOMEM, "cannot read the table 'y'", "its rows");
	assert_int_equal(notes_harmed(&n), 1);
	note_failed_part(&n, -ENOMEM, "cannot read the table 'x'", "its rows");
	note_delayed_part(&n, -ENOMEM, "cannot read the table 'x'", "later");
	assert_int_equal(notes_harmed(&n), 2);
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

/* A file with such a name; and what is printed of it. */
#define NAME  "a\033[2J\x9b\n\xe2\x80\xae\xff-\xc3\xa4"
#define SHOWN "a\\x1b[2J\\x9b\\x0a\\xe2\\x80\\xae\\xff-\xc3\xa4"

static void names_in_notes_and_failures_are_escaped(void **state)
{
	struct notes n = { .show = show };

	note(&n, NOTE_WARNING, "no names in '%s'", NAME);
	assert_string_equal(shown, "no names in '" SHOWN "'");
	assert_int_equal(n.text.size_bytes, strlen(shown) + 1); /* in the capture: a line */
	assert_memory_equal(n.text.data, shown, strlen(shown));
	assert_int_equal(note_fail(&n, -ENOENT, "look", "cannot open '%s'", NAME), -ENOENT);
	assert_string_equal(n.failure, "cannot open '" SHOWN "': No such file or directory (look)");
	notes_done(&n);
}

/* Text without space is cut between characters. */
static void a_long_failure_ends_with_a_complete_character(void **state)
{
	struct notes n = { .show = NULL };
	char name[2000];

	for (size_t i = 0; i + 1 < sizeof(name); i++)
		name[i] = i % 2 ? '\xa4' : '\xc3';
	name[sizeof(name) - 2] = '\0';
	note_fail(&n, -EIO, NULL, "x%s", name);
	assert_int_equal(strlen(n.failure), 1023);
	assert_int_equal((uint8_t)n.failure[1022], 0xa4);
	notes_done(&n);
}

static void held_notes_are_shown_when_released_and_else_forgotten(void **state)
{
	struct notes n = { .show = show };
	unsigned before = shown_count;

	(void)state;
	notes_hold(&n);
	note(&n, NOTE_WARNING, "%s is skipped", "sched");
	assert_int_equal(shown_count, before);
	assert_int_equal(n.line_count, 0);
	notes_forget(&n);
	assert_int_equal(shown_count, before);
	note(&n, NOTE_WARNING, "without BPF");
	assert_int_equal(shown_count, before + 1);
	notes_hold(&n);
	note(&n, NOTE_WARNING, "switches are skipped");
	note(&n, NOTE_WARNING, "marks are skipped");
	notes_release(&n);
	assert_int_equal(shown_count, before + 3);
	assert_string_equal(shown, "marks are skipped");
	assert_int_equal(n.line_count, 3);
	notes_hold(&n);
	note(&n, NOTE_WARNING, "never released");
	notes_done(&n);
	assert_int_equal(shown_count, before + 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_failed_part_is_shown_once_and_counted_each_time),
		cmocka_unit_test(held_notes_are_shown_when_released_and_else_forgotten),
		cmocka_unit_test(
			more_failed_parts_than_there_is_room_for_are_counted_with_the_last),
		cmocka_unit_test(a_delayed_part_is_reported_and_harms_nothing_until_it_fails),
		cmocka_unit_test(without_failures_there_is_no_member),
		cmocka_unit_test(names_in_notes_and_failures_are_escaped),
		cmocka_unit_test(a_long_failure_ends_with_a_complete_character),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
