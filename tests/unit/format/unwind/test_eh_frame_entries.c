/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* ehframe: entries of all kinds, in any order, cut and broken */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/ehbytes.h"

struct layout {
	const char *name;
	struct {
		uint64_t pc;
		uint32_t size;
		uint8_t off; /* what distinguishes its rule: def_cfa_offset */
	} fde[4];
	const char *rows; /* with the CFA offset only */
};

/* clang-format off */
static const struct layout layouts[] = {
	{ "neighbours with one rule join", { { 0x1000, 16, 8 }, { 0x1010, 16, 8 } }, "1000 8;1020 end" },
	{ "sorted when they are not", { { 0x2000, 16, 16 }, { 0x1000, 16, 8 } },
	  "1000 8;1010 end;2000 16;2010 end" },
	{ "padding keeps the rule", { { 0x1000, 17, 8 }, { 0x1020, 16, 16 } }, "1000 8;1020 16;1030 end" },
	{ "a hole does not", { { 0x1000, 16, 8 }, { 0x1020, 16, 8 } }, "1000 8;1010 end;1020 8;1030 end" },
	{ "dropped code", { { 0, 16, 16 }, { 0x1000, 16, 8 } }, "1000 8;1010 end" },
	{ "empty code", { { 0x1000, 0, 16 }, { 0x1004, 16, 8 } }, "1004 8;1014 end" },
	{ "the later one wins", { { 0x1000, 64, 8 }, { 0x1010, 16, 16 } }, "1000 8;1010 16;1020 end" },
	{ "of equal ones the longest wins", { { 0x1000, 64, 8 }, { 0x1000, 16, 16 } }, "1000 8;1040 end" },
	{ "beyond the range of a signed number", { { 0x7000, 0xffffffff, 8 } }, "7000 8;100006fff end" },
};
/* clang-format on */

static int take_off(void *ctx, uint64_t pc, const struct unwind_rule *rule)
{
	struct rows *rows = ctx;
	size_t n = strlen(rows->text);
	char off[16] = "end";

	if (rule->cfa)
		snprintf(off, sizeof(off), "%d", rule->cfa_off);
	snprintf(rows->text + n, sizeof(rows->text) - n, "%s%llx %s", n ? ";" : "",
		 (unsigned long long)pc, off);
	return 0;
}

static void ranges_become_one_order(void **state)
{
	size_t i, k;

	for (i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		struct section s = { .n = 0 };
		struct rows rows = { .n = 0 };
		struct eh_frame_section section = { .data = s.data, .vaddr = VADDR };

		put_cie(&s, UNWIND_X86_64);
		for (k = 0; k < 4 && layouts[i].fde[k].off; k++) {
			struct bytes ins = BYTES(0x0e, layouts[i].fde[k].off);

			put_fde(&s, layouts[i].fde[k].pc, layouts[i].fde[k].size, &ins);
		}
		section.size_bytes = s.n;
		assert_int_equal(eh_frame_rows(&section, take_off, &rows, NULL, NULL), 0);
		if (strcmp(rows.text, layouts[i].rows) != 0)
			fail_msg("%s:\n got  %s\n want %s", layouts[i].name, rows.text,
				 layouts[i].rows);
	}
}

static void rows_of_the_starts_that_are_asked_for(void **state)
{
	static const uint64_t starts[] = { 0xfff, 0x1000, 0x1038, 0x2000, 0x2001 };
	const struct bytes ins[] = { BYTES(0x0e, 8), BYTES(0x0e, 16), BYTES(0x0e, 24),
				     BYTES(0x0e, 32) };
	struct section s = { .n = 0 };
	struct rows rows = { .n = 0 };
	struct eh_frame_section section = { .data = s.data, .vaddr = VADDR };
	struct eh_frame *frame;

	put_cie(&s, UNWIND_X86_64);
	put_fde(&s, 0x2000, 0x20, &ins[0]);
	put_fde(&s, 0x1000, 0x20, &ins[1]);
	put_fde(&s, 0x1020, 0x20, &ins[2]);
	put_fde(&s, 0x1010, 0x08, &ins[3]);
	section.size_bytes = s.n;
	assert_int_equal(eh_frame_open(&section, &frame, NULL), 0);
	assert_int_equal(eh_frame_rows_at(frame, starts, 5, take_off, &rows), 0);
	assert_string_equal(rows.text, "1000 16;1010 end;2000 8;2020 end");
	rows.text[0] = '\0';
	assert_int_equal(eh_frame_rows_at(frame, starts, 0, take_off, &rows), 0);
	assert_string_equal(rows.text, "");
	eh_frame_close(frame);
}

enum { PAIRS = 1201, STEP = 16 }; /* pairs: prime */

