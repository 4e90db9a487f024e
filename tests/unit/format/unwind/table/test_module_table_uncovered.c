/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* unwtable: code that .eh_frame does not cover, as Go's, a program's start and what the C library puts into it */
#include <stdio.h>

#include "tests/unit/unwfile.h"
#include "tests/lib/table_of_file.h"

/* Opens this very program and returns what to subtract from its addresses. */
static uint64_t open_self(struct env *e, uint64_t pc)
{
	unsigned long long start = 0, end = 0, off = 0;
	uint64_t bias = 0;
	char line[512], perms[8];
	int found = 0;
	FILE *f;

	assert_int_equal(table_of_file("/proc/self/exe", e->set, &e->table, NULL), 0);
	f = fopen("/proc/self/maps", "re");
	assert_non_null(f);
	while (!found && fgets(line, sizeof(line), f))
		found = sscanf(line, "%llx-%llx %7s %llx", &start, &end, perms, &off) == 4 &&
			pc >= start && pc < end;
	fclose(f);
	assert_true(found);
	assert_int_equal(module_table_bias(e->table, start, off, &bias), 0);
	return bias;
}

/* Its own code is covered, and mapped at the address in the table: a function's first instruction. */
static void this_program(void **state)
{
	struct env *e = *state;
	uint64_t pc = (uintptr_t)&this_program;

	assert_int_equal(off_at(e, pc - open_self(e, pc)), UNWIND_HERE == UNWIND_X86_64 ? 8 : 0);
}

/* One function of Go at CODE + 0x1000, behind what .eh_frame covers, in a section of that name. */
static void put_go(struct file *f, const char *name)
{
	static const uint8_t steps[] = { 0, 2, 4, 48, 16, 47, 12, 0 };
	uint8_t *d = f->data + EH_OFF + f->eh_bytes;
	size_t at = EH_OFF + f->eh_bytes;

	assert_true(f->eh_bytes + 160 <= EH_MAX);
	le32_store(d, 0xfffffff1);
	d[6] = 1;
	d[7] = 8;
	le64_store(d + 8, 1);
	le64_store(d + 24, CODE + 0x1000);
	le64_store(d + 32, 151); /* no name */
	le64_store(d + 56, 72);
	le64_store(d + 64, 88);
	memcpy(d + 72, steps, sizeof(steps));
	le32_store(d + 88 + 4, 12);
	le32_store(d + 88 + 8, 0x20);
	le32_store(d + 88 + 12 + 16, 1);
	strcpy((char *)f->data + NAMES_OFF + 11, name); /* in place of .shstrtab */
	put_section(f->data + SECTIONS_OFF + 128, 0, SHT_STRTAB, 0, NAMES_OFF,
		    SECTIONS_OFF - NAMES_OFF);
	put_section(f->data + SECTIONS_OFF, 11, SHT_PROGBITS, at, at, 152);
}

static void code_of_go_is_covered(void **state)
{
	struct env *e = *state;
	struct file f;
	uint32_t i;

	for (i = 0; i < 3; i++) {
		begin_file(&f);
		put_fde(&f, CODE, 0x40, 8, 4, 16);
		end_file(&f);
		put_go(&f, ".gopclntab");
		if (i == 1) /* without .eh_frame */
			put_section(f.data + SECTIONS_OFF + 64, 0, SHT_NULL, 0, 0, 0);
		if (i == 1)
			le32_store(f.data + 176, PT_NULL);
		if (i == 2) /* broken: a count that does not fit */
			f.data[EH_OFF + f.eh_bytes + 9] = 1;
		assert_int_equal(build(e, &f, FILE_BYTES, NULL), 0);
		assert_int_equal(off_at(e, CODE + 4), i == 1 ? 0 : 16);
		assert_int_equal(off_at(e, CODE + 0x40), 0);
		assert_int_equal(off_at(e, CODE + 0xfff), 0);
		assert_int_equal(off_at(e, CODE + 0x1000), i == 2 ? 0 : 8);
		assert_int_equal(off_at(e, CODE + 0x1004), i == 2 ? 0 : 32);
		assert_int_equal(off_at(e, CODE + 0x1014), i == 2 ? 0 : 8);
		assert_int_equal(off_at(e, CODE + 0x1020), 0);
	}
}

