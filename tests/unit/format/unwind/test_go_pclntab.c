/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "format/base/cursor.h"
#include "format/unwind/go_pclntab.h"

/*
 * A table made by hand: the head, the names, the steps, and the functions with their entries.  The
 * code begins at TEXT.
 */
enum {
	TEXT = 0x401000,
	NAMES_AT = 72,
	STEPS_AT = 256,
	FUNCTIONS_AT = 384,
	ENTRIES_AT = 96, /* from FUNCTIONS_AT */
	ENTRY_BYTES = 44,
	TABLE_BYTES = FUNCTIONS_AT + ENTRIES_AT + 8 * ENTRY_BYTES,
	MAX_ROWS = 32,
};

/* Each function: where it begins, the steps it uses, its flags, its name. */
struct made {
	uint32_t at, steps;
	uint8_t flags;
	uint32_t name;
};

enum { TOP = 1, SP_WRITE = 2, ASM = 4 };
enum { PLAIN = 1, SIGRETURN = 16, MCALL = 48 }; /* names, from NAMES_AT */

/* {change, length}: no frame for 4 bytes, 24 bytes of frame for 16, none for the rest */
static const uint8_t three_steps[] = { 2, 4, 48, 16, 47, 0x80, 1, 0 };
enum { NO_STEPS = 0, THREE_STEPS = 1, ENDLESS_STEP = 40, UNEVEN_STEPS = 48, LONG_NUMBER = 56 };

static const struct made made[] = {
	{ 0, THREE_STEPS, 0, PLAIN },
	{ 0x40, THREE_STEPS, ASM, PLAIN },
	{ 0x80, THREE_STEPS, TOP, PLAIN },
	{ 0xc0, THREE_STEPS, SP_WRITE, PLAIN },
	{ 0x100, THREE_STEPS, SP_WRITE, MCALL },
	{ 0x140, THREE_STEPS, 0, SIGRETURN },
	{ 0x180, NO_STEPS, 0, PLAIN },
	{ 0x1c0, THREE_STEPS, 0, PLAIN },
};
enum { MADE = sizeof(made) / sizeof(made[0]), END = 0x1d0 };

struct table {
	uint8_t data[TABLE_BYTES];
	bool has_start_line;
};

static void put_function(struct table *t, uint32_t i, const struct made *m)
{
	uint8_t *row = t->data + FUNCTIONS_AT + i * 8;
	uint32_t entry = ENTRIES_AT + i * ENTRY_BYTES;
	uint8_t *e = t->data + FUNCTIONS_AT + entry;

	le32_store(row, m->at);
	le32_store(row + 4, entry);
	le32_store(e, m->at);
	le32_store(e + 4, m->name);
	le32_store(e + 16, m->steps);
	e[t->has_start_line ? 41 : 37] = m->flags;
}

static void make_table(struct table *t, bool has_start_line)
{
	static const uint8_t endless[] = { 2, 0, 0 }, uneven[] = { 8, 4, 0 };
	static const uint8_t long_number[] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1 };
	uint8_t *d = t->data;

	memset(t, 0, sizeof(*t));
	t->has_start_line = has_start_line;
	le32_store(d, has_start_line ? 0xfffffff1 : 0xfffffff0);
	d[6] = 1;
	d[7] = 8;
	le64_store(d + 8, MADE);
	le64_store(d + 24, TEXT);
	le64_store(d + 32, NAMES_AT);
	le64_store(d + 56, STEPS_AT);
	le64_store(d + 64, FUNCTIONS_AT);
	strcpy((char *)d + NAMES_AT + PLAIN, "main.main");
	strcpy((char *)d + NAMES_AT + SIGRETURN, "runtime.sigreturn__sigaction");
	strcpy((char *)d + NAMES_AT + MCALL, "runtime.mcall");
	memcpy(d + STEPS_AT + THREE_STEPS, three_steps, sizeof(three_steps));
	memcpy(d + STEPS_AT + ENDLESS_STEP, endless, sizeof(endless));
	memcpy(d + STEPS_AT + UNEVEN_STEPS, uneven, sizeof(uneven));
	memcpy(d + STEPS_AT + LONG_NUMBER, long_number, sizeof(long_number));
	for (uint32_t i = 0; i < MADE; i++)
		put_function(t, i, &made[i]);
	le32_store(d + FUNCTIONS_AT + MADE * 8, END);
}