/* The short one of each pair comes first. */
static int check_range(void *ctx, uint64_t pc, uint32_t size_bytes)
{
	uint32_t *count = ctx;

	assert_int_equal(pc, PC + *count / 2 * STEP);
	assert_int_equal(size_bytes, *count % 2 ? 8 : 4);
	++*count;
	return 0;
}

static void many_ranges_ascend_and_of_equal_ones_the_longest_is_last(void **state)
{
	static const struct bytes ins = BYTES(0x0e, 8);
	struct section s = { .n = 0 };
	struct eh_frame_section section = { .data = s.data, .vaddr = VADDR };
	struct eh_frame *frame;
	uint32_t count = 0;

	put_cie(&s, UNWIND_X86_64);
	for (uint32_t i = 0; i < 2 * PAIRS; i++)
		put_fde(&s, PC + i * 7 % PAIRS * STEP, (i < PAIRS) == (i * 7 % PAIRS % 2) ? 8 : 4,
			&ins);
	section.size_bytes = s.n;
	assert_int_equal(eh_frame_open(&section, &frame, NULL), 0);
	assert_int_equal(eh_frame_ranges(frame, check_range, &count), 0);
	assert_int_equal(count, 2 * PAIRS);
	eh_frame_close(frame);
}

struct cie_case {
	const char *name;
	uint8_t version;
	const char *aug;
	struct bytes aug_data;
	uint8_t ra;
	struct bytes ins;
	const char *rows;
	uint32_t broken; /* FDEs without a range */
};

#define INS BYTES(0x0c, 7, 8, 0x90, 1)
/* clang-format off */
static const struct cie_case cie_cases[] = {
	{ "version 3", 3, "zR", BYTES(0x1b), 16, INS, "1000 " START ";1040 end", 0 },
	{ "version 4", 4, "zR", BYTES(0x1b), 16, INS, "1000 " START ";1040 end", 0 },
	{ "personality and LSDA", 1, "zPLR", BYTES(0x9b, 1, 2, 3, 4, 0x1b, 0x1b), 16, INS,
	  "1000 " START ";1040 end", 0 },
	{ "wide personality", 1, "zPLR", BYTES(0, 1, 2, 3, 4, 5, 6, 7, 8, 0x1b, 0x1b), 16, INS,
	  "1000 " START ";1040 end", 0 },
	{ "B and G have no data", 1, "zRBG", BYTES(0x1b), 16, INS, "1000 " START ";1040 end", 0 },
	{ "unknown letter at the end", 1, "zR!", BYTES(0x1b, 9, 9), 16, INS, "1000 " START ";1040 end", 0 },
	{ "signal frame of the kernel", 1, "zRS", BYTES(0x1b), 16,
	  BYTES(0x0f, 4, 0x77, 0xa0, 1, 6, 0x10, 6, 3, 0x77, 0xf8, 0, 0x10, 16, 3, 0x77, 0xa8, 1),
	  "1000 signal;1040 end", 0 },
	{ "signal frame of someone else", 1, "zRS", BYTES(0x1b), 16, INS, "1000 unsupported;1040 end", 0 },
	{ "another return address column", 1, "zR", BYTES(0x1b), 15, INS, "1000 unsupported;1040 end", 0 },
	{ "no CFA at all", 1, "zR", BYTES(0x1b), 16, BYTES(0), "1000 unsupported;1040 end", 0 },
	{ "advance in the CIE", 1, "zR", BYTES(0x1b), 16, BYTES(0x0c, 7, 8, 0x41), "1000 unsupported;1040 end", 0 },
	{ "broken instructions", 1, "zR", BYTES(0x1b), 16, BYTES(0x0c, 7), "1000 unsupported;1040 end", 0 },
	{ "version 2", 2, "zR", BYTES(0x1b), 16, INS, "", 1 },
	{ "unknown augmentation", 1, "q", BYTES(0x1b), 16, INS, "", 1 },
	{ "indirect range", 1, "zR", BYTES(0x9b), 16, INS, "", 1 },
	{ "range relative to data", 1, "zR", BYTES(0x3b), 16, INS, "", 1 },
	{ "range omitted", 1, "zR", BYTES(0xff), 16, INS, "", 1 },
	{ "augmentation data too short", 1, "zPR", BYTES(0x1b), 16, BYTES(0), "", 1 },
};
/* clang-format on */