/* Stubs of aarch64 at CODE + 0x2000; the first pushes x16 and x30, from its second instruction on if that is a landing. */
static void stubs_of_aarch64_are_known_by_their_bytes(void **state)
{
	enum { STP = 0xa9bf7bf0, BTI = 0xd503245f, ADRP = 0x90000bd0 };
	static const uint32_t first[][2] = { { STP, ADRP }, { BTI, STP }, { ADRP, STP } };
	struct env *e = *state;
	struct file f;

	for (uint32_t i = 0; i < 3; i++) {
		uint64_t stubs = CODE + 0x2000, pushed = stubs + (i ? 8 : 4);

		begin_file(&f);
		put_fde(&f, CODE, 0x40, 8, 4, 16);
		end_file(&f);
		le16_store(f.data + 18, EM_AARCH64);
		strcpy((char *)f.data + NAMES_OFF + 11,
		       ".plt"); /* the first section of all, which has no other use */
		put_section(f.data + SECTIONS_OFF, 11, SHT_PROGBITS, stubs, EH_OFF + f.eh_bytes,
			    96);
		le32_store(f.data + EH_OFF + f.eh_bytes, first[i][0]);
		le32_store(f.data + EH_OFF + f.eh_bytes + 4, first[i][1]);
		assert_int_equal(build(e, &f, FILE_BYTES, NULL), 0);
		assert_int_equal(module_table_find(e->table, stubs)->cfa,
				 i == 2 ? UNWIND_CFA_END : UNWIND_CFA_SP);
		assert_int_equal(off_at(e, pushed - 4), 0);
		assert_int_equal(off_at(e, pushed), i == 2 ? 0 : 16);
		assert_int_equal(off_at(e, stubs + 28), i == 2 ? 0 : 16);
		assert_int_equal(off_at(e, stubs + 32), 0);
		assert_int_equal(module_table_find(e->table, stubs + 92)->cfa,
				 i == 2 ? UNWIND_CFA_END : UNWIND_CFA_SP);
		assert_int_equal(module_table_find(e->table, stubs + 96)->cfa, UNWIND_CFA_END);
	}
}

#ifdef __x86_64__
extern void _init(void);
extern void _fini(void);

/* Code that the C library puts into every program, without rules. */
static void init_and_fini_are_known_by_their_bytes(void **state)
{
	struct env *e = *state;
	const uint8_t *init = (const uint8_t *)(uintptr_t)&_init;
	uint64_t pc = (uintptr_t)init, bias = open_self(e, pc), sub_end;

	pc -= bias;
	sub_end = pc + (init[0] == 0xf3 ? 8 : 4);
	assert_int_equal(off_at(e, pc), 8);
	assert_int_equal(off_at(e, sub_end - 1), 8);
	assert_int_equal(off_at(e, sub_end), 16);
	while (init[0] != 0xc3 || init[-1] != 0x08) /* add $8,%rsp; ret */
		init++;
	assert_int_equal(off_at(e, (uintptr_t)init - bias - 1), 16);
	assert_int_equal(off_at(e, (uintptr_t)init - bias), 8);
	assert_int_equal(module_table_find(e->table, (uintptr_t)init - bias + 1)->cfa,
			 UNWIND_CFA_END);
	assert_int_equal(off_at(e, (uintptr_t)&_fini - bias), 8);
}

/* One byte that is another in memory, and it has no rule. */
static void init_of_other_bytes_has_no_rule(void **state)
{
	struct env *e = *state;
	const uint8_t *init = (const uint8_t *)(uintptr_t)&_init;
	uint64_t pc = (uintptr_t)init - open_self(e, (uintptr_t)init);
	struct module_table *t = NULL;
	FILE *f = fopen("/proc/self/exe", "re");
	uint8_t *image, *at;
	size_t n;

	assert_non_null(f);
	image = malloc(64 << 20);
	assert_non_null(image);
	n = fread(image, 1, 64 << 20, f);
	fclose(f);
	at = memmem(image, n, init, 20);
	assert_non_null(at);
	at[init[0] == 0xf3 ? 7 : 3] ^= 0x10;
	assert_int_equal(module_table_from_bytes(image, n, e->set, &t, NULL), 0);
	assert_int_equal(module_table_find(t, pc)->cfa, UNWIND_CFA_END);
	assert_int_equal(module_table_find(t, pc + 8)->cfa, UNWIND_CFA_END);
	module_table_free(t);
	free(image);
}
#endif

