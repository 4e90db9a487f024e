/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* elfsymbol: by a file that is made here, and by this very program */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "record/privsep/elf/elf_parts.h"
#include "record/privsep/elf/elf_symbol.h"

#define CODE_ADDR 0x401000
#define CODE_OFF  0x1000
#define CODE_SIZE 0x1000
#define PAD       70000 /* strings in front: the table is read in pieces */

enum {
	SECTION_NONE,
	SECTION_DYNSYM,
	SECTION_DYNSTR,
	SECTION_VERSIONS,
	SECTION_SYMTAB,
	SECTION_STRTAB,
	SECTIONS
};

static const struct test_symbol {
	const char *name;
	unsigned char bind, type;
	uint16_t section, version;
	uint64_t value;
} dynamic[] = {
	{ "", STB_LOCAL, STT_NOTYPE, SHN_UNDEF, 0, 0 },
	{ "needed", STB_GLOBAL, STT_FUNC, SHN_UNDEF, 0, 0 },
	{ "twice", STB_WEAK, STT_FUNC, 1, 1, CODE_ADDR + 0x10 },
	{ "twice", STB_GLOBAL, STT_FUNC, 1, 1, CODE_ADDR + 0x20 },
	{ "versions", STB_GLOBAL, STT_FUNC, 1, 0x8002, CODE_ADDR + 0x30 },
	{ "versions", STB_GLOBAL, STT_FUNC, 1, 3, CODE_ADDR + 0x40 },
	{ "datum", STB_GLOBAL, STT_OBJECT, 1, 1, CODE_ADDR + 0x50 },
	{ "absolute", STB_GLOBAL, STT_FUNC, SHN_ABS, 1, CODE_ADDR },
	{ "outside", STB_GLOBAL, STT_FUNC, 1, 1, CODE_ADDR + CODE_SIZE },
	{ "alias", STB_GLOBAL, STT_FUNC, 1, 1, CODE_ADDR + 0x60 },
	{ "alias", STB_GLOBAL, STT_FUNC, 1, 1, CODE_ADDR + 0x60 },
}, full[] = {
	{ "", STB_LOCAL, STT_NOTYPE, SHN_UNDEF, 0, 0 },
	{ "hidden", STB_LOCAL, STT_FUNC, 1, 0, CODE_ADDR + 0x70 },
	{ "both", STB_LOCAL, STT_FUNC, 1, 0, CODE_ADDR + 0x80 },
	{ "both", STB_LOCAL, STT_FUNC, 1, 0, CODE_ADDR + 0x90 },
	{ "named@OLD", STB_GLOBAL, STT_FUNC, 1, 0, CODE_ADDR + 0xa0 },
	{ "named@@NEW", STB_GLOBAL, STT_FUNC, 1, 0, CODE_ADDR + 0xb0 },
	{ "twice", STB_LOCAL, STT_FUNC, 1, 0, CODE_ADDR + 0xc0 },
};

struct image {
	uint8_t *bytes;
	size_t size_bytes;
	Elf64_Shdr sections[SECTIONS];
	size_t sections_off;
};

static size_t append(struct image *i, const void *bytes, size_t size_bytes)
{
	size_t at = i->size_bytes;

	i->bytes = realloc(i->bytes, at + size_bytes);
	assert_non_null(i->bytes);
	memcpy(i->bytes + at, bytes, size_bytes);
	i->size_bytes += size_bytes;
	return at;
}

static void put_table(struct image *i, unsigned table, unsigned strings,
		      const struct test_symbol *list, size_t count)
{
	char *text = calloc(1, PAD + count * 40);
	Elf64_Sym symbols[16] = { 0 };
	uint16_t versions[16] = { 0 };
	size_t used = 1;

	assert_non_null(text);
	memset(text + 1, 'x', PAD - 2);
	used = PAD;
	for (size_t k = 0; k < count; k++) {
		/* A tail of another string, as linkers have it. */
		used += (size_t)sprintf(text + used, "tail_of_");
		symbols[k].st_name = (uint32_t)used;
		used += (size_t)sprintf(text + used, "%s", list[k].name) + 1;
		symbols[k].st_info = ELF64_ST_INFO(list[k].bind, list[k].type);
		symbols[k].st_shndx = list[k].section;
		symbols[k].st_value = list[k].value;
		versions[k] = list[k].version;
	}
	i->sections[table] =
		(Elf64_Shdr){ .sh_type = table == SECTION_DYNSYM ? SHT_DYNSYM : SHT_SYMTAB,
			      .sh_link = strings,
			      .sh_entsize = sizeof(Elf64_Sym),
			      .sh_size = count * sizeof(Elf64_Sym),
			      .sh_offset = append(i, symbols, count * sizeof(Elf64_Sym)) };
	i->sections[strings] = (Elf64_Shdr){ .sh_type = SHT_STRTAB,
					     .sh_size = used,
					     .sh_offset = append(i, text, used) };
	if (table == SECTION_DYNSYM)
		i->sections[SECTION_VERSIONS] = (Elf64_Shdr){
			.sh_type = SHT_GNU_versym,
			.sh_size = count * 2,
			.sh_offset = append(i, versions, count * 2),
		};
	free(text);
}

