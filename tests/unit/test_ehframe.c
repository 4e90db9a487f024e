/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "format/cursor.h"
#include "format/ehframe.h"

/*
 * Sections are put together from bytes: a CIE, then FDEs with pcrel | sdata4 ranges.  Rows come
 * back as text, "1000 cfa=sp+8 fp=same ra=[cfa-8];1040 end".
 */
enum { VADDR = 0x8000, PC = 0x1000, SIZE = 0x40 };

struct section {
	uint8_t data[8192];
	size_t n;
	size_t cie; /* offset of the CIE the next FDE uses */
};

struct bytes {
	uint8_t data[64];
	uint8_t n;
};

#define BYTES(...)                                                               \
	{                                                                        \
		.data = { __VA_ARGS__ }, .n = sizeof((uint8_t[]){ __VA_ARGS__ }) \
	}

static const struct bytes x86_initial = BYTES(0x0c, 7, 8, 0x90, 1);
static const struct bytes arm_initial = BYTES(0x0c, 31, 0);

static void put(struct section *s, const void *data, size_t n)
{
	assert_true(s->n + n <= sizeof(s->data));
	if (n)
		memcpy(s->data + s->n, data, n);
	s->n += n;
}

static void put32(struct section *s, uint32_t v)
{
	uint8_t b[4];

	le32_store(b, v);
	put(s, b, 4);
}

static void finish(struct section *s, size_t start)
{
	le32_store(s->data + start, (uint32_t)(s->n - start - 4));
}

static void put_cie_full(struct section *s, uint8_t version, const char *aug,
			 const struct bytes *aug_data, enum unwind_arch arch, uint8_t ra,
			 const struct bytes *ins)
{
	const uint8_t align[] = { arch == UNWIND_AARCH64 ? 4 : 1, 0x78 };
	const uint8_t sizes[] = { 8, 0 };

	s->cie = s->n;
	put32(s, 0);
	put32(s, 0);
	put(s, &version, 1);
	put(s, aug, strlen(aug) + 1);
	if (version == 4)
		put(s, sizes, 2);
	put(s, align, 2);
	put(s, &ra, 1);
	if (*aug == 'z') {
		put(s, &aug_data->n, 1);
		put(s, aug_data->data, aug_data->n);
	}
	put(s, ins->data, ins->n);
	finish(s, s->cie);
}

static void put_cie(struct section *s, enum unwind_arch arch)
{
	static const struct bytes encoding = BYTES(0x1b);

	put_cie_full(s, 1, "zR", &encoding, arch, arch == UNWIND_AARCH64 ? 30 : 16,
		     arch == UNWIND_AARCH64 ? &arm_initial : &x86_initial);
}

static void put_fde(struct section *s, uint64_t pc, uint32_t size, const struct bytes *ins)
{
	size_t start = s->n;
	const uint8_t no_aug = 0;

	put32(s, 0);
	put32(s, (uint32_t)(s->n - s->cie));
	put32(s, pc ? (uint32_t)(pc - (VADDR + s->n)) : 0);
	put32(s, size);
	put(s, &no_aug, 1);
	put(s, ins->data, ins->n);
	finish(s, start);
}

struct rows {
	enum unwind_arch arch;
	char text[4096];
	uint32_t n, stop_after;
};

static int take(void *ctx, uint64_t pc, const struct unwind_rule *rule)
{
	struct rows *rows = ctx;
	size_t n = strlen(rows->text);
	char text[128];

	if (rows->stop_after && rows->n == rows->stop_after)
		return -ECANCELED;
	unwind_rule_text(rows->arch, rule, text, sizeof(text));
	snprintf(rows->text + n, sizeof(rows->text) - n, "%s%llx %s", n ? ";" : "",
		 (unsigned long long)pc, text);
	rows->n++;
	return 0;
}

static int run(const struct section *s, enum unwind_arch arch, struct rows *rows,
	       struct ehframe_stats *stats, struct parse_err *err)
{
	/* exactly as large as it is, so that a sanitizer sees a read beyond */
	uint8_t *copy = malloc(s->n ? s->n : 1);
	struct ehframe_section section = {
		.data = copy,
		.size_bytes = s->n,
		.vaddr = VADDR,
		.arch = arch,
	};
	int ret;

	assert_non_null(copy);
	memcpy(copy, s->data, s->n);
	*rows = (struct rows){ .arch = arch, .stop_after = rows->stop_after };
	ret = ehframe_rows(&section, take, rows, stats, err);
	free(copy);
	return ret;
}