static void cies_of_all_kinds(void **state)
{
	static const struct bytes none = BYTES(0);
	size_t i;

	for (i = 0; i < sizeof(cie_cases) / sizeof(cie_cases[0]); i++) {
		const struct cie_case *c = &cie_cases[i];
		struct section s = { .n = 0 };
		struct rows rows = { .n = 0 };
		struct eh_frame_stats stats;

		put_cie_full(&s, c->version, c->aug, &c->aug_data, UNWIND_X86_64, c->ra, &c->ins);
		put_fde(&s, PC, SIZE, &none);
		if (run(&s, UNWIND_X86_64, &rows, &stats, NULL) ||
		    strcmp(rows.text, c->rows) != 0 || stats.fdes_broken != c->broken)
			fail_msg("%s: %u broken\n got  %s\n want %s", c->name, stats.fdes_broken,
				 rows.text, c->rows);
	}
}

struct pointer_case {
	uint8_t encoding;
	struct bytes bytes;
	int ret;
	uint64_t value;
};

static void pointers_of_all_encodings(void **state)
{
	static const struct pointer_case cases[] = {
		{ 0x00, BYTES(1, 2, 3, 4, 5, 6, 7, 8), 0, 0x0807060504030201 },
		{ 0x10, BYTES(1, 0, 0, 0, 0, 0, 0, 0), 0, 0x8001 },
		{ 0x01, BYTES(0xe5, 0x8e, 0x26), 0, 624485 },
		{ 0x09, BYTES(0x80, 0x7f), 0, (uint64_t)-128 },
		{ 0x02, BYTES(0xff, 0xff), 0, 0xffff },
		{ 0x0a, BYTES(0xff, 0xff), 0, UINT64_MAX },
		{ 0x03, BYTES(0xff, 0xff, 0xff, 0xff), 0, 0xffffffff },
		{ 0x1b, BYTES(0xff, 0xff, 0xff, 0xff), 0, 0x7fff },
		{ 0x0c, BYTES(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), 0, UINT64_MAX },
		{ 0x00, BYTES(1, 2, 3, 4, 5, 6, 7), -ENODATA, 0 },
		{ 0x01, BYTES(0x80), -ENODATA, 0 },
		{ 0x0b, BYTES(1, 2, 3), -ENODATA, 0 },
		{ 0x05, BYTES(1, 2, 3, 4, 5, 6, 7, 8), -ENOTSUP, 0 },
		{ 0x50, BYTES(1, 2, 3, 4, 5, 6, 7, 8), -ENOTSUP, 0 },
		{ 0x80, BYTES(1, 2, 3, 4, 5, 6, 7, 8), -ENOTSUP, 0 },
		{ 0xff, BYTES(1, 2, 3, 4, 5, 6, 7, 8), -ENOTSUP, 0 },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cursor c = cursor_of(cases[i].bytes.data, cases[i].bytes.n);
		uint64_t value = 0;

		assert_int_equal(cfi_pointer(&c, cases[i].encoding, VADDR, NULL, &value),
				 cases[i].ret);
		assert_int_equal(value, cases[i].value);
	}
}

static void long_entries_of_64_bit_length(void **state)
{
	static const struct bytes none = BYTES(0);
	struct section s = { .n = 0 }, wide = { .n = 0 };
	struct rows rows = { .n = 0 };
	uint32_t n;

	put_cie(&s, UNWIND_X86_64);
	n = (uint32_t)s.n - 4;
	put32(&wide, 0xffffffff);
	put32(&wide, n);
	put32(&wide, 0);
	put(&wide, s.data + 4, n);
	put_fde(&wide, PC, SIZE, &none);
	assert_int_equal(run(&wide, UNWIND_X86_64, &rows, NULL, NULL), 0);
	assert_string_equal(rows.text, "1000 " START ";1040 end");
}

static void zero_words_are_skipped_or_end(void **state)
{
	static const struct bytes none = BYTES(0);
	struct section s = { .n = 0 };
	struct rows rows = { .n = 0 };
	struct eh_frame_section section = { .data = s.data, .vaddr = VADDR, .ends_at_zero = true };

	put_cie(&s, UNWIND_X86_64);
	put_fde(&s, PC, SIZE, &none);
	put32(&s, 0);
	put_fde(&s, PC + SIZE, SIZE, &none);
	put32(&s, 0);
	assert_int_equal(run(&s, UNWIND_X86_64, &rows, NULL, NULL), 0);
	assert_string_equal(rows.text, "1000 " START ";1080 end");

	section.size_bytes = s.n;
	*rows.text = 0;
	assert_int_equal(eh_frame_rows(&section, take, &rows, NULL, NULL), 0);
	assert_string_equal(rows.text, "1000 " START ";1040 end");
}