struct row {
	uint64_t pc, end_pc;
	int off, fp; /* off: of the CFA, or minus the kind of rule */
};

struct rows {
	struct row row[MAX_ROWS];
	uint32_t count;
};

static int see(void *ctx, uint64_t pc, uint64_t end_pc, const struct unwind_rule *rule)
{
	struct rows *r = ctx;

	assert_true(r->count < MAX_ROWS);
	assert_true(pc < end_pc);
	assert_true(!r->count || pc >= r->row[r->count - 1].end_pc);
	r->row[r->count++] = (struct row){ pc, end_pc,
					   rule->cfa == UNWIND_CFA_SP ? rule->cfa_off
								      : -(int)rule->cfa,
					   (int)unwind_fp_how(rule) };
	return 0;
}

/* From a copy of just that size, so that a sanitizer sees what is read behind it. */
static int read_rows(const struct table *t, size_t size_bytes, uint64_t text_vaddr,
		     struct rows *rows)
{
	struct go_pclntab table = { .size_bytes = size_bytes, .text_vaddr = text_vaddr };
	uint8_t *copy = malloc(size_bytes ? size_bytes : 1);
	int err;

	assert_non_null(copy);
	memcpy(copy, t->data, size_bytes);
	table.data = copy;
	memset(rows, 0, sizeof(*rows));
	err = go_pclntab_rows(&table, see, rows);
	free(copy);
	return err;
}

static void check_rows(const struct rows *rows, uint64_t text)
{
	static const struct row want[] = {
		{ 0, 4, 8, UNWIND_FP_SAME },
		{ 4, 20, 32, UNWIND_FP_CFA },
		{ 20, 0x40, 8, UNWIND_FP_SAME },
		{ 0x40, 0x44, 8, UNWIND_FP_SAME },
		{ 0x44, 0x54, 32, UNWIND_FP_LOST },
		{ 0x54, 0x80, 8, UNWIND_FP_SAME },
		{ 0x80, 0xc0, -UNWIND_CFA_RA_UNDEF, 0 },
		{ 0x100, 0x140, -UNWIND_CFA_RA_UNDEF, 0 },
		{ 0x1c0, 0x1c4, 8, UNWIND_FP_SAME },
		{ 0x1c4, 0x1d0, 32, UNWIND_FP_CFA }, /* where the code ends */
	};
	uint32_t i;

	assert_int_equal(rows->count, sizeof(want) / sizeof(want[0]));
	for (i = 0; i < rows->count; i++) {
		const struct row *r = &rows->row[i];

		if (r->pc - text != want[i].pc || r->end_pc - text != want[i].end_pc ||
		    r->off != want[i].off || r->fp != want[i].fp)
			fail_msg("row %u: %#llx-%#llx %d %d", i, (unsigned long long)r->pc,
				 (unsigned long long)r->end_pc, r->off, r->fp);
	}
}

static void rows_of_both_versions(void **state)
{
	struct table t;
	struct rows rows;

	(void)state;
	for (int has_start_line = 0; has_start_line < 2; has_start_line++) {
		make_table(&t, has_start_line);
		assert_int_equal(read_rows(&t, TABLE_BYTES, 0x7000, &rows), 0);
		check_rows(&rows, TEXT); /* rows of the table come first */
	}
}

static int see_aarch64(void *ctx, uint64_t pc, uint64_t end_pc, const struct unwind_rule *rule)
{
	int ra_words = rule->fp_words + (rule->fp_ra >> UNWIND_RA_SHIFT) - UNWIND_RA_SAME_WORD;
	char *text = ctx;
	size_t n = strlen(text);

	if (rule->cfa != UNWIND_CFA_SP || n > 400)
		return 0;
	if (rule->fp_ra >> UNWIND_RA_SHIFT == UNWIND_RA_DEFAULT)
		snprintf(text + n, 500 - n, "%x-%x:lr ", (unsigned)(pc - TEXT),
			 (unsigned)(end_pc - TEXT));
	else
		snprintf(text + n, 500 - n, "%x-%x:+%d ra %d %s%d ", (unsigned)(pc - TEXT),
			 (unsigned)(end_pc - TEXT), rule->cfa_off, ra_words * 8,
			 unwind_fp_how(rule) == UNWIND_FP_CFA ? "fp " : "no fp ",
			 rule->fp_words * 8);
	return 0;
}

