/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/out/aligned_table.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/out/histogram.h"

static const struct aligned_column columns[] = {
	{ "COMM", ALIGNED_TEXT, 6 },
	{ "COUNT", ALIGNED_NUMBER, 0 },
	{ "LONG NUMBER", ALIGNED_NUMBER, 0 },
	{ "KIND", ALIGNED_COMPLETE, 0 },
};

/* A table of two rows; the comm of the second has 19 characters. */
static void check_print(unsigned line_columns, const char *want)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size), *cell;
	struct aligned_table t;

	assert_non_null(to);
	assert_int_equal(aligned_table_init(&t, 2), 0);
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		aligned_table_column(&t, &columns[i]);
	aligned_table_text(&t, "a\033");
	aligned_table_format(&t, "%d", 12);
	aligned_table_format(&t, "%d", 3);
	aligned_table_text(&t, "");
	assert_int_equal(aligned_table_rows(&t), 1);
	cell = aligned_table_cell(&t);
	fputs("a long name ", cell);
	fputs("\xe2\x82\xac of it", cell);
	aligned_table_format(&t, "%d", 1234567);
	aligned_table_format(&t, "%d", 45);
	aligned_table_text(&t, "span");
	assert_int_equal(aligned_table_rows(&t), 2);
	assert_int_equal(aligned_table_print(&t, line_columns, to), 0);
	aligned_table_done(&t);
	fclose(to);
	assert_string_equal(text, want);
	free(text);
}

static void columns_are_as_wide_as_their_cells(void **state)
{
	check_print(0, "COMM                   COUNT  LONG NUMBER  KIND\n"
		       "a\\x1b                     12            3  \n"
		       "a long name \xe2\x82\xac of it  1234567           45  span\n");
}

static void on_a_terminal_texts_are_cut_and_numbers_are_not(void **state)
{
	check_print(40, "COMM            COUNT  LONG NUMBER  KIND\n"
			"a\\x1b              12            3  \n"
			"a long nam..  1234567           45  span\n");
}

static void columns_without_room_are_named(void **state)
{
	check_print(25, "COMM                COUNT\n"
			"a\\x1b                  12\n"
			"a long name \xe2\x82\xac ..  1234567\n"
			"without room: LONG NUMBER, KIND\n");
}

static void a_row_that_lacks_a_cell_is_an_error(void **state)
{
	struct aligned_table t;

	assert_int_equal(aligned_table_init(&t, 1), 0);
	aligned_table_column(&t, &columns[0]);
	aligned_table_column(&t, &columns[1]);
	aligned_table_text(&t, "a");
	assert_int_equal(aligned_table_print(&t, 0, stdout), -ENOMEM);
	aligned_table_done(&t);
}

static void a_histogram_has_the_slots_that_were_asked_for(void **state)
{
	uint64_t slots[64] = { [2] = 1, [3] = 4, [63] = 2 };
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	assert_non_null(to);
	histogram_print("us", slots, 2, 2, to);
	histogram_print("us", slots, 2, 4, to);
	fclose(to);
	assert_string_equal(
		text,
		"                             us : count    distribution\n"
		"            4 -> 7              : 1        |**********                              |\n"
		"            8 -> 15             : 4        |****************************************|\n");
	free(text);
	assert_int_equal(histogram_low(0), 0);
	assert_int_equal(histogram_high(63), UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_are_as_wide_as_their_cells),
		cmocka_unit_test(on_a_terminal_texts_are_cut_and_numbers_are_not),
		cmocka_unit_test(columns_without_room_are_named),
		cmocka_unit_test(a_row_that_lacks_a_cell_is_an_error),
		cmocka_unit_test(a_histogram_has_the_slots_that_were_asked_for),
	};

	return cmocka_run_group_tests_name("aligned_table", tests, NULL, NULL);
}