static void broken_framing_fails_with_its_place(void **state)
{
	static const struct bytes none = BYTES(0);
	struct section s = { .n = 0 };
	struct rows rows = { .n = 0 };
	struct eh_frame_stats stats = { .rows = 77 };
	struct parse_err err = { .what = NULL };
	size_t fde;

	put_cie(&s, UNWIND_X86_64);
	fde = s.n;
	put_fde(&s, PC, SIZE, &none);
	le32_store(s.data + fde, (uint32_t)(s.n - fde - 3));
	assert_int_equal(run(&s, UNWIND_X86_64, &rows, &stats, &err), -ENODATA);
	assert_int_equal(err.offset_bytes, fde);
	assert_string_equal(err.what, "entry goes beyond the section");
	le32_store(s.data + fde, 3);
	assert_int_equal(run(&s, UNWIND_X86_64, &rows, &stats, &err), -EBADMSG);
	assert_string_equal(err.what, "entry too short");
	le32_store(s.data + fde, 0xffffffff);
	assert_int_equal(run(&s, UNWIND_X86_64, &rows, &stats, &err), -ENODATA);
	assert_int_equal(stats.rows, 77);
	assert_string_equal(rows.text, "");
}

static void fde_without_its_cie_covers_nothing(void **state)
{
	static const struct bytes none = BYTES(0);
	struct section s = { .n = 0 };
	struct rows rows = { .n = 0 };
	struct eh_frame_stats stats;
	size_t fde;

	put_cie(&s, UNWIND_X86_64);
	fde = s.n;
	put_fde(&s, PC, SIZE, &none);
	le32_store(s.data + fde + 4, 8); /* into the CIE's middle */
	assert_int_equal(run(&s, UNWIND_X86_64, &rows, &stats, NULL), 0);
	le32_store(s.data + fde + 4, 0x7fffffff); /* before the section */
	assert_int_equal(run(&s, UNWIND_X86_64, &rows, &stats, NULL), 0);
	assert_int_equal(stats.fdes_broken, 1);
	assert_string_equal(rows.text, "");
}

static void every_cut_is_survived(void **state)
{
	/* push rbp; mov rsp, rbp; leave */
	static const struct bytes ins = BYTES(0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x02, 0x20,
					      0x0c, 7, 8, 0xc6);
	struct section s = { .n = 0 }, cut;
	struct rows rows = { .n = 0 };
	size_t i;
	int ret;

	put_cie(&s, UNWIND_X86_64);
	put_fde(&s, PC, SIZE, &ins);
	for (i = 0; i <= s.n; i++) {
		cut = s;
		cut.n = i;
		ret = run(&cut, UNWIND_X86_64, &rows, NULL, NULL);
		assert_true(ret == 0 || ret == -ENODATA);
	}
}

static void header_leads_to_the_section(void **state)
{
	const uint8_t good[] = { 1, 0x1b, 3, 0x3b, 0xfc, 0xff, 0xff, 0xff };
	const uint8_t other[] = { 2, 0x1b, 3, 0x3b, 0, 0, 0, 0 };
	const uint8_t omitted[] = { 1, 0xff, 0xff, 0xff, 0, 0, 0, 0 };
	uint64_t at = 7;

	assert_int_equal(eh_frame_hdr_find(good, sizeof(good), 0x2000, &at), 0);
	assert_int_equal(at, 0x2000);
	assert_int_equal(eh_frame_hdr_find(good, 7, 0x2000, &at), -ENODATA);
	assert_int_equal(eh_frame_hdr_find(good, 3, 0x2000, &at), -ENODATA);
	assert_int_equal(eh_frame_hdr_find(other, sizeof(other), 0x2000, &at), -ENOTSUP);
	assert_int_equal(eh_frame_hdr_find(omitted, sizeof(omitted), 0x2000, &at), -ENOTSUP);
}

static void too_large_is_refused_unread(void **state)
{
	struct eh_frame_section section = { .data = NULL, .size_bytes = EH_FRAME_MAX_BYTES + 1UL };
	struct parse_err err = { .what = NULL };

	assert_int_equal(eh_frame_rows(&section, take, NULL, NULL, &err), -EOVERFLOW);
	assert_string_equal(err.what, "section too large");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges_become_one_order),
		cmocka_unit_test(rows_of_the_starts_that_are_asked_for),
		cmocka_unit_test(many_ranges_ascend_and_of_equal_ones_the_longest_is_last),
		cmocka_unit_test(cies_of_all_kinds),
		cmocka_unit_test(pointers_of_all_encodings),
		cmocka_unit_test(long_entries_of_64_bit_length),
		cmocka_unit_test(zero_words_are_skipped_or_end),
		cmocka_unit_test(broken_framing_fails_with_its_place),
		cmocka_unit_test(fde_without_its_cie_covers_nothing),
		cmocka_unit_test(every_cut_is_survived),
		cmocka_unit_test(header_leads_to_the_section),
		cmocka_unit_test(too_large_is_refused_unread),
	};

	return cmocka_run_group_tests_name("ehframe_entries", tests, NULL, NULL);
}
