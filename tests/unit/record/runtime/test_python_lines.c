/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* python_lines: by tables that six versions of CPython made of one function */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "record/runtime/python_lines.h"

/* From which offset on the line is which, by dis.findlinestarts() and co_positions() of that version. */
struct line {
	uint32_t at, line;
};

/*
 * def f(a) in line 10, with a list over four lines, a loop, a call over two lines, blank lines, and
 * try: finally:.
 */
static const struct made {
	uint32_t version, code_bytes;
	size_t size_bytes, line_count;
	uint8_t table[128];
	struct line lines[20];
} made[] = {
	{ 0x0308,
	  56,
	  22,
	  11,
	  { 0, 2, 2, 1, 6, 254, 4, 4, 8, 1, 4, 1, 4, 1, 2, 255, 6, 4, 2, 1, 8, 2 },
	  { { 0, 12 },
	    { 2, 13 },
	    { 8, 11 },
	    { 12, 15 },
	    { 20, 16 },
	    { 24, 17 },
	    { 28, 18 },
	    { 30, 17 },
	    { 36, 21 },
	    { 38, 22 },
	    { 46, 24 } } },
	{ 0x0309,
	  58,
	  26,
	  13,
	  { 0, 2, 2, 1, 6, 254, 4, 4, 8, 1, 4, 1, 4, 1, 2, 255, 6, 4, 2, 1, 4, 2, 4, 254, 2, 2 },
	  { { 0, 12 },
	    { 2, 13 },
	    { 8, 11 },
	    { 12, 15 },
	    { 20, 16 },
	    { 24, 17 },
	    { 28, 18 },
	    { 30, 17 },
	    { 36, 21 },
	    { 38, 22 },
	    { 42, 24 },
	    { 46, 22 },
	    { 48, 24 } } },
	{ 0x030a,
	  54,
	  24,
	  12,
	  { 2, 2, 6, 1, 4, 254, 8, 4, 4, 1, 4, 1, 2, 1, 4, 255, 2, 128, 2, 4, 4, 1, 12, 2 },
	  { { 0, 12 },
	    { 2, 13 },
	    { 8, 11 },
	    { 12, 15 },
	    { 20, 16 },
	    { 24, 17 },
	    { 28, 18 },
	    { 30, 17 },
	    { 34, 0 },
	    { 36, 21 },
	    { 38, 22 },
	    { 42, 24 } } },
	{ 0x030b,
	  86,
	  96,
	  15,
	  { 128, 0,   224, 8,   9,   216, 8,   9,   136, 65,  137, 5,  240, 5,   3,   9,
	    6,   128, 65,  240, 8,   0,   14,  15,  240, 0,   3,   5,  17,  240, 0,   3,
	    5,   17,  136, 1,   216, 11,  12,  240, 0,   2,   9,   17, 221, 12,  13,  136,
	    97,  216, 14,  15,  241, 3,   1,   13,  17,  244, 0,   1,  13,  17,  240, 0,
	    1,   13,  17,  248, 240, 8,   3,   5,   14,  216, 15,  16, 224, 12,  13,  136,
	    1,   136, 1,   248, 136, 65,  136, 1,   136, 5,   136, 5,  136, 5,   136, 5 },
	  { { 0, 10 },
	    { 2, 12 },
	    { 4, 13 },
	    { 12, 11 },
	    { 16, 15 },
	    { 24, 16 },
	    { 28, 17 },
	    { 42, 18 },
	    { 44, 17 },
	    { 60, 0 },
	    { 62, 21 },
	    { 64, 22 },
	    { 66, 24 },
	    { 72, 0 },
	    { 74, 24 } } },
	{ 0x030d,
	  100,
	  68,
	  16,
	  { 128, 0,  224, 8,   9,  216, 8,   9,   136, 65,  137, 5,   240, 5,  3,   9,   6,
	    128, 65, 243, 8,   0,  14,  15,  136, 1,   223, 11,  12,  136, 49, 220, 12,  13,
	    136, 97, 216, 14,  15, 246, 3,   1,   13,  17,  241, 5,   0,   14, 15,  240, 12,
	    3,   5,  14,  216, 15, 16,  224, 12,  13,  137, 1,   248, 136, 65, 137, 1,   250 },
	  { { 0, 10 },
	    { 2, 12 },
	    { 4, 13 },
	    { 12, 11 },
	    { 16, 15 },
	    { 26, 16 },
	    { 44, 17 },
	    { 56, 18 },
	    { 58, 17 },
	    { 72, 15 },
	    { 76, 21 },
	    { 78, 22 },
	    { 80, 24 },
	    { 86, 0 },
	    { 88, 24 },
	    { 94, 0 } } },
};

static uint32_t expected(const struct made *m, uint32_t at)
{
	uint32_t line = 0;

	for (size_t i = 0; i < m->line_count && m->lines[i].at <= at; i++)
		line = m->lines[i].line;
	return line;
}

static void each_instruction_has_the_line_that_its_python_prints(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
		const struct made *m = &made[i];

		for (uint32_t at = 0; at < m->code_bytes; at += 2) {
			uint32_t line = python_lines_find(m->version, m->table, m->size_bytes, 10,
							  at);

			if (line != expected(m, at))
				fail_msg("%x at %u: line %u, not %u", m->version, at, line,
					 expected(m, at));
		}
	}
}

static void a_place_behind_the_table_has_no_line_from_3_10_on(void **state)
{
	(void)state;
	assert_int_equal(python_lines_find(0x030a, made[2].table, made[2].size_bytes, 10, 1000), 0);
	assert_int_equal(python_lines_find(0x030c, made[3].table, made[3].size_bytes, 10, 1000), 0);
	assert_int_equal(python_lines_find(0x030c, NULL, 0, 10, 0), 0);
}

static void a_table_that_is_cut_or_wild_ends_without_a_line(void **state)
{
	/* A long form whose number never ends, and lines that grow beyond all numbers. */
	uint8_t endless[64], wild[64];

	(void)state;
	memset(endless, 0x7f, sizeof(endless));
	endless[0] = 0xf0;
	memset(wild, 0x3f, sizeof(wild));
	for (size_t i = 0; i < sizeof(wild); i += 2)
		wild[i] = 0xe8;
	assert_int_equal(python_lines_find(0x030b, endless, sizeof(endless), 1, 100), 0);
	assert_int_equal(python_lines_find(0x030b, wild, sizeof(wild), INT32_MIN, 40), 0);
	for (size_t n = 0; n < made[3].size_bytes; n++) {
		uint8_t *exact = malloc(n + 1);

		assert_non_null(exact);
		memcpy(exact, made[3].table, n);
		(void)python_lines_find(0x030b, exact, n, 10, 84);
		free(exact);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_instruction_has_the_line_that_its_python_prints),
		cmocka_unit_test(a_place_behind_the_table_has_no_line_from_3_10_on),
		cmocka_unit_test(a_table_that_is_cut_or_wild_ends_without_a_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
