/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "tests/unit/analyze/screen/seconds.h"

#include "analyze/screen/draw.h"
#include "analyze/screen/screen.h"

/* 20 seconds: in each, a works; in second 5 b does. */
static void begin(struct history *h, struct screen *s)
{
	assert_int_equal(history_init(h, 100, 1 << 20), 0);
	for (uint64_t second = 1; second <= 20; second++) {
		struct history_second *x = begin_second(h, second);

		put_stack(h, x, second == 5 ? "b" : "a", 1, "main work", 9, 0);
		put_stack(h, x, "a", 1, "main k_wait [futex]", 1, 1000);
		assert_int_equal(history_close_second(h, x), 0);
	}
	screen_init(s, h);
	assert_int_equal(screen_update(s), 0);
}

static void end(struct history *h, struct screen *s)
{
	screen_done(s);
	history_done(h);
}

static enum screen_action press(struct screen *s, int key)
{
	enum screen_action action = screen_key(s, key);

	assert_int_equal(screen_update(s), 0);
	return action;
}

static void type(struct screen *s, const char *text)
{
	for (; *text; text++)
		press(s, (unsigned char)*text);
	press(s, SCREEN_KEY_ENTER);
}

static const char *row_of(const struct screen *s, size_t i)
{
	return i < s->view.count ? view_text(s->history, s->view.rows[i].label) : "";
}

static void time_goes_back_to_the_first_second_and_forth_to_the_last(void **state)
{
	struct history h;
	struct screen s;

	(void)state;
	begin(&h, &s);
	press(&s, '[');
	press(&s, '[');
	press(&s, '[');
	assert_int_equal(s.window, 1);
	for (int i = 0; i < 15; i++)
		press(&s, SCREEN_KEY_LEFT);
	assert_true(s.frozen);
	assert_int_equal(s.end, 6); /* second 5 */
	assert_string_equal(row_of(&s, 0), "b");
	for (int i = 0; i < 40; i++)
		press(&s, SCREEN_KEY_LEFT);
	assert_int_equal(s.end, 2);
	assert_string_equal(row_of(&s, 0), "a");
	for (int i = 0; i < 40; i++)
		press(&s, SCREEN_KEY_RIGHT);
	assert_int_equal(s.end, 21);
	press(&s, SCREEN_KEY_END);
	assert_false(s.frozen);
	end(&h, &s);
}

static void strips_are_of_the_groups_of_the_seconds_that_are_shown(void **state)
{
	struct history h;
	struct screen s;

	(void)state;
	begin(&h, &s);
	assert_int_equal(s.strips.count, 0);
	press(&s, 'g');
	assert_int_equal(s.strips.count, 1); /* seconds 11 to 20 */
	press(&s, ']');
	assert_int_equal(s.strips.count, 2);
	assert_string_equal(string_table_text(h.names, s.strips.labels[1]), "b");
	assert_int_equal(strips_samples(&s.strips, 1, 4), 9); /* second 5 */
	assert_int_equal(strips_samples(&s.strips, 1, 5), 0);
	assert_int_equal(strips_samples(&s.strips, 0, 4), 0);
	assert_int_equal(strips_samples(&s.strips, 0, 19), 9);
	s.width = 3;
	press(&s, 't');
	assert_string_equal(string_table_text(h.names, s.strips.labels[0]), "a 1");
	assert_int_equal(strips_samples(&s.strips, 0, 16), 0); /* not on the screen */
	assert_int_equal(strips_samples(&s.strips, 0, 17), 9);
	press(&s, 'g');
	assert_int_equal(s.strips.count, 0);
	end(&h, &s);
}

static void a_frozen_screen_shows_the_same_when_seconds_come(void **state)
{
	struct history h;
	struct screen s;
	struct history_second *x;

	(void)state;
	begin(&h, &s);
	press(&s, ' ');
	x = begin_second(&h, 21);
	put_stack(&h, x, "c", 9, "main", 1000, 0);
	assert_int_equal(history_close_second(&h, x), 0);
	assert_int_equal(screen_update(&s), 0);
	assert_int_equal(s.view.count, 1);
	press(&s, ' ');
	assert_string_equal(row_of(&s, 0), "c");
	end(&h, &s);
}

static void enter_zooms_and_backspace_comes_back(void **state)
{
	struct history h;
	struct screen s;

	(void)state;
	begin(&h, &s);
	assert_string_equal(row_of(&s, 0), "a");
	press(&s, SCREEN_KEY_ENTER);
	assert_string_equal(row_of(&s, 0), "work");
	press(&s, SCREEN_KEY_DOWN);
	assert_int_equal(s.row, 1);
	press(&s, SCREEN_KEY_ENTER); /* main */
	assert_int_equal(s.step_count, 2);
	assert_int_equal(s.view.count, 1);
	press(&s, SCREEN_KEY_BACKSPACE);
	press(&s, SCREEN_KEY_BACKSPACE);
	assert_int_equal(s.step_count, 0);
	press(&s, SCREEN_KEY_BACKSPACE);
	assert_string_equal(row_of(&s, 0), "a");
	end(&h, &s);
}

