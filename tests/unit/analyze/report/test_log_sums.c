/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* log_sums - lines of the journal by unit */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analyze/report/log_sums.h"

static uint32_t text_of(struct string_table *names, const char *text)
{
	uint32_t id;

	assert_int_equal(string_table_add(names, text, strlen(text), &id), 0);
	return id;
}

static void expect_sum(const struct string_table *names, const struct log_sum *sum,
		       const char *unit, uint64_t lines, uint64_t errors, uint64_t warnings)
{
	assert_string_equal(string_table_text(names, sum->unit), unit);
	assert_int_equal(sum->line_count, lines);
	assert_int_equal(sum->error_count, errors);
	assert_int_equal(sum->warning_count, warnings);
}

static void lines_are_counted_by_unit_and_level_and_marks_of_programs_are_not(void **state)
{
	static const struct {
		const char *group, *name;
	} lines[] = {
		{ "program:log:err", "app.service" },
		{ "log:err", "app.service" },
		{ "app", "kernel" },
		{ "log:info", "kernel" },
		{ "log:warning", "db.service" },
		{ "log:crit", "db.service" },
		{ "log:emerg", "db.service" },
		{ "log", "db.service" },
		{ "log:loud", "db.service" },
		{ "log:", "" },
	};
	struct mark list[sizeof(lines) / sizeof(lines[0])] = { 0 };
	struct marks m = { .marks = list, .count = sizeof(lines) / sizeof(lines[0]) };
	struct string_table *names;
	struct log_sum *sums;
	size_t count;

	(void)state;
	assert_int_equal(string_table_new(&names), 0);
	for (size_t i = 0; i < m.count; i++) {
		list[i].group = text_of(names, lines[i].group);
		list[i].name = text_of(names, lines[i].name);
	}
	assert_int_equal(log_sums_make(&m, names, &sums, &count), 0);
	assert_int_equal(count, 4);
	expect_sum(names, &sums[0], "db.service", 4, 2, 1);
	expect_sum(names, &sums[1], "", 1, 0, 0);
	expect_sum(names, &sums[2], "app.service", 1, 1, 0);
	expect_sum(names, &sums[3], "kernel", 1, 0, 0);
	free(sums);
	m.count = 0;
	assert_int_equal(log_sums_make(&m, names, &sums, &count), 0);
	assert_int_equal(count, 0);
	free(sums);
	string_table_free(names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_counted_by_unit_and_level_and_marks_of_programs_are_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
