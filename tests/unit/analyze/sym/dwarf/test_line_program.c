/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* dwline: rows that are skipped change no answer, whatever ranges and operands look like */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/sym/dwarf/line_program.h"

#define OPCODE_BASE 13
#define LINE_BASE   (-5)
#define LINE_RANGE  14
#define ROWS_MAX    4

/* A special opcode: so many bytes and lines further. */
#define ROW(bytes, lines) (OPCODE_BASE + ((lines)-LINE_BASE) + (bytes)*LINE_RANGE)
#define AT(low)           0, 9, 2, (low)&0xff, (low) >> 8, 0, 0, 0, 0, 0, 0
#define COLUMN(n)         5, (n)
#define FORWARD(bytes)    2, (bytes)
#define LINES(n)          3, (n)
#define COPY              1
#define END               0, 1, 1

struct asked {
	uint64_t vaddr, low;
	uint32_t line; /* 0: none */
};

struct program {
	const char *what;
	uint8_t bytes[96];
	size_t size_bytes;
	struct asked asked[ROWS_MAX];
	size_t count;
};

static const struct program programs[] = {
	{ "the second of two",
	  { AT(0x1000), ROW(0, 1), ROW(4, 2), FORWARD(4), END, COLUMN(3), AT(0x2000), ROW(0, 5),
	    ROW(4, 1), FORWARD(4), END },
	  38,
	  { { 0x2001, 0x2000, 6 }, { 0x2005, 0x2000, 7 } },
	  2 },
	{ "the first of two",
	  { AT(0x1000), ROW(0, 1), ROW(4, 2), FORWARD(4), END, COLUMN(3), AT(0x2000), ROW(0, 5),
	    ROW(4, 1), FORWARD(4), END },
	  38,
	  { { 0x1001, 0x1000, 2 } },
	  1 },
	/*
	 * The skipped part has the bytes of an end in it: a column of 0 and two copies.  Read from there
	 * it would have a row at 0x2001.
	 */
	{ "operands like an end",
	  { AT(0x1000), ROW(0, 1), COLUMN(0), COPY, COPY, 2, 0x81, 0x40, ROW(0, 2), FORWARD(4), END,
	    AT(0x2000), ROW(0, 5), FORWARD(4), END },
	  42,
	  { { 0x2001, 0x2000, 6 } },
	  1 },
	/* The range begins behind its sequence: that is then read after all. */
	{ "ranges that do not fit",
	  { AT(0x1000), ROW(0, 1), ROW(8, 2), FORWARD(8), END },
	  18,
	  { { 0x1009, 0x1008, 4 } },
	  1 },
	{ "two ranges, one sequence",
	  { AT(0x1000), ROW(0, 1), ROW(8, 2), FORWARD(8), END },
	  18,
	  { { 0x1001, 0x1000, 2 }, { 0x1009, 0x1008, 4 } },
	  2 },
	{ "one that no row covers",
	  { AT(0x1000), ROW(0, 1), FORWARD(4), END, AT(0x2000), ROW(0, 5), FORWARD(4), END },
	  34,
	  { { 0x2001, 0x2000, 6 }, { 0x3000, 0x3000, 0 } },
	  2 },
	{ "out of order",
	  { AT(0x2000), ROW(0, 5), FORWARD(4), END, AT(0x1000), ROW(0, 1), FORWARD(4), END },
	  34,
	  { { 0x1001, 0x1000, 2 }, { 0x2001, 0x2000, 6 } },
	  2 },
	/* The linker put two copies of a function into one place. */
	{ "the same twice, the last is right",
	  { AT(0x1000), ROW(0, 1), FORWARD(4), END, AT(0x1000), ROW(0, 5), FORWARD(4), END },
	  34,
	  { { 0x1001, 0x1000, 6 } },
	  1 },
	{ "a row behind a large step of lines",
	  { AT(0x1000), LINES(63), ROW(0, 1), FORWARD(4), END },
	  19,
	  { { 0x1003, 0x1000, 65 } },
	  1 },
};

static void load(struct line_program *l, const struct program *p)
{
	static const uint8_t lengths[OPCODE_BASE] = { 0, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1 };

	*l = (struct line_program){ .version = 4,
				    .unit_step = 1,
				    .line_range = LINE_RANGE,
				    .line_base = LINE_BASE,
				    .opcode_base = OPCODE_BASE,
				    .bytes = (uint8_t *)(uintptr_t)p->bytes,
				    .size_bytes = p->size_bytes };
	memcpy(l->lengths, lengths, sizeof(lengths));
}

static int run(const struct program *p, const struct asked *asked, size_t count,
	       struct line_program_row rows[ROWS_MAX])
{
	struct dw_unit u = { .steps_left = DW_STEPS_MAX, .addr_bytes = 8, .version = 4 };
	uint64_t vaddrs[ROWS_MAX], lows[ROWS_MAX];
	struct line_program l;

	load(&l, p);
	for (size_t i = 0; i < count; i++) {
		vaddrs[i] = asked[i].vaddr;
		lows[i] = asked[i].low;
	}
	memset(rows, 0, ROWS_MAX * sizeof(*rows));
	return line_program_run(&l, &u, &(struct line_program_wanted){ vaddrs, lows, count }, rows);
}

static void assert_line(const struct program *p, const struct asked *a,
			const struct line_program_row *row)
{
	if (row->known != (a->line != 0) || row->line != a->line)
		fail_msg("%s: 0x%lx is in line %u, not %u", p->what, a->vaddr, row->line, a->line);
}

static void dwline_skips_nothing_that_is_asked_for(void **state)
{
	struct line_program_row rows[ROWS_MAX];

	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		const struct program *p = &programs[i];

		assert_int_equal(run(p, p->asked, p->count, rows), 0);
		for (size_t n = 0; n < p->count; n++)
			assert_line(p, &p->asked[n], &rows[n]);
	}
}

static void dwline_answers_for_one_as_for_all(void **state)
{
	struct line_program_row rows[ROWS_MAX];

	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		const struct program *p = &programs[i];

		for (size_t n = 0; n < p->count; n++) {
			assert_int_equal(run(p, &p->asked[n], 1, rows), 0);
			assert_line(p, &p->asked[n], &rows[0]);
		}
	}
}

/* Each program, cut everywhere: an answer or -ENOTSUP, and no byte behind the end is read. */
static void dwline_cut_programs_are_answered_or_unsupported(void **state)
{
	struct line_program_row rows[ROWS_MAX];

	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		struct program p = programs[i];

		for (; p.size_bytes; p.size_bytes--) {
			int err = run(&p, p.asked, p.count, rows);

			assert_true(err == 0 || err == -ENOTSUP);
		}
	}
}

static void dwline_steps_are_bounded(void **state)
{
	static const struct asked asked[] = { { 0x1001, 0x1000, 2 }, { 0x1002, 0x1000, 2 } };
	struct dw_unit u = { .steps_left = 1, .addr_bytes = 8, .version = 4 };
	const uint64_t vaddrs[] = { asked[0].vaddr, asked[1].vaddr };
	const uint64_t lows[] = { 0x1000, 0x1000 };
	struct line_program_row rows[ROWS_MAX] = { 0 };
	struct line_program l;

	load(&l, &programs[1]);
	assert_int_equal(
		line_program_run(&l, &u, &(struct line_program_wanted){ vaddrs, lows, 2 }, rows),
		-ENOTSUP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dwline_skips_nothing_that_is_asked_for),
		cmocka_unit_test(dwline_answers_for_one_as_for_all),
		cmocka_unit_test(dwline_cut_programs_are_answered_or_unsupported),
		cmocka_unit_test(dwline_steps_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