struct program {
	const char *name;
	enum unwind_arch arch;
	struct bytes ins;
	const char *rows;
};

#define START         "cfa=sp+8 fp=same ra=[cfa-8]"
#define BROKEN_AT(pc) "1000 " START ";" pc " unsupported;1040 end"

/* clang-format off */
static const struct program good_programs[] = {
	{ "nothing", UNWIND_X86_64, BYTES(0), "1000 " START ";1040 end" },
	{ "push rbp; mov rsp, rbp; leave", UNWIND_X86_64,
	  BYTES(0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x02, 0x20, 0x0c, 7, 8, 0xc6),
	  "1000 " START ";1001 cfa=sp+16 fp=[cfa-16] ra=[cfa-8];1004 cfa=fp+16 fp=[cfa-16] "
	  "ra=[cfa-8];1024 " START ";1040 end" },
	{ "registers of no interest make no rows", UNWIND_X86_64, BYTES(0x41, 0x83, 3, 0x41, 0x8c, 4),
	  "1000 " START ";1040 end" },
	{ "advances of all sizes", UNWIND_X86_64,
	  BYTES(0x02, 1, 0x0e, 16, 0x03, 2, 0, 0x0e, 24, 0x04, 3, 0, 0, 0, 0x0e, 32, 0x1d, 4, 0, 0, 0,
		0, 0, 0, 0, 0x0e, 40),
	  "1000 " START ";1001 cfa=sp+16 fp=same ra=[cfa-8];1003 cfa=sp+24 fp=same ra=[cfa-8];1006 "
	  "cfa=sp+32 fp=same ra=[cfa-8];100a cfa=sp+40 fp=same ra=[cfa-8];1040 end" },
	{ "remember and restore hold the CFA", UNWIND_X86_64,
	  BYTES(0x41, 0x0e, 16, 0x41, 0x0a, 0x0e, 32, 0x41, 0x0b),
	  "1000 " START ";1001 cfa=sp+16 fp=same ra=[cfa-8];1002 cfa=sp+32 fp=same "
	  "ra=[cfa-8];1003 cfa=sp+16 fp=same ra=[cfa-8];1040 end" },
	{ "restore goes back to the CIE", UNWIND_X86_64,
	  BYTES(0x07, 6, 0x41, 0x06, 6),
	  "1000 cfa=sp+8 fp=lost ra=[cfa-8];1001 " START ";1040 end" },
	{ "args_size is skipped", UNWIND_X86_64, BYTES(0x41, 0x2e, 0x80, 1, 0x0e, 16),
	  "1000 " START ";1001 cfa=sp+16 fp=same ra=[cfa-8];1040 end" },
	{ "PLT", UNWIND_X86_64,
	  BYTES(0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3a, 0x2a, 0x33, 0x24, 0x22),
	  "1000 cfa=plt(10) fp=same ra=[cfa-8];1040 end" },
	{ "realigned frame", UNWIND_X86_64, BYTES(0x0f, 3, 0x76, 0x58, 6, 0x10, 6, 2, 0x76, 0),
	  "1000 cfa=[fp-40]+0 fp=[fp+0] ra=[cfa-8];1040 end" },
	{ "dereference and add", UNWIND_X86_64, BYTES(0x0f, 6, 0x77, 0xd8, 1, 6, 0x23, 8),
	  "1000 cfa=[sp+216]+8 fp=same ra=[cfa-8];1040 end" },
	{ "dereference and add a literal", UNWIND_X86_64, BYTES(0x0f, 5, 0x77, 16, 6, 0x38, 0x22),
	  "1000 cfa=[sp+16]+8 fp=same ra=[cfa-8];1040 end" },
	{ "another register", UNWIND_X86_64, BYTES(0x0c, 10, 0), "1000 cfa=r10+0 fp=same ra=[cfa-8];1040 end" },
	{ "return address in a register", UNWIND_X86_64, BYTES(0x41, 0x0e, 0, 0x09, 16, 5),
	  "1000 " START ";1001 cfa=sp+0 fp=same ra=r5;1040 end" },
	{ "outermost", UNWIND_X86_64, BYTES(0x07, 16), "1000 outermost;1040 end" },
	{ "signed offsets", UNWIND_X86_64, BYTES(0x12, 7, 0x7e, 0x11, 6, 2, 0x41, 0x13, 0x7d),
	  "1000 cfa=sp+16 fp=[cfa-16] ra=[cfa-8];1001 cfa=sp+24 fp=[cfa-16] ra=[cfa-8];1040 end" },
	{ "negative_offset_extended", UNWIND_X86_64, BYTES(0x2f, 6, 2),
	  "1000 cfa=sp+8 fp=[cfa+16] ra=[cfa-8];1040 end" },
	{ "set_loc", UNWIND_X86_64, BYTES(0x01, 0xe8, 0x8f, 0xff, 0xff, 0x0e, 16),
	  "1000 " START ";1010 cfa=sp+16 fp=same ra=[cfa-8];1040 end" },
	{ "advance beyond the end", UNWIND_X86_64, BYTES(0x02, 0x40, 0x0e, 16), "1000 " START ";1040 end" },
	{ "aarch64 frame record", UNWIND_AARCH64,
	  BYTES(0x2d, 0x41, 0x0e, 32, 0x9d, 4, 0x9e, 3, 0x44, 0xde, 0xdd, 0x0e, 0),
	  "1000 cfa=sp+0 fp=same ra=lr;1004 cfa=sp+32 fp=[cfa-32] ra=[cfa-24];1014 cfa=sp+0 fp=same "
	  "ra=lr;1040 end" },
	{ "aarch64 link register alone", UNWIND_AARCH64, BYTES(0x0e, 16, 0x9e, 2),
	  "1000 cfa=sp+16 fp=same ra=[cfa-16];1040 end" },
	{ "aarch64 link register below fp", UNWIND_AARCH64, BYTES(0x0e, 32, 0x9d, 1, 0x9e, 4),
	  "1000 cfa=sp+32 fp=[cfa-8] ra=[cfa-32];1040 end" },
	{ "aarch64 link register out of reach costs fp", UNWIND_AARCH64,
	  BYTES(0x0e, 0x80, 2, 0x9d, 0x20, 0x9e, 1),
	  "1000 cfa=sp+256 fp=lost ra=[cfa-8];1040 end" },
};
/* clang-format on */

