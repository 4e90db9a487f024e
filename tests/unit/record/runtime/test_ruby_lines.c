/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* ruby_lines: by tables written as iseq.c of Ruby 3.1 writes them (tests/lab/runtimes has Ruby's own) */
#include "record/runtime/ruby_lines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bpf/runtime_maps.h"

#define INSTRS 1800
#define NEAR   54

static uint8_t table[RUNTIME_LINES_BYTES];
static uint32_t line_of[INSTRS]; /* the truth */

/* An element of the table that begins at each starts[i]: the counts of those before 54 instructions, then of blocks of 512. */
static void put_counts(const bool *starts)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < NEAR; i++) {
		uint64_t *word = (uint64_t *)(void *)(table + i / 9 * 8);

		count += starts[i];
		*word |= (uint64_t)count << i % 9 * 7;
	}
	for (uint32_t i = NEAR; i < INSTRS; i++) {
		uint32_t at = (i - NEAR) % 512;
		uint64_t *block = (uint64_t *)(void *)(table + 48 + (i - NEAR) / 512 * 80);

		if (!at)
			block[0] = count;
		if (at % 64 == 0 && at)
			block[1] |= (uint64_t)(count - (uint32_t)block[0]) << (at / 64 - 1) * 9;
		count += starts[i];
		block[2 + at / 64] |= (uint64_t)starts[i] << at % 64;
	}
}

/* Returns the size of a table for code of which every seventh word or so begins a line. */
static size_t make(void)
{
	static bool starts[INSTRS];
	uint32_t count = 0;

	memset(table, 0, sizeof(table));
	srand(31);
	for (uint32_t i = 0; i < INSTRS; i++) {
		uint32_t line = (uint32_t)rand() % 5000 + 1;

		starts[i] = !i || (count < 250 && rand() % 7 == 0);
		if (starts[i])
			memcpy(table + RUNTIME_RUBY_INDEX_BYTES + count++ * RUNTIME_RUBY_LINE_BYTES,
			       &line, sizeof(line));
		line_of[i] = starts[i] ? line : line_of[i - 1];
	}
	put_counts(starts);
	return RUNTIME_RUBY_INDEX_BYTES + count * RUNTIME_RUBY_LINE_BYTES;
}

static void each_instruction_has_the_line_that_began_last(void **state)
{
	size_t size = make();

	(void)state;
	assert_int_equal(ruby_lines_find(table, size, 0), line_of[0]);
	for (uint32_t i = 0; i < INSTRS; i++) /* the next one is in the frame */
		if (ruby_lines_find(table, size, i + 1) != line_of[i])
			fail_msg("instruction %u: line %u, not %u", i,
				 ruby_lines_find(table, size, i + 1), line_of[i]);
}

static void code_of_one_line_needs_no_index(void **state)
{
	(void)state;
	memset(table, 0xff, RUNTIME_RUBY_INDEX_BYTES);
	memcpy(table + RUNTIME_RUBY_INDEX_BYTES, (uint32_t[]){ 77 }, 4);
	assert_int_equal(ruby_lines_find(table, RUNTIME_RUBY_INDEX_BYTES + 12, 3), 77);
}

static void tables_that_are_not_complete_have_no_lines(void **state)
{
	size_t size = make();
	uint8_t *copy;

	(void)state;
	assert_int_equal(ruby_lines_find(table, 0, 1), 0);
	assert_int_equal(ruby_lines_find(table, RUNTIME_RUBY_INDEX_BYTES, 1), 0);
	assert_int_equal(ruby_lines_find(table, size, UINT32_MAX), 0);
	/* Fewer lines than the index counts. */
	assert_int_equal(ruby_lines_find(table, RUNTIME_RUBY_INDEX_BYTES + 24, INSTRS), 0);
	for (int fill = 0; fill < 256; fill += 51) {
		copy = malloc(size); /* of its exact size */
		assert_non_null(copy);
		memset(copy, fill, size);
		for (uint32_t i = 0; i < 8000; i++)
			(void)ruby_lines_find(copy, size, i);
		free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_instruction_has_the_line_that_began_last),
		cmocka_unit_test(code_of_one_line_needs_no_index),
		cmocka_unit_test(tables_that_are_not_complete_have_no_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
