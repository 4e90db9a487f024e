/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/report/brief.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Owned. */
static char *write_brief(const struct brief *b, size_t *size)
{
	char *text = NULL;
	FILE *to = open_memstream(&text, size);

	assert_non_null(to);
	assert_int_equal(brief_write(b, to), 0);
	assert_int_equal(fclose(to), 0);
	return text;
}

/* All rows that there can be, with that name everywhere. */
static struct brief fill_brief(const char *name)
{
	struct brief b = {
		.facts = { .elapsed_ns = UINT64_MAX,
			   .cpus = UINT64_MAX,
			   .samples = UINT64_MAX,
			   .run_ns = UINT64_MAX,
			   .top_run_ns = UINT64_MAX },
		.host = name,
		.event = name,
		.command = name,
		.words = "FILE",
		.file = "FILE",
		.baseline = "BASELINE",
		.collecting = "gc",
		.swap = "swap",
		.locks = "lock",
		.quality = name,
		.all = UINT64_MAX,
		.has_switches = true,
		.left_out_ns = UINT64_MAX,
		.process_count = BRIEF_ROWS,
		.function_count = BRIEF_ROWS,
		.wait_count = BRIEF_ROWS,
		.change_count = BRIEF_ROWS,
		.more_changes = SIZE_MAX / 2,
	};

	for (size_t i = 0; i < BRIEF_ROWS; i++) {
		b.processes[i] = (struct brief_process){ name, UINT64_MAX, UINT64_MAX };
		b.functions[i] = (struct brief_function){ name, name, UINT64_MAX, UINT64_MAX };
		b.waits[i] = (struct brief_wait){ name,       name,       "uninterruptible",
						  UINT64_MAX, UINT64_MAX, UINT64_MAX };
		b.changes[i] = (struct brief_change){ name, name, 1, 1, INFINITY, 0, INFINITY };
	}
	return b;
}

static void brief_is_never_longer_than_its_bound(void **state)
{
	static const char *const characters[] = { "a",    "`",    "|", "\xf0\x9f\x98\x80",
						  "\n",   "\033", "<", "\xff",
						  "a b\n" };
	enum { TIMES = 3000 };

	for (size_t i = 0; i < sizeof(characters) / sizeof(characters[0]); i++) {
		size_t each = strlen(characters[i]), size;
		char *name = malloc(TIMES * each + 1), *text;
		struct brief b;

		assert_non_null(name);
		for (size_t k = 0; k < TIMES; k++)
			memcpy(name + k * each, characters[i], each);
		name[TIMES * each] = '\0';
		b = fill_brief(name);
		text = write_brief(&b, &size);
		assert_in_range(size, 1, BRIEF_BYTES_MAX);
		assert_int_equal(text[size - 1], '\n');
		assert_null(strchr(text, '\033'));
		free(text);
		free(name);
	}
}

static void brief_short_names_get_all_rows(void **state)
{
	struct brief b = fill_brief("short");
	size_t size, rows = 0;
	char *text;

	b.quality = "stacks: all\n";
	text = write_brief(&b, &size);
	for (const char *at = text; (at = strstr(at, "\n| ")); at++)
		rows++;
	/* and four headings */
	assert_int_equal(rows, 4 * BRIEF_ROWS + 4);
	assert_non_null(strstr(text, "**CPU-bound**: `short` ran "));
	assert_non_null(strstr(text, "What to run next"));
	free(text);
}

static void brief_of_nothing_has_all_headings(void **state)
{
	const struct brief b = { .words = "FILE", .file = "FILE", .quality = "" };
	size_t size;
	char *text = write_brief(&b, &size);

	assert_non_null(
		strstr(text, "**Empty recording**: no sample and no wait (`ebprec info FILE`).\n"));
	assert_non_null(strstr(text, "Nothing ran that was recorded."));
	assert_non_null(strstr(text, "no context switches were recorded."));
	assert_null(strstr(text, "baseline"));
	assert_non_null(strstr(text, "nothing is known to be lost."));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(brief_is_never_longer_than_its_bound),
		cmocka_unit_test(brief_short_names_get_all_rows),
		cmocka_unit_test(brief_of_nothing_has_all_headings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