static void keys_choose_measure_form_and_groups(void **state)
{
	struct history h;
	struct screen s;

	(void)state;
	begin(&h, &s);
	press(&s, 'o');
	press(&s, 'v');
	assert_int_equal(s.form, VIEW_TREE);
	assert_string_equal(row_of(&s, 3), "[futex]");
	press(&s, 'v');
	assert_int_equal(s.form, VIEW_ICICLE);
	press(&s, SCREEN_KEY_DOWN);
	press(&s, SCREEN_KEY_DOWN);
	assert_string_equal(row_of(&s, s.row), "k_wait");
	press(&s, SCREEN_KEY_UP);
	assert_string_equal(row_of(&s, s.row), "main");
	press(&s, 'k');
	assert_string_equal(screen_measure_name(&s), "wakers");
	press(&s, 'i');
	assert_string_equal(screen_measure_name(&s), "wakers");
	assert_string_equal(s.status, "no instrument is recorded: ebprec live --show NAME");
	s.event = "block";
	s.event_unit = "ns";
	press(&s, 'i');
	assert_string_equal(screen_measure_name(&s), "block");
	assert_string_equal(screen_unit(&s), "ns");
	press(&s, 'c');
	press(&s, 'v');
	for (int i = 0; i < 5; i++)
		press(&s, 't');
	assert_false(s.groups);
	assert_string_equal(row_of(&s, 0), "work");
	press(&s, 't');
	assert_true(s.groups);
	assert_int_equal(s.by, HISTORY_BY_PROGRAM);
	end(&h, &s);
}

static void a_filter_that_is_no_expression_is_refused_and_the_old_one_stays(void **state)
{
	struct history h;
	struct screen s;

	(void)state;
	begin(&h, &s);
	press(&s, '/');
	type(&s, "qork");
	assert_int_equal(s.view.count, 0);
	press(&s, '/');
	type(&s, "(");
	assert_string_equal(s.filter, "qork");
	assert_non_null(strstr(s.status, "regular expression"));
	press(&s, '/');
	press(&s, 'w');
	press(&s, SCREEN_KEY_ESCAPE);
	assert_string_equal(s.filter, "qork");
	press(&s, '/');
	press(&s, SCREEN_KEY_ENTER);
	assert_int_equal(s.view.count, 1);
	end(&h, &s);
}

static void keys_that_end_save_and_mark_are_for_the_caller(void **state)
{
	struct history h;
	struct screen s;

	(void)state;
	begin(&h, &s);
	assert_int_equal(press(&s, 's'), SCREEN_SAVES);
	press(&s, 'm');
	press(&s, 'q');
	press(&s, 0xc3);
	press(&s, 0xa4);
	press(&s, SCREEN_KEY_BACKSPACE); /* one character, of two bytes */
	assert_string_equal(s.input, "q");
	assert_int_equal(press(&s, SCREEN_KEY_ENTER), SCREEN_MARKS);
	assert_int_equal(press(&s, '?'), SCREEN_STAYS);
	assert_true(s.help);
	assert_int_equal(press(&s, 'c'), SCREEN_STAYS);
	assert_false(s.help);
	assert_int_equal(press(&s, 'q'), SCREEN_QUITS);
	assert_int_equal(press(&s, 3), SCREEN_QUITS);
	end(&h, &s);
}

static void a_text_is_cut_at_a_column_between_characters(void **state)
{
	size_t columns;

	(void)state;
	assert_int_equal(draw_fit("abcdef", 4, &columns), 4);
	assert_int_equal(columns, 4);
	assert_int_equal(draw_fit("ab", 4, &columns), 2);
	assert_int_equal(columns, 2);
	assert_int_equal(draw_fit("", 4, &columns), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_goes_back_to_the_first_second_and_forth_to_the_last),
		cmocka_unit_test(strips_are_of_the_groups_of_the_seconds_that_are_shown),
		cmocka_unit_test(a_frozen_screen_shows_the_same_when_seconds_come),
		cmocka_unit_test(enter_zooms_and_backspace_comes_back),
		cmocka_unit_test(keys_choose_measure_form_and_groups),
		cmocka_unit_test(a_filter_that_is_no_expression_is_refused_and_the_old_one_stays),
		cmocka_unit_test(keys_that_end_save_and_mark_are_for_the_caller),
		cmocka_unit_test(a_text_is_cut_at_a_column_between_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
