/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* usdtelf: by texts, and by a file that is made here; tests/live/instrument/marks.bats has programs */
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
#include "record/privsep/elf/elf_usdt.h"

#define R15 0
#define RBP 4
#define RBX 5
#define RAX 10
#define RSI 13
#define RDI 14
#define RSP 19

#define CODE_ADDR 0x401000
#define CODE_OFF  0x1000
#define DATA_ADDR 0x403000
#define DATA_OFF  0x2000
#define BASE_ADDR 0x404000

/* An argument that is this number, as the notes of this machine have it. */
#define NUMBER(n) (UNWIND_HERE == UNWIND_AARCH64 ? "4@" n : "4@$" n)

enum { SECTION_NONE, SECTION_NOTES, SECTION_BASE, SECTION_NAMES, SECTIONS };

/* ---- arguments ---- */

static void arguments_are_where_the_note_has_them(void **state)
{
	static const struct {
		const char *text;
		struct usdt_arg want;
	} cases[] = {
		{ "8@%rdi", { .kind = USDT_REG, .reg = RDI, .bytes = 8 } },
		{ "-4@%esi", { .kind = USDT_REG, .reg = RSI, .bytes = 4, .is_signed = 1 } },
		{ "1@%r15b", { .kind = USDT_REG, .reg = R15, .bytes = 1 } },
		{ "-2@%bp", { .kind = USDT_REG, .reg = RBP, .bytes = 2, .is_signed = 1 } },
		{ "4@$3", { .kind = USDT_CONST, .value = 3, .bytes = 4 } },
		{ "-8@$-9",
		  { .kind = USDT_CONST, .value = (uint64_t)-9, .bytes = 8, .is_signed = 1 } },
		{ "8@$18446744073709551615",
		  { .kind = USDT_CONST, .value = UINT64_MAX, .bytes = 8 } },
		{ "8@(%rsp)",
		  { .kind = USDT_MEMORY, .reg = RSP, .index = USDT_NO_REG, .bytes = 8 } },
		{ "-4@-20(%rbp)",
		  { .kind = USDT_MEMORY,
		    .value = (uint64_t)-20,
		    .reg = RBP,
		    .index = USDT_NO_REG,
		    .bytes = 4,
		    .is_signed = 1 } },
		{ "8@0x10(%rax,%rbx,8)",
		  { .kind = USDT_MEMORY,
		    .value = 16,
		    .reg = RAX,
		    .index = RBX,
		    .scale = 3,
		    .bytes = 8 } },
		{ "2@(%rax,%rbx)", { .kind = USDT_MEMORY, .reg = RAX, .index = RBX, .bytes = 2 } },
		{ "2@8(,%rbx,4)",
		  { .kind = USDT_MEMORY,
		    .value = 8,
		    .reg = USDT_NO_REG,
		    .index = RBX,
		    .scale = 2,
		    .bytes = 2 } },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct usdt_args args;

		elf_usdt_args(UNWIND_X86_64, cases[i].text, &args);
		if (args.count != 1 || memcmp(&args.arg[0], &cases[i].want, sizeof(args.arg[0])))
			fail_msg("%s: %u, kind %u reg %u index %u scale %u value %#llx",
				 cases[i].text, args.count, args.arg[0].kind, args.arg[0].reg,
				 args.arg[0].index, args.arg[0].scale,
				 (unsigned long long)args.arg[0].value);
	}
}

