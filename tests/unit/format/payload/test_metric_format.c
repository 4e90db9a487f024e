/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "format/payload/metric_format.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct metric_format made(void)
{
	struct metric_format f = { .name = "calls", .id = METRIC_FIRST_ID + 3 };

	assert_int_equal(metric_format_add(&f, "since_ns", METRIC_UNSIGNED, 8, 1, true), 0);
	assert_int_equal(metric_format_add(&f, "nr", METRIC_UNSIGNED, 4, 1, true), 0);
	assert_int_equal(metric_format_add(&f, "comm", METRIC_TEXT, 1, 16, false), 0);
	assert_int_equal(metric_format_add(&f, "ret", METRIC_SIGNED, 8, 1, false), 0);
	assert_int_equal(metric_format_add(&f, "hist_ns", METRIC_UNSIGNED, 4, 5, false), 0);
	return f;
}

static void metricfmt_fields_are_aligned(void **state)
{
	struct metric_format f = made();

	assert_int_equal(f.fields[1].off_bytes, 16);
	assert_int_equal(f.fields[2].off_bytes, 20);
	assert_int_equal(f.fields[3].off_bytes, 40); /* not 36 */
	assert_int_equal(f.fields[4].off_bytes, 48);
	assert_int_equal(f.row_bytes, 68);
	assert_int_equal(metric_format_raw_bytes(&f), 76); /* with 4 for a stack; and 4 is 80 */
}

/* A reader would not take them. */
static void metricfmt_names_are_plain(void **state)
{
	static const char *const bad[] = { "",   "Count", "a b",      "a-b",
					   "a;", "a\n",   "\xc3\xa4", "a_name_of_24_characters_" };
	struct metric_format f = made();

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(metric_format_add(&f, bad[i], METRIC_UNSIGNED, 8, 1, false),
				 -EINVAL);
	assert_int_equal(
		metric_format_add(&f, "a_name_of_23_characters", METRIC_UNSIGNED, 8, 1, false), 0);
}

static void metricfmt_reads_what_it_writes(void **state)
{
	struct metric_format f = made(), got;
	char *text = metric_format_text(&f);

	assert_non_null(text);
	assert_int_equal(metric_format_parse(text, &got), 0);
	assert_string_equal(got.name, "calls");
	assert_int_equal(got.id, f.id);
	assert_int_equal(got.field_count, f.field_count);
	assert_int_equal(got.row_bytes, f.row_bytes);
	for (size_t i = 0; i < f.field_count; i++) {
		assert_string_equal(got.fields[i].name, f.fields[i].name);
		assert_int_equal(got.fields[i].off_bytes, f.fields[i].off_bytes);
		assert_int_equal(got.fields[i].size_bytes, f.fields[i].size_bytes);
		assert_int_equal(got.fields[i].count, f.fields[i].count);
		assert_int_equal(got.fields[i].kind, f.fields[i].kind);
		assert_int_equal(got.fields[i].is_key, f.fields[i].is_key);
	}
	free(text);
}

/* Every text that differs in one place, or ends early, is refused or stays within the row. */
static void metricfmt_broken_texts_stay_within_bounds(void **state)
{
	static const char changes[] = "9z[];:\n\t ";
	struct metric_format f = made(), got;
	char *text = metric_format_text(&f);
	size_t bytes = strlen(text);

	for (size_t at = 0; at < bytes; at++) {
		for (size_t k = 0; k <= sizeof(changes) - 1; k++) {
			char was = text[at];

			text[at] = changes[k]; /* the last one cuts */
			if (!metric_format_parse(text, &got)) {
				assert_true(got.field_count <= METRIC_FIELDS_MAX);
				assert_true(got.row_bytes <= METRIC_ROW_MAX);
				for (size_t i = 0; i < got.field_count; i++) {
					const struct metric_field *g = &got.fields[i];

					assert_true(g->off_bytes >= METRIC_ROW_OFF);
					assert_true(g->off_bytes + g->size_bytes * g->count <=
						    METRIC_ROW_MAX);
				}
			}
			text[at] = was;
		}
	}
	free(text);
}