/* Its code counts in words, its return address is at the stack pointer, and x29 below that. */
static void rows_of_aarch64(void **state)
{
	char text[512] = "";
	struct table t;
	struct go_pclntab table = { .data = t.data, .size_bytes = TABLE_BYTES };

	(void)state;
	make_table(&t, true);
	t.data[6] = 4;
	assert_int_equal(go_pclntab_rows(&table, see_aarch64, text), 0);
	assert_string_equal(text,
			    "0-10:lr 10-40:+24 ra -24 fp -32 40-50:lr 50-80:+24 ra -24 no fp -24 "
			    "1c0-1d0:lr ");
}

static void code_is_at_the_address_of_its_module(void **state)
{
	struct table t;
	struct rows rows;

	(void)state;
	make_table(&t, true);
	le64_store(t.data + 24, 0);
	assert_int_equal(read_rows(&t, TABLE_BYTES, 0x7000, &rows), 0);
	check_rows(&rows, 0x7000);
	assert_int_equal(read_rows(&t, TABLE_BYTES, 0, &rows), -ENOTSUP);
	assert_int_equal(rows.count, 0);
}

static void broken_tables_fail(void **state)
{
	static const struct {
		uint32_t at, bytes;
		uint64_t value;
		int err;
	} cases[] = {
		{ 0, 4, 0xfffffffb, -ENOTSUP }, /* Go 1.2 */
		{ 0, 4, 0xfffffffa, -ENOTSUP }, /* Go 1.16 */
		{ 0, 4, 0xf1ffffff, -ENOTSUP },
		{ 4, 1, 1, -ENOTSUP },
		{ 6, 1, 2, -ENOTSUP }, /* s390x */
		{ 7, 1, 4, -ENOTSUP },
		{ 8, 8, UINT64_MAX, -EOVERFLOW },
		{ 8, 8, GO_PCLNTAB_MAX_FUNCTIONS, -ENODATA },
		{ 24, 8, UINT64_MAX, -EBADMSG },
		{ 32, 8, UINT64_MAX, -EBADMSG },
		{ 56, 8, TABLE_BYTES + 1, -EBADMSG },
		{ 64, 8, TABLE_BYTES + 1, -EBADMSG },
		{ 64, 8, TABLE_BYTES - 4, -ENODATA },
		{ FUNCTIONS_AT + 8, 4, 0x81, -EBADMSG }, /* behind the next */
		{ FUNCTIONS_AT + MADE * 8, 4, 0, -EBADMSG },
	};
	struct table t;
	struct rows rows;
	uint8_t value[8];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		make_table(&t, true);
		le64_store(value, cases[i].value);
		memcpy(t.data + cases[i].at, value, cases[i].bytes);
		if (read_rows(&t, TABLE_BYTES, 0, &rows) != cases[i].err)
			fail_msg("case %zu", i);
	}
}

/* A broken function has no rows, or those before what is broken; the others keep theirs. */
static void broken_functions_have_no_rows(void **state)
{
	static const struct {
		uint32_t steps, count;
	} cases[] = { { ENDLESS_STEP, 0 },
		      { UNEVEN_STEPS, 0 },
		      { LONG_NUMBER, 0 },
		      { UINT32_MAX, 0 },
		      { TABLE_BYTES - STEPS_AT, 0 } };
	struct table t;
	struct rows rows;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct made broken = { 0, cases[i].steps, 0, PLAIN };

		make_table(&t, true);
		put_function(&t, 0, &broken);
		assert_int_equal(read_rows(&t, TABLE_BYTES, 0, &rows), 0);
		assert_int_equal(rows.count, 7 + cases[i].count);
	}
	make_table(&t, true);
	le32_store(t.data + FUNCTIONS_AT + 4, UINT32_MAX); /* its entry lies nowhere */
	assert_int_equal(read_rows(&t, TABLE_BYTES, 0, &rows), 0);
	assert_int_equal(rows.count, 7);
}