static void arguments_of_aarch64_are_where_the_note_has_them(void **state)
{
	static const struct {
		const char *text;
		struct usdt_arg want;
	} cases[] = {
		{ "8@x0", { .kind = USDT_REG, .reg = 0, .bytes = 8 } },
		{ "-4@x30", { .kind = USDT_REG, .reg = 30, .bytes = 4, .is_signed = 1 } },
		{ "1@w19", { .kind = USDT_REG, .reg = 19, .bytes = 1 } },
		{ "8@sp", { .kind = USDT_REG, .reg = 31, .bytes = 8 } },
		{ "4@3", { .kind = USDT_CONST, .value = 3, .bytes = 4 } },
		{ "-8@-9",
		  { .kind = USDT_CONST, .value = (uint64_t)-9, .bytes = 8, .is_signed = 1 } },
		{ "8@[x1]", { .kind = USDT_MEMORY, .reg = 1, .index = USDT_NO_REG, .bytes = 8 } },
		{ "-4@[sp, 12]",
		  { .kind = USDT_MEMORY,
		    .value = 12,
		    .reg = 31,
		    .index = USDT_NO_REG,
		    .bytes = 4,
		    .is_signed = 1 } },
		{ "8@[x29,-16]",
		  { .kind = USDT_MEMORY,
		    .value = (uint64_t)-16,
		    .reg = 29,
		    .index = USDT_NO_REG,
		    .bytes = 8 } },
		{ "8@[x1, x2]", { .kind = USDT_MEMORY, .reg = 1, .index = 2, .bytes = 8 } },
	};
	static const char *const unknown[] = {
		"8@x31", "8@x",      "8@%rdi",     "8@$3",    "8@[x1", "8@[",
		"8@[]",  "8@[x1, ]", "8@[x1, 2]x", "8@[x1 ]", "4f@s0", "8@[x1, x2, x3]"
	};
	struct usdt_args args;
	char text[80];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		snprintf(text, sizeof(text), "4@1 %s 4@2", cases[i].text);
		elf_usdt_args(UNWIND_AARCH64, text, &args);
		if (args.count != 3 || args.arg[2].value != 2 ||
		    memcmp(&args.arg[1], &cases[i].want, sizeof(args.arg[1])))
			fail_msg("%s: %u, kind %u reg %u index %u value %#llx", cases[i].text,
				 args.count, args.arg[1].kind, args.arg[1].reg, args.arg[1].index,
				 (unsigned long long)args.arg[1].value);
	}
	for (size_t i = 0; i < sizeof(unknown) / sizeof(*unknown); i++) {
		elf_usdt_args(UNWIND_AARCH64, unknown[i], &args);
		if (args.count < 1 || args.arg[0].kind != USDT_UNKNOWN)
			fail_msg("%s: %u, kind %u", unknown[i], args.count, args.arg[0].kind);
	}
}

static void unknown_arguments_keep_their_place(void **state)
{
	static const char *const unknown[] = {
		"8f@%xmm0",
		"8@symbol(%rip)",
		"8@$symbol",
		"8@symbol",
		"3@%rax",
		"16@%rax",
		"0@%rax",
		"8@%rax,",
		"8@%rax)",
		"8@%",
		"8@%raxx",
		"8@%st(0)",
		"8@",
		"8",
		"@%rax",
		"8@(",
		"8@()",
		"8@(%rax",
		"8@(%rax,",
		"8@(%rax,%rbx,3)",
		"8@(%rax,%rbx,16)",
		"8@(%rax,%rbx,)",
		"8@(%rax)x",
		"8@99999999999999999999(%rax)",
		"8@$",
		"99999999999999999999@%rax",
		"-9223372036854775808@%rax",
		"8@12",
		"%rax",
		"-@%rax",
	};
	char text[400];
	struct usdt_args args;

	for (size_t i = 0; i < sizeof(unknown) / sizeof(*unknown); i++) {
		snprintf(text, sizeof(text), " 4@$1  %s 4@$2 ", unknown[i]);
		elf_usdt_args(UNWIND_X86_64, text, &args);
		if (args.count != 3 || args.arg[0].value != 1 || args.arg[2].value != 2 ||
		    args.arg[1].kind != USDT_UNKNOWN)
			fail_msg("%s: %u, kind %u", unknown[i], args.count, args.arg[1].kind);
	}
	elf_usdt_args(UNWIND_X86_64, "", &args);
	assert_int_equal(args.count, 0);
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	elf_usdt_args(UNWIND_X86_64, text, &args);
	assert_int_equal(args.count, 1);
	assert_int_equal(args.arg[0].kind, USDT_UNKNOWN);
	for (size_t i = 0; i + 5 < sizeof(text); i += 5)
		memcpy(text + i, "4@$1 ", 6);
	elf_usdt_args(UNWIND_X86_64, text, &args);
	assert_int_equal(args.count, PROBE_ARGS_MAX);
}

/* ---- places ---- */

struct image {
	uint8_t *bytes;
	size_t size_bytes, sections_off, notes_off, notes_size;
};

static void put(struct image *i, const void *bytes, size_t size_bytes)
{
	i->bytes = realloc(i->bytes, i->size_bytes + size_bytes);
	assert_non_null(i->bytes);
	memcpy(i->bytes + i->size_bytes, bytes, size_bytes);
	i->size_bytes += size_bytes;
}