/* A row would have more elements than bytes, and they were counted on to be fewer. */
static void metricfmt_fields_over_one_another_are_refused(void **state)
{
	static const struct {
		uint32_t off[2], count[2];
		int want;
	} cases[] = {
		{ { 8, 8 }, { 4, 4 }, -EBADMSG },  { { 8, 11 }, { 4, 4 }, -EBADMSG },
		{ { 11, 8 }, { 4, 4 }, -EBADMSG }, { { 8, 9 }, { 9, 2 }, -EBADMSG },
		{ { 9, 8 }, { 2, 9 }, -EBADMSG },  { { 8, 8 }, { 1016, 1016 }, -EBADMSG },
		{ { 8, 12 }, { 4, 4 }, 0 },        { { 12, 8 }, { 4, 4 }, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct metric_format f = { .name = "t", .id = METRIC_FIRST_ID }, got;
		char *text;

		for (int k = 0; k < 2; k++) {
			f.row_bytes = 0;
			assert_int_equal(
				metric_format_add(
					&f, k ? "b" : "a", METRIC_UNSIGNED, 1,
					cases[i].count[k] > 1000 ? 1000 : cases[i].count[k], false),
				0);
			f.fields[k].off_bytes = cases[i].off[k];
			f.fields[k].count = cases[i].count[k];
		}
		text = metric_format_text(&f);
		assert_non_null(text);
		assert_int_equal(metric_format_parse(text, &got), cases[i].want);
		free(text);
	}
}

static void metricfmt_histograms_are_numbers_for_each_power_of_two(void **state)
{
	static const struct {
		const char *name;
		enum metric_kind kind;
		uint32_t count;
		bool is_key, want;
	} cases[] = {
		{ "hist_ns", METRIC_UNSIGNED, 64, false, true },
		{ "hist_ns", METRIC_UNSIGNED, 65, false, false },
		{ "hist_ns", METRIC_UNSIGNED, 4, true, false },
		{ "hist_ns", METRIC_TEXT, 4, false, false },
		{ "hist_ns", METRIC_SIGNED, 4, false, false },
		{ "his_ns", METRIC_UNSIGNED, 4, false, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct metric_format f = { .name = "t" };

		assert_int_equal(metric_format_add(&f, cases[i].name, cases[i].kind, 1,
						   cases[i].count, cases[i].is_key),
				 0);
		assert_int_equal(metric_format_is_histogram(&f.fields[0]), cases[i].want);
	}
}

static void metricfmt_refuses_what_does_not_fit(void **state)
{
	static const struct {
		const char *name;
		enum metric_kind kind;
		uint32_t size_bytes, count;
		int want;
	} cases[] = {
		{ "a", METRIC_UNSIGNED, 3, 1, -EINVAL },
		{ "a", METRIC_UNSIGNED, 16, 1, -EINVAL },
		{ "a", METRIC_UNSIGNED, 0, 1, -EINVAL },
		{ "a", METRIC_UNSIGNED, 8, 0, -EINVAL },
		{ "", METRIC_UNSIGNED, 8, 1, -EINVAL },
		{ "a_name_of_twenty_four_by", METRIC_UNSIGNED, 8, 1, -EINVAL },
		{ "a", METRIC_TEXT, 4, 4, -EINVAL },
		{ "a", METRIC_UNSIGNED, 8, 200, -EOVERFLOW },
		{ "a", METRIC_UNSIGNED, 8, UINT32_MAX, -EOVERFLOW },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct metric_format f = { .name = "t" };

		assert_int_equal(metric_format_add(&f, cases[i].name, cases[i].kind,
						   cases[i].size_bytes, cases[i].count, false),
				 cases[i].want);
		assert_int_equal(f.field_count, 0);
	}
}

static void metricfmt_numbers_end_with_the_row(void **state)
{
	const uint8_t raw[24] = { [8] = 0xfe, 0xff, 0xff, 0xff, [12] = 7 };
	struct metric_format f = { .name = "t" };

	metric_format_add(&f, "s", METRIC_SIGNED, 4, 1, false);
	metric_format_add(&f, "u", METRIC_UNSIGNED, 4, 4, false);
	assert_int_equal((int64_t)metric_format_number(&f.fields[0], raw, sizeof(raw), 0), -2);
	assert_int_equal(metric_format_number(&f.fields[1], raw, sizeof(raw), 0), 7);
	assert_int_equal(metric_format_number(&f.fields[1], raw, sizeof(raw), 3),
			 0); /* behind it */
	assert_int_equal(metric_format_number(&f.fields[1], raw, 15, 0), 0);
	assert_int_equal(metric_format_number(&f.fields[1], raw, sizeof(raw), 4), 0);
}

static void metricfmt_knows_the_notes_about_instruments(void **state)
{
	static const char *const others[] = {
		"",
		"'",
		"''",
		"'' " METRIC_NOTE_WORDS,
		"'cache'",
		"'cache' is slow",
		"cache " METRIC_NOTE_WORDS,
		"'cache\n' " METRIC_NOTE_WORDS,
		"'cache'\n" METRIC_NOTE_WORDS,
		"no hardware counters here",
		"'a_name_of_24_letters_long' " METRIC_NOTE_WORDS,
	};
	char name[METRIC_NAME_BYTES] = "before";

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		assert_false(metric_format_note(others[i], name));
		assert_string_equal(name, "before");
	}
	assert_true(metric_format_note("'cache' " METRIC_NOTE_WORDS "no tracepoint x", name));
	assert_string_equal(name, "cache");
	assert_true(metric_format_note("'a_name_of_23_letters_xx' " METRIC_NOTE_WORDS, name));
	assert_string_equal(name, "a_name_of_23_letters_xx");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(metricfmt_names_are_plain),
		cmocka_unit_test(metricfmt_fields_are_aligned),
		cmocka_unit_test(metricfmt_reads_what_it_writes),
		cmocka_unit_test(metricfmt_broken_texts_stay_within_bounds),
		cmocka_unit_test(metricfmt_fields_over_one_another_are_refused),
		cmocka_unit_test(metricfmt_histograms_are_numbers_for_each_power_of_two),
		cmocka_unit_test(metricfmt_refuses_what_does_not_fit),
		cmocka_unit_test(metricfmt_numbers_end_with_the_row),
		cmocka_unit_test(metricfmt_knows_the_notes_about_instruments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