/* clang-format off */
static const struct program odd_programs[] = {
	{ "unknown instruction", UNWIND_X86_64, BYTES(0x41, 0x3e), BROKEN_AT("1001") },
	{ "vendor instruction of another machine", UNWIND_X86_64, BYTES(0x41, 0x2d), BROKEN_AT("1001") },
	{ "restore without remember", UNWIND_X86_64, BYTES(0x41, 0x0b), BROKEN_AT("1001") },
	{ "operand cut off", UNWIND_X86_64, BYTES(0x41, 0x0e), BROKEN_AT("1001") },
	{ "number without end", UNWIND_X86_64,
	  BYTES(0x41, 0x0e, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0), BROKEN_AT("1001") },
	{ "advance cut off", UNWIND_X86_64, BYTES(0x41, 0x04, 1, 0), BROKEN_AT("1001") },
	{ "expression cut off", UNWIND_X86_64, BYTES(0x41, 0x0f, 9, 0x77), BROKEN_AT("1001") },
	{ "huge expression", UNWIND_X86_64,
	  BYTES(0x41, 0x10, 6, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1), BROKEN_AT("1001") },
	{ "set_loc backwards", UNWIND_X86_64, BYTES(0x41, 0x01, 0xbf, 0x8f, 0xff, 0xff), BROKEN_AT("1001") },
	{ "offset of a CFA that is an expression", UNWIND_X86_64,
	  BYTES(0x0f, 3, 0x76, 0x58, 6, 0x41, 0x0e, 8),
	  "1000 cfa=[fp-40]+0 fp=same ra=[cfa-8];1001 unsupported;1040 end" },
	{ "CFA by an unknown expression", UNWIND_X86_64, BYTES(0x41, 0x0f, 1, 0x96), BROKEN_AT("1001") },
	{ "empty CFA expression", UNWIND_X86_64, BYTES(0x41, 0x0f, 0), BROKEN_AT("1001") },
	{ "almost the PLT", UNWIND_X86_64,
	  BYTES(0x41, 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x25, 0x22), BROKEN_AT("1001") },
	{ "dereference and too much behind", UNWIND_X86_64,
	  BYTES(0x41, 0x0f, 6, 0x77, 8, 6, 0x23, 8, 6), BROKEN_AT("1001") },
	{ "dereference through rax", UNWIND_X86_64, BYTES(0x41, 0x0f, 3, 0x70, 8, 6), BROKEN_AT("1001") },
	{ "CFA in a vector register", UNWIND_X86_64, BYTES(0x41, 0x0c, 17, 8), BROKEN_AT("1001") },
	{ "CFA too far away", UNWIND_X86_64, BYTES(0x41, 0x0e, 0x80, 0x80, 0x80, 4), BROKEN_AT("1001") },
	{ "return address elsewhere", UNWIND_X86_64, BYTES(0x41, 0x90, 2), BROKEN_AT("1001") },
	{ "return address by expression", UNWIND_X86_64, BYTES(0x41, 0x10, 16, 2, 0x77, 8), BROKEN_AT("1001") },
	{ "stack pointer elsewhere", UNWIND_X86_64, BYTES(0x41, 0x09, 7, 0), BROKEN_AT("1001") },
	{ "frame pointer in a register is lost", UNWIND_X86_64, BYTES(0x09, 6, 9),
	  "1000 cfa=sp+8 fp=lost ra=[cfa-8];1040 end" },
	{ "frame pointer by value is lost", UNWIND_X86_64, BYTES(0x14, 6, 2),
	  "1000 cfa=sp+8 fp=lost ra=[cfa-8];1040 end" },
	{ "frame pointer too far away is lost", UNWIND_X86_64, BYTES(0x86, 0x81, 0x80, 4),
	  "1000 cfa=sp+8 fp=lost ra=[cfa-8];1040 end" },
	{ "aarch64 return address in x0", UNWIND_AARCH64, BYTES(0x09, 30, 0),
	  "1000 unsupported;1040 end" },
};
/* clang-format on */