static void every_cut_is_survived(void **state)
{
	struct table t;
	struct rows rows;
	size_t n;

	(void)state;
	make_table(&t, true);
	for (n = 0; n < FUNCTIONS_AT + MADE * 8 + 4; n++)
		assert_true(read_rows(&t, n, 0, &rows) < 0);
	for (; n < TABLE_BYTES; n++)
		assert_int_equal(read_rows(&t, n, 0, &rows), 0);
}

static int refuse(void *ctx, uint64_t pc, uint64_t end_pc, const struct unwind_rule *rule)
{
	(void)pc;
	(void)end_pc;
	(void)rule;
	++*(int *)ctx;
	return -ENOMEM;
}

static void what_the_reader_returns_ends_it(void **state)
{
	struct table t;
	int count = 0;

	(void)state;
	make_table(&t, true);
	assert_int_equal(
		go_pclntab_rows(&(struct go_pclntab){ .data = t.data, .size_bytes = TABLE_BYTES },
				refuse, &count),
		-ENOMEM);
	assert_int_equal(count, 1);
}

/* ---- names ---- */

struct named {
	uint64_t pc, end_pc;
	char name[32];
};

struct functions {
	struct named list[MAX_ROWS];
	uint32_t count;
	int answer;
};

static int see_function(void *ctx, uint64_t pc, uint64_t end_pc, const char *name)
{
	struct functions *f = ctx;
	struct named *n = &f->list[f->count++];

	assert_true(f->count <= MAX_ROWS);
	assert_true(strlen(name) < sizeof(n->name));
	n->pc = pc;
	n->end_pc = end_pc;
	strcpy(n->name, name);
	return f->answer;
}

static int read_functions(const struct table *t, size_t size_bytes, struct functions *f)
{
	struct go_pclntab table = { .size_bytes = size_bytes };
	uint8_t *copy = malloc(size_bytes ? size_bytes : 1);
	int err;

	assert_non_null(copy);
	memcpy(copy, t->data, size_bytes);
	table.data = copy;
	f->count = 0;
	err = go_pclntab_functions(&table, see_function, f);
	free(copy);
	return err;
}

static void functions_have_their_names(void **state)
{
	struct functions f = { 0 };
	struct table t;

	(void)state;
	for (int has_start_line = 0; has_start_line < 2; has_start_line++) {
		make_table(&t, has_start_line);
		assert_int_equal(read_functions(&t, TABLE_BYTES, &f), 0);
		assert_int_equal(f.count, MADE);
		for (uint32_t i = 0; i < MADE; i++) {
			uint32_t end = i + 1 < MADE ? made[i + 1].at : END;
			const char *name = (const char *)t.data + NAMES_AT + made[i].name;

			assert_int_equal(f.list[i].pc, TEXT + made[i].at);
			assert_int_equal(f.list[i].end_pc, TEXT + end);
			assert_string_equal(f.list[i].name, name);
		}
	}
}

/* No text, outside of the table, no end in the table, no end within the limit, or no entry. */
static void functions_with_a_broken_name_are_left_out(void **state)
{
	static const uint32_t names[] = { 0, UINT32_MAX, TABLE_BYTES - NAMES_AT,
					  TABLE_BYTES - NAMES_AT - 1 };
	struct functions f = { 0 };
	struct table t;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct made broken = { 0, THREE_STEPS, 0, names[i] };

		make_table(&t, true);
		put_function(&t, 0, &broken);
		t.data[TABLE_BYTES - 1] = 'x';
		assert_int_equal(read_functions(&t, TABLE_BYTES, &f), 0);
		assert_int_equal(f.count, MADE - 1);
		assert_int_equal(f.list[0].pc, TEXT + made[1].at);
	}
	make_table(&t, true);
	le32_store(t.data + FUNCTIONS_AT + 4, UINT32_MAX);
	assert_int_equal(read_functions(&t, TABLE_BYTES, &f), 0);
	assert_int_equal(f.count, MADE - 1);
}