static struct image make(void)
{
	const Elf64_Phdr code = { .p_type = PT_LOAD,
				  .p_flags = PF_R | PF_X,
				  .p_offset = CODE_OFF,
				  .p_vaddr = CODE_ADDR,
				  .p_filesz = CODE_SIZE,
				  .p_memsz = CODE_SIZE };
	Elf64_Ehdr e = { .e_type = ET_DYN,
			 .e_machine = ELF_PARTS_MACHINE,
			 .e_phentsize = sizeof(Elf64_Phdr),
			 .e_shentsize = sizeof(Elf64_Shdr),
			 .e_phnum = 1,
			 .e_phoff = sizeof(e),
			 .e_shnum = SECTIONS };
	static const uint8_t zeros[CODE_OFF + CODE_SIZE];
	struct image i = { 0 };

	memcpy(e.e_ident, ELFMAG, SELFMAG);
	e.e_ident[EI_CLASS] = ELFCLASS64;
	e.e_ident[EI_DATA] = ELFDATA2LSB;
	append(&i, zeros, sizeof(zeros));
	put_table(&i, SECTION_DYNSYM, SECTION_DYNSTR, dynamic, sizeof(dynamic) / sizeof(*dynamic));
	put_table(&i, SECTION_SYMTAB, SECTION_STRTAB, full, sizeof(full) / sizeof(*full));
	e.e_shoff = i.sections_off = append(&i, i.sections, sizeof(i.sections));
	memcpy(i.bytes, &e, sizeof(e));
	memcpy(i.bytes + sizeof(e), &code, sizeof(code));
	return i;
}

static int look(const struct image *i, const char *name, uint64_t *out)
{
	struct source s;

	source_of_bytes(i->bytes, i->size_bytes, &s);
	return elf_symbol_offset(&s, name, out);
}

static void a_function_is_at_the_value_of_its_symbol(void **state)
{
	static const struct {
		const char *name;
		int err;
		uint64_t off;
	} want[] = {
		{ "twice", 0, CODE_OFF + 0x20 },    /* the global one */
		{ "versions", 0, CODE_OFF + 0x40 }, /* the default version */
		{ "alias", 0, CODE_OFF + 0x60 },    /* the same place twice */
		{ "hidden", 0, CODE_OFF + 0x70 },   /* in the full table alone */
		{ "named", 0, CODE_OFF + 0xb0 },    { "both", -ENOTUNIQ, 0 },
		{ "needed", -ENOENT, 0 },           { "datum", -ENOENT, 0 },
		{ "absolute", -ENOENT, 0 },         { "outside", -EBADMSG, 0 },
		{ "ersions", -ENOENT, 0 },          { "tail_of_twice", -ENOENT, 0 },
		{ "nowhere", -ENOENT, 0 },          { "", -ENOENT, 0 },
	};
	struct image i = make();
	char longest[ELF_SYMBOL_NAME_MAX + 1];

	for (size_t k = 0; k < sizeof(want) / sizeof(*want); k++) {
		uint64_t off = 77;
		int err = look(&i, want[k].name, &off);

		if (err != want[k].err || off != (err ? 77 : want[k].off))
			fail_msg("%s: %d, %#lx", want[k].name, err, (unsigned long)off);
	}
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(look(&i, longest, &(uint64_t){ 0 }), -ENOENT);
	free(i.bytes);
}

