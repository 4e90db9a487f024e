/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* symtab, elffile, demangle: files and names that are cut, or lie */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyze/sym/symtab/demangle.h"
#include "analyze/sym/symtab/symtab.h"
#include "tests/unit/fixture.h"

static uint8_t *slurp(const char *name, size_t *size_bytes)
{
	char path[FIXTURE_PATH];
	struct stat st;
	uint8_t *data;
	int fd;

	fixture_path(name, path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	data = malloc((size_t)st.st_size);
	assert_true(read(fd, data, (size_t)st.st_size) == st.st_size);
	close(fd);
	*size_bytes = (size_t)st.st_size;
	return data;
}

/* Opens and asks; whatever the bytes are, nothing may break.  The result of symtab_new(). */
static int load_bytes(const uint8_t *data, size_t size_bytes)
{
	uint8_t *copy = malloc(size_bytes ? size_bytes : 1);
	struct elf_file *e;
	struct symtab *t;
	int err;

	memcpy(copy, data, size_bytes);
	err = elf_file_from_bytes(copy, size_bytes, &e);
	if (!err) {
		err = symtab_new(e, NULL, NULL, NULL, &t);
		if (!err) {
			symtab_find(t, 0x401008, true, NULL);
			symtab_find(t, 0x401110, true, NULL);
			symtab_free(t);
		}
		elf_file_close(e);
	}
	free(copy);
	return err;
}

static void elffile_cut_files_break_nothing(void **state)
{
	size_t n, size_bytes, refused = 0;
	uint8_t *data = slurp("layout", &size_bytes);

	for (n = 0; n < size_bytes; n += n < 0x200 ? 1 : 61)
		refused += load_bytes(data, n) != 0;
	assert_int_equal(load_bytes(data, 63), -EBADMSG);
	assert_true(refused > 64);
	assert_int_equal(load_bytes(data, size_bytes), 0);
	free(data);
}

static void elffile_other_files_are_refused(void **state)
{
	uint8_t big_endian[64] = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2MSB, 1 };

	assert_int_equal(load_bytes((const uint8_t *)"#!/bin/sh\n", 10), -EBADMSG);
	assert_int_equal(load_bytes((const uint8_t *)"!<arch>\nabcdefgh", 16), -EBADMSG);
	assert_int_equal(load_bytes(big_endian, sizeof(big_endian)), -EBADMSG);
	assert_int_equal(load_bytes((const uint8_t *)"", 0), -EBADMSG);
}

/* The header of the first section of a type in an image of 64 bits. */
static Elf64_Shdr *section_header(uint8_t *data, uint32_t type)
{
	Elf64_Ehdr *e = (Elf64_Ehdr *)data;
	Elf64_Shdr *s = (Elf64_Shdr *)(data + e->e_shoff);
	size_t i;

	for (i = 0; i < e->e_shnum; i++)
		if (s[i].sh_type == type)
			return &s[i];
	fail_msg("no section of type %u", type);
	return NULL;
}

static void symtab_hostile_tables_are_refused(void **state)
{
	static const struct {
		const char *what;
		size_t off_bytes, size_bytes;
		uint64_t value;
		int ret;
	} cases[] = {
		{ "entries of no size", offsetof(Elf64_Shdr, sh_entsize), 8, 0, -EBADMSG },
		{ "entries of 16", offsetof(Elf64_Shdr, sh_entsize), 8, 16, -EBADMSG },
		{ "size of ones", offsetof(Elf64_Shdr, sh_size), 8, UINT64_MAX, -EBADMSG },
		{ "size behind the end", offsetof(Elf64_Shdr, sh_size), 8, 1 << 20, -EBADMSG },
		{ "size of 4 GiB", offsetof(Elf64_Shdr, sh_size), 8, 1ULL << 32, -EBADMSG },
		{ "offset of ones", offsetof(Elf64_Shdr, sh_offset), 8, UINT64_MAX, -EBADMSG },
		{ "offset that wraps", offsetof(Elf64_Shdr, sh_offset), 8, UINT64_MAX - 23,
		  -EBADMSG },
		{ "strings nowhere", offsetof(Elf64_Shdr, sh_link), 4, 0xffff, -EBADMSG },
		{ "strings in section 0", offsetof(Elf64_Shdr, sh_link), 4, 0, 0 },
		{ "no symbols", offsetof(Elf64_Shdr, sh_size), 8, 0, 0 },
		{ "half a symbol", offsetof(Elf64_Shdr, sh_size), 8, 12, 0 },
	};
	size_t i, size_bytes;
	uint8_t *data, *header;
	int ret;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		data = slurp("layout", &size_bytes);
		header = (uint8_t *)section_header(data, SHT_SYMTAB);
		memcpy(header + cases[i].off_bytes, &cases[i].value, cases[i].size_bytes);
		ret = load_bytes(data, size_bytes);
		free(data);
		if (ret != cases[i].ret)
			fail_msg("%s: %d, expected %d", cases[i].what, ret, cases[i].ret);
	}
}