static void a_name_without_end_is_not_read_on_and_on(void **state)
{
	const uint32_t size_bytes = TABLE_BYTES + GO_PCLNTAB_MAX_NAME_BYTES + 1;
	struct go_pclntab table = { .size_bytes = size_bytes };
	struct functions f = { 0 };
	uint8_t *bytes = calloc(1, size_bytes);
	struct table t;

	(void)state;
	assert_non_null(bytes);
	make_table(&t, true);
	put_function(&t, 0, &(struct made){ 0, THREE_STEPS, 0, TABLE_BYTES - NAMES_AT });
	memcpy(bytes, t.data, TABLE_BYTES);
	memset(bytes + TABLE_BYTES, 'x', GO_PCLNTAB_MAX_NAME_BYTES);
	table.data = bytes;
	assert_int_equal(go_pclntab_functions(&table, see_function, &f), 0);
	assert_int_equal(f.count, MADE - 1);
	free(bytes);
}

static void functions_of_broken_tables_fail(void **state)
{
	struct functions f = { 0 };
	struct table t;
	size_t n;

	(void)state;
	make_table(&t, true);
	for (n = 0; n < FUNCTIONS_AT + MADE * 8 + 4; n++)
		assert_true(read_functions(&t, n, &f) < 0);
	for (; n < TABLE_BYTES; n++)
		assert_int_equal(read_functions(&t, n, &f), 0);
	le32_store(t.data + FUNCTIONS_AT + 2 * 8, 0x20); /* before the one before */
	assert_int_equal(read_functions(&t, TABLE_BYTES, &f), -EBADMSG);
	make_table(&t, true);
	f.answer = -ENOMEM;
	assert_int_equal(read_functions(&t, TABLE_BYTES, &f), -ENOMEM);
	assert_int_equal(f.count, 1);
}

/* ---- lines ---- */

enum { FILES_AT = 200, UNITS_AT = 168, FILE_STEPS = 80, LINE_STEPS = 96 };

/* The first function: file 0 for 8 bytes, then file 1; lines 10, 7 from byte 4 on, 300 from byte 16 on. */
static void put_lines(struct table *t)
{
	static const uint8_t files[] = { 2, 8, 2, 0x38, 0 };
	static const uint8_t lines[] = { 22, 4, 5, 12, 0xca, 4, 0x30, 0 };
	uint8_t *d = t->data, *e = d + FUNCTIONS_AT + ENTRIES_AT;

	le64_store(d + 40, UNITS_AT);
	le64_store(d + 48, FILES_AT);
	strcpy((char *)d + FILES_AT, "/src/a.go");
	strcpy((char *)d + FILES_AT + 16, "/src/b.go");
	le32_store(d + UNITS_AT + 8, 0); /* the third of the list is the unit's first */
	le32_store(d + UNITS_AT + 12, 16);
	memcpy(d + STEPS_AT + FILE_STEPS, files, sizeof(files));
	memcpy(d + STEPS_AT + LINE_STEPS, lines, sizeof(lines));
	le32_store(e + 20, FILE_STEPS);
	le32_store(e + 24, LINE_STEPS);
	le32_store(e + 32, 2);
}

static int line_of(const struct table *t, size_t size_bytes, uint64_t pc, uint64_t steps,
		   char text[40])
{
	struct go_pclntab table = { .size_bytes = size_bytes };
	uint8_t *copy = malloc(size_bytes ? size_bytes : 1);
	struct go_pclntab_line at;
	int err;

	assert_non_null(copy);
	memcpy(copy, t->data, size_bytes);
	table.data = copy;
	err = go_pclntab_line(&table, pc, &steps, &at);
	*text = '\0';
	if (!err)
		snprintf(text, 40, "%s:%u", at.file, at.line);
	free(copy);
	return err;
}

