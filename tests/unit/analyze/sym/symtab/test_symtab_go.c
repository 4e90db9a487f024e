/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* symtab: programs of Go without .symtab, made by hand */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/sym/symtab/symtab.h"
#include "format/base/cursor.h"
#include "format/unwind/go_pclntab.h"

enum {
	TEXT = 0x1000,
	TABLE_AT = 64,
	NAMES_AT = 72, /* these three in the table */
	FUNCTIONS_AT = 104,
	ENTRY_BYTES = 44,
	TABLE_BYTES = FUNCTIONS_AT + 20 + 2 * ENTRY_BYTES,
	MODULE_AT = TABLE_AT + TABLE_BYTES + 4,
	TEXTS_AT = MODULE_AT + GO_PCLNTAB_MODULE_BYTES,
	SECTIONS_AT = TEXTS_AT + 72,
	FILE_BYTES = SECTIONS_AT + 5 * sizeof(Elf64_Shdr),
};

static const char texts[] = "\0.text\0.gopclntab\0.go.module\0.data.rel.ro.gopclntab";
enum { TEXT_NAME = 1, TABLE_NAME = 7, MODULE_NAME = 18, TABLE_NAME_PIE = 29 };

struct program {
	_Alignas(8) uint8_t bytes[FILE_BYTES];
};

static void put_section(struct program *p, uint32_t i, Elf64_Shdr s)
{
	memcpy(p->bytes + SECTIONS_AT + i * sizeof(s), &s, sizeof(s));
}

static void put_table(uint8_t *d)
{
	le32_store(d, 0xfffffff1);
	d[6] = 1;
	d[7] = 8;
	le64_store(d + 8, 2);
	le64_store(d + 24, TEXT);
	le64_store(d + 32, NAMES_AT);
	le64_store(d + 56, NAMES_AT);
	le64_store(d + 64, FUNCTIONS_AT);
	strcpy((char *)d + NAMES_AT + 1, "main.a");
	strcpy((char *)d + NAMES_AT + 9, "main.(*T).b");
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t entry = 20 + i * ENTRY_BYTES;

		le32_store(d + FUNCTIONS_AT + i * 8, i * 0x40);
		le32_store(d + FUNCTIONS_AT + i * 8 + 4, entry);
		le32_store(d + FUNCTIONS_AT + entry + 4, i ? 9 : 1);
	}
	le32_store(d + FUNCTIONS_AT + 16, 0x80);
}

static void make(struct program *p)
{
	const Elf64_Ehdr head = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_EXEC,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_shoff = SECTIONS_AT,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 5,
		.e_shstrndx = 4,
	};

	memset(p, 0, sizeof(*p));
	memcpy(p->bytes, &head, sizeof(head));
	put_table(p->bytes + TABLE_AT);
	le64_store(p->bytes + MODULE_AT + GO_PCLNTAB_TEXT_AT, 0x7000);
	memcpy(p->bytes + TEXTS_AT, texts, sizeof(texts));
	put_section(p, 1,
		    (Elf64_Shdr){ TEXT_NAME, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT, 0,
				  0x100, 0, 0, 1, 0 });
	put_section(p, 2,
		    (Elf64_Shdr){ TABLE_NAME, SHT_PROGBITS, SHF_ALLOC, 0x2000, TABLE_AT,
				  TABLE_BYTES, 0, 0, 1, 0 });
	put_section(p, 3,
		    (Elf64_Shdr){ MODULE_NAME, SHT_PROGBITS, SHF_ALLOC, 0x3000, MODULE_AT,
				  GO_PCLNTAB_MODULE_BYTES, 0, 0, 1, 0 });
	put_section(p, 4, (Elf64_Shdr){ 0, SHT_STRTAB, 0, 0, TEXTS_AT, sizeof(texts), 0, 0, 1, 0 });
}

/* wanted_vaddr 0: all. */
static struct symtab *read_program(const struct program *p, uint64_t wanted_vaddr)
{
	const struct symtab_wanted wanted = { &wanted_vaddr, 1 };
	struct elf_file *e = NULL;
	struct symtab *t = NULL;