/* Every field of every symbol in turn set to ones. */
static void symtab_hostile_symbols_break_nothing(void **state)
{
	size_t off, size_bytes;
	uint8_t *data = slurp("layout", &size_bytes), saved[8];
	Elf64_Shdr *s = section_header(data, SHT_SYMTAB);

	for (off = 0; off + 8 <= s->sh_size; off += 8) {
		memcpy(saved, data + s->sh_offset + off, 8);
		memset(data + s->sh_offset + off, 0xff, 8);
		assert_int_equal(load_bytes(data, size_bytes), 0);
		memcpy(data + s->sh_offset + off, saved, 8);
	}
	free(data);
}

static void symtab_names_end_with_their_table(void **state)
{
	size_t size_bytes;
	uint8_t *data = slurp("layout", &size_bytes);
	Elf64_Ehdr *e = (Elf64_Ehdr *)data;
	Elf64_Shdr *sections = (Elf64_Shdr *)(data + e->e_shoff);
	Elf64_Shdr *strings = &sections[section_header(data, SHT_SYMTAB)->sh_link];

	memset(data + strings->sh_offset, 'x', strings->sh_size); /* not one NUL */
	assert_int_equal(load_bytes(data, size_bytes), 0);
	free(data);
}

static void demangle_leaves_what_it_does_not_know(void **state)
{
	char long_name[1200] = "_Z", *s;

	assert_null(demangle("main"));
	assert_null(demangle(""));
	assert_null(demangle("_"));
	assert_null(demangle("_Z"));
	assert_null(demangle("_R"));
	assert_null(demangle("_D"));
	assert_null(demangle("_DYNAMIC"));
	assert_null(demangle("_ZN4shop"));
	assert_null(demangle("_Zsomething else"));
	memset(long_name + 2, 'P', sizeof(long_name) - 3);
	assert_null(demangle(long_name));
	assert_null(demangle("_D1a1bFQdQdQdQdQdQdQdQdQdQdQdQdZv"));
	s = demangle("_ZN2ns1SIlE4workEli.cold");
	assert_string_equal(s, "ns::S<long>::work"); /* as perf: the part is not shown */
	free(s);
	s = demangle("_GLOBAL__I_main");
	assert_string_equal(s, "global constructors keyed to main");
	free(s);
}

/*
 * f<a<int, int>, a<1, 1>, a<2, 2>, ...> where each number stands for the argument of that place:
 * every further argument doubles the length.
 */
static void demangle_does_not_let_names_explode(void **state)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char name[1024], *end, *s;
	size_t i, count;

	for (count = 4; count <= 30; count += 13) {
		end = name + sprintf(name, "_Z1fI1aIiiE");
		for (i = 0; i < count; i++)
			end += sprintf(end, "S0_IS%c_S%c_E", digits[i + 1], digits[i + 1]);
		strcpy(end, "Evv");
		s = demangle(name);
		if (count == 4)
			assert_true(strlen(s) > 400);
		else
			assert_null(s);
		free(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(elffile_cut_files_break_nothing),
		cmocka_unit_test(elffile_other_files_are_refused),
		cmocka_unit_test(symtab_hostile_tables_are_refused),
		cmocka_unit_test(symtab_hostile_symbols_break_nothing),
		cmocka_unit_test(symtab_names_end_with_their_table),
		cmocka_unit_test(demangle_leaves_what_it_does_not_know),
		cmocka_unit_test(demangle_does_not_let_names_explode),
	};

	return cmocka_run_group_tests_name("symtab_hostile", tests, NULL, NULL);
}