static void impossible_tables_are_reported_as_broken(void **state)
{
	static const struct {
		unsigned section;
		size_t off;
		uint64_t value;
		size_t bytes;
		int err;
	} broken[] = {
		{ SECTION_DYNSYM, offsetof(Elf64_Shdr, sh_entsize), 0, 8, -EBADMSG },
		{ SECTION_DYNSYM, offsetof(Elf64_Shdr, sh_entsize), 8, 8, -EBADMSG },
		{ SECTION_DYNSYM, offsetof(Elf64_Shdr, sh_link), 99999, 4, -EBADMSG },
		{ SECTION_DYNSYM, offsetof(Elf64_Shdr, sh_size), UINT64_MAX, 8, -EBADMSG },
		{ SECTION_DYNSYM, offsetof(Elf64_Shdr, sh_offset), UINT64_MAX - 8, 8, -EBADMSG },
		{ SECTION_DYNSTR, offsetof(Elf64_Shdr, sh_size), 1ULL << 62, 8, -EBADMSG },
		{ SECTION_DYNSTR, offsetof(Elf64_Shdr, sh_offset), 1ULL << 62, 8, -EBADMSG },
		{ SECTION_DYNSTR, offsetof(Elf64_Shdr, sh_size), 0, 8, -ENOENT },
		{ SECTION_DYNSYM, offsetof(Elf64_Shdr, sh_type), SHT_NULL, 4, -ENOENT },
		/* Without versions both are equal. */
		{ SECTION_VERSIONS, offsetof(Elf64_Shdr, sh_size), UINT64_MAX, 8, -ENOTUNIQ },
		{ SECTION_VERSIONS, offsetof(Elf64_Shdr, sh_type), SHT_NULL, 4, -ENOTUNIQ },
	};
	struct image i = make();

	for (size_t k = 0; k < sizeof(broken) / sizeof(*broken); k++) {
		uint8_t was[8], *at = i.bytes + i.sections_off +
				      broken[k].section * sizeof(Elf64_Shdr) + broken[k].off;
		uint64_t off = 77;

		memcpy(was, at, broken[k].bytes);
		memcpy(at, &broken[k].value, broken[k].bytes);
		assert_int_equal(look(&i, "versions", &off), broken[k].err);
		assert_int_equal(off, 77);
		memcpy(at, was, broken[k].bytes);
	}
	free(i.bytes);
}

/* Wherever a bit is wrong, or the file is cut, there is an offset or an error. */
static void no_byte_is_believed(void **state)
{
	struct image i = make();
	size_t complete_bytes = i.size_bytes, headers[] = { 0, i.sections_off };
	uint64_t off;
	int err;

	for (size_t part = 0; part < 2; part++) {
		for (size_t at = headers[part]; at < headers[part] + 6 * 64 && at < complete_bytes;
		     at++) {
			for (int bit = 0; bit < 8; bit++) {
				i.bytes[at] ^= (uint8_t)(1 << bit);
				err = look(&i, "twice", &off);
				assert_true(err <= 0);
				i.bytes[at] ^= (uint8_t)(1 << bit);
			}
		}
	}
	for (; i.size_bytes; i.size_bytes -= i.size_bytes > 997 ? 997 : i.size_bytes)
		assert_true(look(&i, "twice", &off) <= 0);
	assert_int_equal(look(&i, "twice", &off), -ENOEXEC);
	free(i.bytes);
}

/* A string table that has the name everywhere. */
static void a_name_in_millions_of_places_costs_no_memory(void **state)
{
	struct image i = make();
	uint8_t *strings = i.bytes + i.sections[SECTION_DYNSTR].sh_offset;
	uint64_t off;

	memset(strings, 'x', PAD);
	for (size_t k = 0; k + 2 < PAD; k += 2)
		strings[k + 1] = '\0';
	assert_int_equal(look(&i, "x", &off), -ENOENT);
	assert_int_equal(look(&i, "versions", &off), 0);
	free(i.bytes);
}

__attribute__((noinline)) int elfsymbol_test_function(void);
int elfsymbol_test_function(void)
{
	return 23;
}

static void this_program_has_this_function(void **state)
{
	uint8_t there[8];
	struct source s;
	uint64_t off;

	assert_int_equal(elfsymbol_test_function(), 23);
	assert_int_equal(source_open("/proc/self/exe", &s, NULL), 0);
	assert_int_equal(elf_symbol_offset(&s, "elfsymbol_test_function", &off), 0);
	assert_int_equal(source_read(&s, off, there, sizeof(there)), sizeof(there));
	assert_memory_equal(there, (const void *)elfsymbol_test_function, sizeof(there));
	source_done(&s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_is_at_the_value_of_its_symbol),
		cmocka_unit_test(impossible_tables_are_reported_as_broken),
		cmocka_unit_test(no_byte_is_believed),
		cmocka_unit_test(a_name_in_millions_of_places_costs_no_memory),
		cmocka_unit_test(this_program_has_this_function),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