static void run_programs(const struct program *p, size_t n)
{
	struct rows rows = { .n = 0 };
	size_t i;

	for (i = 0; i < n; i++) {
		struct section s = { .n = 0 };

		put_cie(&s, p[i].arch);
		put_fde(&s, PC, SIZE, &p[i].ins);
		if (run(&s, p[i].arch, &rows, NULL, NULL) || strcmp(rows.text, p[i].rows) != 0)
			fail_msg("%s:\n got  %s\n want %s", p[i].name, rows.text, p[i].rows);
	}
}

static void programs_give_rows(void **state)
{
	run_programs(good_programs, sizeof(good_programs) / sizeof(good_programs[0]));
}

static void programs_broken_or_unknown_are_contained(void **state)
{
	run_programs(odd_programs, sizeof(odd_programs) / sizeof(odd_programs[0]));
}

static void remember_has_a_limit(void **state)
{
	struct section s = { .n = 0 };
	struct bytes ins = { .n = CFI_MAX_REMEMBER + 1 };
	struct ehframe_stats stats;
	struct rows rows = { .n = 0 };

	memset(ins.data, 0x0a, ins.n);
	put_cie(&s, UNWIND_X86_64);
	put_fde(&s, PC, SIZE, &ins);
	assert_int_equal(run(&s, UNWIND_X86_64, &rows, &stats, NULL), 0);
	assert_string_equal(rows.text, "1000 unsupported;1040 end");
	assert_int_equal(stats.unsup_rows[CFI_UNSUP_BROKEN], 1);
}

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
	{ "beyond what a sign can say", { { 0x7000, 0xffffffff, 8 } }, "7000 8;100006fff end" },
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
		struct ehframe_section section = { .data = s.data, .vaddr = VADDR };

		put_cie(&s, UNWIND_X86_64);
		for (k = 0; k < 4 && layouts[i].fde[k].off; k++) {
			struct bytes ins = BYTES(0x0e, layouts[i].fde[k].off);

			put_fde(&s, layouts[i].fde[k].pc, layouts[i].fde[k].size, &ins);
		}
		section.size_bytes = s.n;
		assert_int_equal(ehframe_rows(&section, take_off, &rows, NULL, NULL), 0);
		if (strcmp(rows.text, layouts[i].rows) != 0)
			fail_msg("%s:\n got  %s\n want %s", layouts[i].name, rows.text,
				 layouts[i].rows);
	}
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
		struct ehframe_stats stats;

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
	struct ehframe_section section = { .data = s.data, .vaddr = VADDR, .ends_at_zero = true };

	put_cie(&s, UNWIND_X86_64);
	put_fde(&s, PC, SIZE, &none);
	put32(&s, 0);
	put_fde(&s, PC + SIZE, SIZE, &none);
	put32(&s, 0);
	assert_int_equal(run(&s, UNWIND_X86_64, &rows, NULL, NULL), 0);
	assert_string_equal(rows.text, "1000 " START ";1080 end");

	section.size_bytes = s.n;
	*rows.text = 0;
	assert_int_equal(ehframe_rows(&section, take, &rows, NULL, NULL), 0);
	assert_string_equal(rows.text, "1000 " START ";1040 end");
}

