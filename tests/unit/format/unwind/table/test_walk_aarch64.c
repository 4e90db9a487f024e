/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * Stacks that stored aarch64 programs wrote down of themselves, with the addresses each function
 * noted it would return to as the witness.  Run where no aarch64 is; see fixtures/aarch64/climb.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "format/base/cursor.h"
#include "format/unwind/table/walk.h"
#include "tests/lib/fixtures/aarch64/climb.h"
#include "tests/lib/table_of_file.h"

#define FOLDER     "tests/lib/fixtures/aarch64/"
#define FRAMES     64
#define MOST_BYTES 16384

struct climb {
	struct rule_table *rules;
	struct module_table *table;
	struct climb_head head;
	uint8_t stack[MOST_BYTES];
	bool no_table;
};

static void open_climb(struct climb *c, const char *name)
{
	char path[256];
	FILE *f;

	memset(c, 0, sizeof(*c));
	assert_int_equal(rule_table_new(&c->rules), 0);
	snprintf(path, sizeof(path), FOLDER "%s", name);
	assert_int_equal(table_of_file(path, c->rules, &c->table, NULL), 0);
	snprintf(path, sizeof(path), FOLDER "%s.stack", name);
	f = fopen(path, "re");
	assert_non_null(f);
	assert_int_equal(fread(&c->head, sizeof(c->head), 1, f), 1);
	assert_int_equal(c->head.magic, CLIMB_MAGIC);
	assert_in_range(c->head.stack_bytes, 1000, MOST_BYTES);
	assert_int_equal(fread(c->stack, 1, c->head.stack_bytes, f), c->head.stack_bytes);
	fclose(f);
}

static void close_climb(struct climb *c)
{
	module_table_free(c->table);
	rule_table_free(c->rules);
}

/* The program lies at its own addresses. */
static void look_up(void *ctx, uint64_t pc, struct walk_stack_code *out)
{
	const struct climb *c = ctx;

	out->executable = pc >= 0x400000 && pc < 0x401000;
	out->table = c->no_table ? NULL : c->table;
}

static size_t walk(struct climb *c, size_t stack_bytes, uint64_t *frames, struct stack_result *info)
{
	const struct climb_head *h = &c->head;
	struct walk_stack w = {
		.arch = UNWIND_AARCH64, .lookup = look_up, .ctx = c, .frame_max = FRAMES
	};
	struct unwind_copy copy;
	struct unwind_regs regs;

	unwind_copy_init(&copy, c->stack, stack_bytes, h->sp, NULL, 0);
	unwind_regs_leaf(&regs, h->pc, h->sp, h->fp, h->lr);
	return walk_stack_run(&w, &regs, &copy.mem, frames, info);
}

/* frames[1..n) are the innermost addresses that the program noted. */
static void same_callers(const struct climb *c, const uint64_t *frames, size_t n)
{
	assert_int_equal(frames[0], c->head.pc);
	for (size_t i = 1; i < n; i++)
		assert_int_equal(frames[i], c->head.expected[c->head.expected_count - i]);
}

static void each_stack_is_complete(void **state)
{
	static const char *const names[] = { "plain", "no-fp", "unoptimised", "signed" };
	uint64_t frames[FRAMES];
	struct stack_result info;
	struct climb c;
	size_t n;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		open_climb(&c, names[i]);
		n = walk(&c, c.head.stack_bytes, frames, &info);
		assert_int_equal(c.head.expected_count, 12);
		assert_int_equal(n, 13);
		same_callers(&c, frames, n);
		assert_int_equal(info.why, UNWIND_COMPLETE);
		assert_int_equal(info.how, STACK_RESULT_CFI);
		close_climb(&c);
	}
}

/* Or the test of signed return addresses would be one of plain ones. */
static void the_signed_stack_is_signed(void **state)
{
	size_t count = 0;
	struct climb c;
	uint64_t word;

	open_climb(&c, "signed");
	for (size_t i = 0; i + 8 <= c.head.stack_bytes; i += 8) {
		word = le64_load(c.stack + i);
		count += word >> 48 && (word & 0xffffffff) >> 12 == 0x400;
	}
	assert_in_range(count, 10, 20);
	close_climb(&c);
}

static void a_cut_copy_ends_early_and_has_the_reason(void **state)
{
	uint64_t frames[FRAMES];
	struct stack_result info;
	struct climb c;
	size_t n, last = 0;

	open_climb(&c, "no-fp");
	for (size_t bytes = 0; bytes < c.head.stack_bytes; bytes += 16) {
		n = walk(&c, bytes, frames, &info);
		assert_true(n >= last && n <= 13);
		same_callers(&c, frames, n);
		assert_int_equal(info.why == UNWIND_COMPLETE, n == 13);
		if (n < 13)
			assert_int_equal(info.why, UNWIND_READ_FAULT);
		last = n;
	}
	close_climb(&c);
}

/* The callers are a chain of frame records; a leaf's own return address is in no record. */
static void frame_pointers_lead_to_the_end_without_tables(void **state)
{
	uint64_t frames[FRAMES];
	struct stack_result info;
	struct climb c;
	size_t n;

	open_climb(&c, "plain");
	c.no_table = true;
	n = walk(&c, c.head.stack_bytes, frames, &info);
	assert_int_equal(info.how, STACK_RESULT_FP);
	assert_int_equal(info.why, UNWIND_COMPLETE);
	assert_true(n > 5);
	/* From the first record on, all of them. */
	for (size_t i = 1; i < n; i++)
		assert_int_equal(frames[i], c.head.expected[n - 1 - i]);
	close_climb(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_stack_is_complete),
		cmocka_unit_test(the_signed_stack_is_signed),
		cmocka_unit_test(a_cut_copy_ends_early_and_has_the_reason),
		cmocka_unit_test(frame_pointers_lead_to_the_end_without_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