static void put_note(struct image *i, uint64_t nop, uint64_t base, uint64_t semaphore,
		     const char *name, const char *args)
{
	uint64_t words[] = { nop, base, semaphore };
	char desc[128] = "";
	size_t used = sizeof(words);

	memcpy(desc, words, sizeof(words));
	used += (size_t)sprintf(desc + used, "tests") + 1;
	used += (size_t)sprintf(desc + used, "%s", name) + 1;
	used += (size_t)sprintf(desc + used, "%s", args) + 1;
	put(i, (uint32_t[]){ 8, (uint32_t)used, 3 }, 12);
	put(i, "stapsdt", 8);
	put(i, desc, (used + 3) & ~3ul);
}

/* base: where the section is that moves with the code; the notes were written for BASE_ADDR. */
static struct image make(uint64_t base, size_t many)
{
	static const char names[] = "\0.note.stapsdt\0.stapsdt.base\0.shstrtab";
	const Elf64_Phdr segments[] = {
		{ .p_type = PT_LOAD,
		  .p_flags = PF_R | PF_X,
		  .p_offset = CODE_OFF,
		  .p_vaddr = CODE_ADDR,
		  .p_filesz = 0x1000 },
		{ .p_type = PT_LOAD,
		  .p_flags = PF_R | PF_W,
		  .p_offset = DATA_OFF,
		  .p_vaddr = DATA_ADDR,
		  .p_filesz = 0x1000 },
	};
	Elf64_Ehdr e = { .e_type = ET_DYN,
			 .e_machine = ELF_PARTS_MACHINE,
			 .e_phentsize = sizeof(Elf64_Phdr),
			 .e_shentsize = sizeof(Elf64_Shdr),
			 .e_phnum = 2,
			 .e_phoff = sizeof(e),
			 .e_shnum = SECTIONS,
			 .e_shstrndx = SECTION_NAMES };
	Elf64_Shdr sections[SECTIONS] = { { 0 } };
	struct image i = { 0 };

	i.size_bytes = DATA_OFF + 0x1000;
	i.bytes = calloc(1, i.size_bytes);
	assert_non_null(i.bytes);
	i.notes_off = i.size_bytes;
	put_note(&i, CODE_ADDR + 0x10, BASE_ADDR, 0, "twice", NUMBER("1"));
	put_note(&i, CODE_ADDR + 0x20, BASE_ADDR, DATA_ADDR + 8, "other", "");
	put_note(&i, CODE_ADDR + 0x30, BASE_ADDR, DATA_ADDR + 4, "twice", NUMBER("2"));
	put_note(&i, CODE_ADDR + 0x1000, BASE_ADDR, 0, "twice", NUMBER("3")); /* in no code */
	put_note(&i, CODE_ADDR, BASE_ADDR, CODE_ADDR, "twice", NUMBER("4"));  /* nor in data */
	for (size_t k = 0; k < many; k++)
		put_note(&i, CODE_ADDR + k, BASE_ADDR, 0, "many", NUMBER("1"));
	i.notes_size = i.size_bytes - i.notes_off;
	sections[SECTION_NOTES] = (Elf64_Shdr){
		.sh_name = 1, .sh_type = SHT_NOTE, .sh_offset = i.notes_off, .sh_size = i.notes_size
	};
	sections[SECTION_BASE] =
		(Elf64_Shdr){ .sh_name = 15, .sh_type = SHT_PROGBITS, .sh_addr = base };
	sections[SECTION_NAMES] = (Elf64_Shdr){ .sh_type = SHT_STRTAB,
						.sh_offset = i.size_bytes,
						.sh_size = sizeof(names) };
	put(&i, names, sizeof(names));
	e.e_shoff = i.sections_off = i.size_bytes;
	put(&i, sections, sizeof(sections));
	memcpy(e.e_ident, ELFMAG, SELFMAG);
	e.e_ident[EI_CLASS] = ELFCLASS64;
	e.e_ident[EI_DATA] = ELFDATA2LSB;
	memcpy(i.bytes, &e, sizeof(e));
	memcpy(i.bytes + sizeof(e), segments, sizeof(segments));
	return i;
}