static void lines_are_those_of_their_step(void **state)
{
	static const struct {
		uint64_t pc;
		const char *text;
	} cases[] = {
		{ TEXT, "/src/a.go:10" },       { TEXT + 3, "/src/a.go:10" },
		{ TEXT + 4, "/src/a.go:7" },    { TEXT + 7, "/src/a.go:7" },
		{ TEXT + 8, "/src/b.go:7" },    { TEXT + 15, "/src/b.go:7" },
		{ TEXT + 16, "/src/b.go:300" }, { TEXT + 63, "/src/b.go:300" },
	};
	static const uint64_t none[] = { 0, TEXT - 1, TEXT + 0x40, TEXT + END, UINT64_MAX };
	struct table t;
	char text[40];

	(void)state;
	for (int has_start_line = 0; has_start_line < 2; has_start_line++) {
		make_table(&t, has_start_line);
		put_lines(&t);
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			assert_int_equal(line_of(&t, TABLE_BYTES, cases[i].pc, 5, text), 0);
			assert_string_equal(text, cases[i].text);
		}
		for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
			assert_int_equal(line_of(&t, TABLE_BYTES, none[i], 5, text), -ENOENT);
	}
	/* Two steps of the one table and three of the other are needed, and no more are taken. */
	assert_int_equal(line_of(&t, TABLE_BYTES, TEXT + 16, 4, text), -ENOENT);
	assert_int_equal(line_of(&t, TABLE_BYTES, TEXT + 16, 0, text), -ENOENT);
}

static void broken_lines_are_none(void **state)
{
	static const struct {
		uint32_t at, bytes;
		uint64_t value;
	} cases[] = {
		{ 40, 8, UINT64_MAX },
		{ 40, 8, TABLE_BYTES - 4 },
		{ 48, 8, UINT64_MAX },
		{ 48, 8, FILES_AT + 9 }, /* no text */
		{ UNITS_AT + 8, 4, UINT32_MAX },
		{ UNITS_AT + 8, 4, TABLE_BYTES },
		{ FUNCTIONS_AT + 4, 4, UINT32_MAX },
		{ FUNCTIONS_AT + 8, 4, 0 }, /* it ends where it begins */
		{ FUNCTIONS_AT + ENTRIES_AT + 20, 4, 0 },
		{ FUNCTIONS_AT + ENTRIES_AT + 20, 4, UINT32_MAX },
		{ FUNCTIONS_AT + ENTRIES_AT + 20, 4, ENDLESS_STEP },
		{ FUNCTIONS_AT + ENTRIES_AT + 20, 4, LONG_NUMBER },
		{ FUNCTIONS_AT + ENTRIES_AT + 24, 4, 0 },
		{ FUNCTIONS_AT + ENTRIES_AT + 24, 4, TABLE_BYTES - STEPS_AT },
		{ FUNCTIONS_AT + ENTRIES_AT + 32, 4, UINT32_MAX },
		{ STEPS_AT + FILE_STEPS, 1, 1 }, /* file -2 */
		{ STEPS_AT + LINE_STEPS, 1, 2 }, /* line 0 */
		{ STEPS_AT + LINE_STEPS, 1, 1 }, /* line -2 */
		{ STEPS_AT + LINE_STEPS, 1, 0 }, /* line -1 */
	};
	struct table t;
	uint8_t value[8];
	char text[40];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		make_table(&t, true);
		put_lines(&t);
		le64_store(value, cases[i].value);
		memcpy(t.data + cases[i].at, value, cases[i].bytes);
		if (line_of(&t, TABLE_BYTES, TEXT, 1000, text) != -ENOENT)
			fail_msg("case %zu: %s", i, text);
	}
	make_table(&t, true);
	put_lines(&t);
	for (size_t n = 0; n < FUNCTIONS_AT + ENTRIES_AT + ENTRY_BYTES - 2; n++)
		assert_true(line_of(&t, n, TEXT, 1000, text) < 0);
	for (size_t n = 0; n < 72; n++) {
		make_table(&t, true);
		put_lines(&t);
		t.data[n] ^= 0xff;
		(void)line_of(&t, TABLE_BYTES, TEXT, 1000, text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_of_both_versions),
		cmocka_unit_test(rows_of_aarch64),
		cmocka_unit_test(code_is_at_the_address_of_its_module),
		cmocka_unit_test(broken_tables_fail),
		cmocka_unit_test(broken_functions_have_no_rows),
		cmocka_unit_test(every_cut_is_survived),
		cmocka_unit_test(what_the_reader_returns_ends_it),
		cmocka_unit_test(functions_have_their_names),
		cmocka_unit_test(functions_with_a_broken_name_are_left_out),
		cmocka_unit_test(a_name_without_end_is_not_read_on_and_on),
		cmocka_unit_test(functions_of_broken_tables_fail),
		cmocka_unit_test(lines_are_those_of_their_step),
		cmocka_unit_test(broken_lines_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