/* The made file, with an entry at pc and these bytes there. */
static struct module_table *table_with_entry(struct env *e, uint64_t pc, const char *bytes,
					     size_t n)
{
	static uint8_t big[0x41000];
	struct file f;
	struct module_table *t;

	make_file(&f);
	le64_store(f.data + 24, pc);
	memset(big, 0x90, sizeof(big));
	memcpy(big, f.data, sizeof(f.data));
	memcpy(big + (pc - 0x10000), bytes, n);
	assert_int_equal(module_table_from_bytes(big, sizeof(big), e->set, &t, NULL), 0);
	return t;
}

static void uncovered_program_start_is_outermost(void **state)
{
	static const struct {
		const char *bytes;
		size_t n;
		unsigned cfa;
	} cases[] = {
		{ "\x31\xed", 2, UNWIND_CFA_RA_UNDEF },
		{ "\xf3\x0f\x1e\xfa\x31\xed", 6, UNWIND_CFA_RA_UNDEF },
		{ "\x48\x31\xed", 3, UNWIND_CFA_RA_UNDEF },
		{ "\x48\x89\xe7\xe8", 4, UNWIND_CFA_RA_UNDEF },
		{ "\x48\x89\xe7\xe9", 4, UNWIND_CFA_END }, /* a jump: some library's code */
		{ "\x55\x48\x89\xe5", 4, UNWIND_CFA_END },
	};
	struct env *e = *state;
	struct module_table *t;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		t = table_with_entry(e, CODE + 0x1000, cases[i].bytes, cases[i].n);
		assert_int_equal(module_table_find(t, CODE + 0xfff)->cfa, UNWIND_CFA_END);
		assert_int_equal(module_table_find(t, CODE + 0x1000)->cfa, cases[i].cfa);
		assert_int_equal(module_table_find(t, CODE + 0x107f)->cfa, cases[i].cfa);
		assert_int_equal(module_table_find(t, CODE + 0x1080)->cfa, UNWIND_CFA_END);
		module_table_free(t);
	}
}

static void covered_program_start_keeps_its_rule(void **state)
{
	struct env *e = *state;
	struct module_table *t = table_with_entry(e, 0x20000, "\x31\xed", 2);

	assert_int_equal(module_table_find(t, 0x20000)->cfa, UNWIND_CFA_SP);
	assert_int_equal(module_table_find(t, 0x50010)->cfa, UNWIND_CFA_END);
	module_table_free(t);
}

static void program_start_behind_all_rows_is_outermost(void **state)
{
	struct env *e = *state;
	struct module_table *t = table_with_entry(e, 0x50020, "\x31\xed", 2);

	assert_int_equal(module_table_find(t, 0x50010)->cfa, UNWIND_CFA_END);
	assert_int_equal(module_table_find(t, 0x50020)->cfa, UNWIND_CFA_RA_UNDEF);
	assert_int_equal(module_table_find(t, 0x50020 + 128)->cfa, UNWIND_CFA_END);
	module_table_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(uncovered_program_start_is_outermost),
		TEST(covered_program_start_keeps_its_rule),
		TEST(program_start_behind_all_rows_is_outermost),
		TEST(this_program),
		TEST(code_of_go_is_covered),
		TEST(stubs_of_aarch64_are_known_by_their_bytes),
#ifdef __x86_64__
		TEST(init_and_fini_are_known_by_their_bytes),
		TEST(init_of_other_bytes_has_no_rule),
#endif
	};

	return cmocka_run_group_tests_name("unwtable_uncovered", tests, NULL, NULL);
}