static int find(const struct image *i, const char *name, struct elf_usdt_probe *out)
{
	uint8_t *exact = malloc(i->size_bytes + !i->size_bytes);
	struct source s;
	int err;

	assert_non_null(exact);
	memcpy(exact, i->bytes, i->size_bytes);
	source_of_bytes(exact, i->size_bytes, &s);
	err = elf_usdt_find(&s, "tests", name, out);
	assert_true(err <= 0 && out->count <= ELF_USDT_SITES_MAX);
	for (uint32_t k = 0; k < out->count; k++)
		assert_true(out->sites[k].args.count <= PROBE_ARGS_MAX);
	free(exact);
	return err;
}

static struct elf_usdt_probe probe;

static void each_place_of_a_probe_is_found(void **state)
{
	struct image i = make(BASE_ADDR, 0);

	assert_int_equal(find(&i, "twice", &probe), 0);
	assert_int_equal(probe.count, 2);
	assert_int_equal(probe.sites[0].nop_bytes, CODE_OFF + 0x10);
	assert_int_equal(probe.sites[0].semaphore_bytes, 0);
	assert_int_equal(probe.sites[0].args.arg[0].value, 1);
	assert_int_equal(probe.sites[1].nop_bytes, CODE_OFF + 0x30);
	assert_int_equal(probe.sites[1].semaphore_bytes, DATA_OFF + 4);
	assert_int_equal(probe.sites[1].args.arg[0].value, 2);
	assert_int_equal(find(&i, "twic", &probe), -ENOENT);
	assert_int_equal(find(&i, "", &probe), -ENOENT);
	free(i.bytes);
}

/* prelink moves code and leaves the notes. */
static void what_was_moved_is_found_where_it_is(void **state)
{
	struct image i = make(BASE_ADDR + 0x40, 0);

	assert_int_equal(find(&i, "twice", &probe), 0);
	assert_int_equal(probe.count, 2);
	assert_int_equal(probe.sites[0].nop_bytes, CODE_OFF + 0x50);
	assert_int_equal(probe.sites[1].semaphore_bytes, DATA_OFF + 0x44);
	free(i.bytes);
}

static void more_places_than_there_is_room_for_are_an_error(void **state)
{
	struct image i = make(BASE_ADDR, ELF_USDT_SITES_MAX);

	assert_int_equal(find(&i, "many", &probe), 0);
	assert_int_equal(probe.count, ELF_USDT_SITES_MAX);
	free(i.bytes);
	i = make(BASE_ADDR, ELF_USDT_SITES_MAX + 1);
	assert_int_equal(find(&i, "many", &probe), -EOVERFLOW);
	assert_int_equal(find(&i, "twice", &probe), 0);
	free(i.bytes);
}

/* Wherever a bit is wrong, or the file is cut, there are places within it, or an error. */
static void no_byte_is_believed(void **state)
{
	struct image i = make(BASE_ADDR, 0);
	const struct {
		size_t off, size_bytes;
	} parts[] = {
		{ 0, sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr) },
		{ i.notes_off, i.notes_size },
		{ i.sections_off, SECTIONS * sizeof(Elf64_Shdr) },
	};
	size_t complete_bytes = i.size_bytes;

	for (size_t part = 0; part < 3; part++) {
		for (size_t at = 0; at < parts[part].size_bytes * 8; at++) {
			uint8_t *byte = i.bytes + parts[part].off + at / 8;

			*byte ^= (uint8_t)(1u << at % 8);
			(void)find(&i, "twice", &probe);
			*byte ^= (uint8_t)(1u << at % 8);
		}
	}
	assert_int_equal(find(&i, "twice", &probe), 0);
	while (i.size_bytes > complete_bytes - 600) {
		i.size_bytes--;
		(void)find(&i, "twice", &probe);
	}
	for (; i.size_bytes; i.size_bytes -= i.size_bytes > 997 ? 997 : i.size_bytes)
		(void)find(&i, "twice", &probe);
	assert_int_equal(find(&i, "twice", &probe), -ENOEXEC);
	free(i.bytes);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(arguments_are_where_the_note_has_them),
		cmocka_unit_test(arguments_of_aarch64_are_where_the_note_has_them),
		cmocka_unit_test(unknown_arguments_keep_their_place),
		cmocka_unit_test(each_place_of_a_probe_is_found),
		cmocka_unit_test(what_was_moved_is_found_where_it_is),
		cmocka_unit_test(more_places_than_there_is_room_for_are_an_error),
		cmocka_unit_test(no_byte_is_believed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