	assert_int_equal(elf_file_from_bytes(p->bytes, sizeof(p->bytes), &e), 0);
	assert_int_equal(symtab_new(e, NULL, NULL, wanted_vaddr ? &wanted : NULL, &t), 0);
	elf_file_close(e);
	return t;
}

static void check_name(struct symtab *t, uint64_t vaddr, const char *want, uint64_t want_start)
{
	uint64_t start = 0;
	const char *name = symtab_find(t, vaddr, true, &start);

	if (!want) {
		assert_null(name);
		return;
	}
	assert_non_null(name);
	assert_string_equal(name, want);
	assert_int_equal(start, want_start);
}

static void check_program(const struct program *p, uint64_t text)
{
	const struct {
		uint64_t vaddr, start;
		const char *name;
	} cases[] = {
		{ text - 1, 0, NULL },
		{ text, text, "main.a" },
		{ text + 0x3f, text, "main.a" },
		{ text + 0x40, text + 0x40, "main.(*T).b" },
		{ text + 0x7f, text + 0x40, "main.(*T).b" },
		{ text + 0x80, 0, NULL },
	};
	struct symtab *all = read_program(p, 0), *one;

	assert_int_equal(symtab_count(all), 2);
	assert_true(symtab_is_go(all));
	assert_false(symtab_is_full(all));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		check_name(all, cases[i].vaddr, cases[i].name, cases[i].start);
		one = read_program(p, cases[i].vaddr);
		assert_int_equal(symtab_count(one), 2);
		check_name(one, cases[i].vaddr, cases[i].name, cases[i].start);
		symtab_free(one);
	}
	symtab_free(all);
}

static void functions_of_go_are_symbols(void **state)
{
	struct program p;

	(void)state;
	make(&p);
	check_program(&p, TEXT);
	le32_store(p.bytes + SECTIONS_AT + 2 * sizeof(Elf64_Shdr), TABLE_NAME_PIE);
	check_program(&p, TEXT);
	le64_store(p.bytes + TABLE_AT + 24, 0); /* Go 1.26: the module knows */
	check_program(&p, 0x7000);
}

/* A table that is broken, of another version or processor, or elsewhere gives no names and no error. */
static void what_cannot_be_read_is_left_out(void **state)
{
	static const struct {
		uint32_t at, bytes;
		uint64_t value;
	} cases[] = {
		{ TABLE_AT, 4, 0xfffffffa },
		{ TABLE_AT + 8, 8, 3 }, /* the third begins in an entry */
		{ TABLE_AT + 8, 8, UINT64_MAX },
		{ TABLE_AT + 24, 8, UINT64_MAX },
		{ TABLE_AT + FUNCTIONS_AT + 16, 4, 1 }, /* found out at the second */
		{ TABLE_AT + 64, 8, UINT64_MAX },
		{ offsetof(Elf64_Ehdr, e_machine), 2, EM_AARCH64 },
		{ SECTIONS_AT + 2 * sizeof(Elf64_Shdr), 4, MODULE_NAME },
		{ SECTIONS_AT + 2 * sizeof(Elf64_Shdr) + 4, 4, SHT_NOBITS },
		{ SECTIONS_AT + 2 * sizeof(Elf64_Shdr) + 24, 8, FILE_BYTES },
		{ SECTIONS_AT + 2 * sizeof(Elf64_Shdr) + 32, 8, GO_PCLNTAB_MAX_BYTES + 1 },
		{ SECTIONS_AT + 2 * sizeof(Elf64_Shdr) + 32, 8, 71 },
		{ SECTIONS_AT + 2 * sizeof(Elf64_Shdr) + 32, 8, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (uint64_t vaddr = 0; vaddr <= TEXT; vaddr += TEXT) {
			struct program p;
			struct symtab *t;
			uint8_t value[8];

			make(&p);
			le64_store(value, cases[i].value);
			memcpy(p.bytes + cases[i].at, value, cases[i].bytes);
			t = read_program(&p, vaddr);
			if (symtab_count(t) || symtab_is_go(t) || symtab_find(t, TEXT, true, NULL))
				fail_msg("case %zu", i);
			symtab_free(t);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_of_go_are_symbols),
		cmocka_unit_test(what_cannot_be_read_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