static void broken_framing_fails_with_its_place(void **state)
{
	static const struct bytes none = BYTES(0);
	struct section s = { .n = 0 };
	struct rows rows = { .n = 0 };
	struct ehframe_stats stats = { .rows = 77 };
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
	struct ehframe_stats stats;
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
	struct section s = { .n = 0 }, cut;
	struct rows rows = { .n = 0 };
	size_t i;
	int ret;

	put_cie(&s, UNWIND_X86_64);
	put_fde(&s, PC, SIZE, &good_programs[1].ins);
	for (i = 0; i <= s.n; i++) {
		cut = s;
		cut.n = i;
		ret = run(&cut, UNWIND_X86_64, &rows, NULL, NULL);
		assert_true(ret == 0 || ret == -ENODATA);
	}
}

static void the_taker_can_stop(void **state)
{
	struct section s = { .n = 0 };
	struct rows rows = { .stop_after = 2 };

	put_cie(&s, UNWIND_X86_64);
	put_fde(&s, PC, SIZE, &good_programs[1].ins);
	assert_int_equal(run(&s, UNWIND_X86_64, &rows, NULL, NULL), -ECANCELED);
	assert_int_equal(rows.n, 2);
}

static void rbx_is_told_when_asked(void **state)
{
	static const struct bytes ins = BYTES(0x41, 0x0e, 16, 0x83, 2, 0x41, 0x0d, 3, 0x41, 0x07,
					      3);
	struct section s = { .n = 0 };
	struct rows rows = { .n = 0 };
	struct ehframe_section section = { .data = s.data, .vaddr = VADDR, .track_bx = true };

	put_cie(&s, UNWIND_X86_64);
	put_fde(&s, PC, SIZE, &ins);
	section.size_bytes = s.n;
	assert_int_equal(ehframe_rows(&section, take, &rows, NULL, NULL), 0);
	assert_string_equal(rows.text, "1000 " START " bx=same;1001 cfa=sp+16 fp=same ra=[cfa-8] "
				       "bx=[cfa-16];1002 cfa=r3+16 fp=same ra=[cfa-8] "
				       "bx=[cfa-16];1003 cfa=r3+16 fp=same ra=[cfa-8];1040 end");
}

static void header_leads_to_the_section(void **state)
{
	const uint8_t good[] = { 1, 0x1b, 3, 0x3b, 0xfc, 0xff, 0xff, 0xff };
	const uint8_t other[] = { 2, 0x1b, 3, 0x3b, 0, 0, 0, 0 };
	const uint8_t omitted[] = { 1, 0xff, 0xff, 0xff, 0, 0, 0, 0 };
	uint64_t at = 7;

	assert_int_equal(ehframe_hdr_find(good, sizeof(good), 0x2000, &at), 0);
	assert_int_equal(at, 0x2000);
	assert_int_equal(ehframe_hdr_find(good, 7, 0x2000, &at), -ENODATA);
	assert_int_equal(ehframe_hdr_find(good, 3, 0x2000, &at), -ENODATA);
	assert_int_equal(ehframe_hdr_find(other, sizeof(other), 0x2000, &at), -ENOTSUP);
	assert_int_equal(ehframe_hdr_find(omitted, sizeof(omitted), 0x2000, &at), -ENOTSUP);
}

static void too_large_is_refused_unread(void **state)
{
	struct ehframe_section section = { .data = NULL, .size_bytes = EHFRAME_MAX_BYTES + 1UL };
	struct parse_err err = { .what = NULL };

	assert_int_equal(ehframe_rows(&section, take, NULL, NULL, &err), -EOVERFLOW);
	assert_string_equal(err.what, "section too large");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_give_rows),
		cmocka_unit_test(programs_broken_or_unknown_are_contained),
		cmocka_unit_test(remember_has_a_limit),
		cmocka_unit_test(ranges_become_one_order),
		cmocka_unit_test(cies_of_all_kinds),
		cmocka_unit_test(pointers_of_all_encodings),
		cmocka_unit_test(long_entries_of_64_bit_length),
		cmocka_unit_test(zero_words_are_skipped_or_end),
		cmocka_unit_test(broken_framing_fails_with_its_place),
		cmocka_unit_test(fde_without_its_cie_covers_nothing),
		cmocka_unit_test(every_cut_is_survived),
		cmocka_unit_test(the_taker_can_stop),
		cmocka_unit_test(rbx_is_told_when_asked),
		cmocka_unit_test(header_leads_to_the_section),
		cmocka_unit_test(too_large_is_refused_unread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
