/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* symtab, elffile, plt: names in programs of tests/lib/fixtures, against known answers, nm and objdump */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyze/sym/symtab/symtab.h"
#include "tests/unit/fixture.h"

struct program {
	int fd;
	struct elf_file *elf;
};

static bool program_open(const char *name, struct program *out)
{
	char path[FIXTURE_PATH];

	fixture_path(name, path);
	out->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (out->fd < 0 && errno == ENOENT)
		return false;
	assert_true(out->fd >= 0);
	assert_int_equal(elf_file_open(out->fd, &out->elf), 0);
	return true;
}

static void program_close(struct program *p)
{
	elf_file_close(p->elf);
	close(p->fd);
}

/* The symbols of a fixture, NULL when this machine could not build it. */
static struct symtab *symbols_of(const char *name, const char *debug_name)
{
	struct program p, d = { -1, NULL };
	struct symtab *t;

	if (!program_open(name, &p))
		return NULL;
	if (debug_name)
		assert_true(program_open(debug_name, &d));
	assert_int_equal(symtab_new(p.elf, d.elf, NULL, NULL, &t), 0);
	program_close(&p);
	if (debug_name)
		program_close(&d);
	return t;
}

struct answer {
	uint64_t vaddr;
	const char *name; /* NULL: none */
};

static void check_answers(struct symtab *t, const struct answer *a, size_t count)
{
	const char *name;
	size_t i;

	for (i = 0; i < count; i++) {
		name = symtab_find(t, a[i].vaddr, true, NULL);
		if (!name != !a[i].name || (name && strcmp(name, a[i].name) != 0))
			fail_msg("%#lx: %s, expected %s", (unsigned long)a[i].vaddr,
				 name ? name : "nothing", a[i].name ? a[i].name : "nothing");
	}
}

static const struct answer layout_answers[] = {
	{ 0x400fff, NULL },
	{ 0x401000, "f_sized" },
	{ 0x40101f, "f_sized" },
	{ 0x401020, NULL }, /* it has a size */
	{ 0x40103f, NULL },
	{ 0x401040, "f_nosize" },
	{ 0x40107f, "f_nosize" },
	{ 0x401080, "a_label" },
	{ 0x4010a0, "a_label" }, /* hidden labels are no symbols */
	{ 0x4010bf, "a_label" },
	{ 0x4010c0, "outer" },
	{ 0x4010e0, "outer" }, /* a label in a function */
	{ 0x4010ff, "outer" },
	{ 0x401100, "inner_func" }, /* a function in a function */
	{ 0x40110f, "inner_func" },
	{ 0x401110, "outer" },
	{ 0x40113f, "outer" },
	{ 0x401140, "g_alias" },  /* not weak, not local */
	{ 0x401160, "under" },    /* fewer underscores */
	{ 0x401180, "abcd" },     /* longer */
	{ 0x4011a0, "s_second" }, /* with a size */
	{ 0x4011af, "s_second" },
	{ 0x4011b0, "z_first" },   /* without a size: to the next, though an alias has one */
	{ 0x4011c0, "zz_second" }, /* the last without a size */
	{ 0x4011ff, "zz_second" },
	{ 0x401200, "table" },
	{ 0x40121f, "table" },
	{ 0x401220, "chooser" },
	{ 0x401230, NULL },
	{ 0x401240, "ns::S<long>::work" },
	{ 0x401250, "core::fmt::Formatter::pad" },
	{ 0x401260, "mycrate::foo" },
	{ 0x401270, "std.stdio.writeln()" },
	{ 0x401280, "A::A" },
	{ 0x4012a0, "last_nosize" },
	{ 0x4012ff, "last_nosize" },
	{ 0x401300, NULL }, /* out of the section */
	{ 0x402000, NULL }, /* d_object: not code */
	{ 0x413000, "f_sized.cold" },
	{ 0x413010, "cold_label" },
	{ 0x41301f, "cold_label" },
	{ 0x413020, NULL },
	{ 0x415000, "o_func" },
	{ 0x415010, NULL }, /* a label, but not in text */
	{ 0, NULL },
	{ UINT64_MAX, NULL },
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void symtab_layout_has_the_names_it_was_given(void **state)
{
	struct symtab *t = symbols_of("layout", NULL);

	assert_true(symtab_is_full(t));
	check_answers(t, layout_answers, COUNT(layout_answers));
	assert_string_equal(symtab_find(t, 0x401240, false, NULL), "_ZN2ns1SIlE4workEli");
	symtab_free(t);
}

static void symtab_same_function_gives_same_pointer(void **state)
{
	struct symtab *t = symbols_of("layout", NULL);

	assert_ptr_equal(symtab_find(t, 0x401240, true, NULL),
			 symtab_find(t, 0x401248, true, NULL));
	assert_ptr_equal(symtab_find(t, 0x401000, true, NULL),
			 symtab_find(t, 0x401001, true, NULL));
	symtab_free(t);
}

static void symtab_of_32_bits_has_the_same_names(void **state)
{
	struct symtab *t = symbols_of("layout32", NULL);

	if (!t) {
		print_message("no 32-bit assembler here\n");
		skip();
		return;
	}
	check_answers(t, layout_answers, COUNT(layout_answers));
	symtab_free(t);
}

static void symtab_of_a_debug_file_stands_in(void **state)
{
	struct symtab *t = symbols_of("layout.stripped", NULL);

	assert_int_equal(symtab_count(t), 0);
	assert_false(symtab_is_full(t));
	symtab_free(t);
	t = symbols_of("layout.stripped", "layout.debug");
	assert_true(symtab_is_full(t));
	check_answers(t, layout_answers, COUNT(layout_answers));
	symtab_free(t);
}

/* .dynsym has only what others may use: locals and hidden ones are gone. */
static void symtab_of_a_stripped_library_has_its_exports(void **state)
{
	static const struct answer answers[] = {
		{ 0x401000, "f_sized" },
		{ 0x401040, "f_nosize" },
		{ 0x401100, "outer" },
		{ 0x401140, "g_alias" },
		{ 0x401200, NULL },
		{ 0x401220, "chooser" },
		{ 0x401240, "ns::S<long>::work" },
		{ 0x413000, NULL },
		{ 0x413010, "cold_label" },
		{ 0x415000, "o_func" },
	};
	static const struct answer both[] = {
		{ 0x401100, "inner_func" },   { 0x401140, "g_alias" }, { 0x401200, "table" },
		{ 0x413000, "f_sized.cold" }, { 0x415000, "o_func" },  { 0x4012a0, "last_nosize" },
	};
	struct symtab *t = symbols_of("layout.so.stripped", NULL);

	assert_false(symtab_is_full(t));
	check_answers(t, answers, COUNT(answers));
	symtab_free(t);
	t = symbols_of("layout.so", NULL); /* both tables: locals too */
	assert_true(symtab_is_full(t));
	check_answers(t, both, COUNT(both));
	symtab_free(t);
}

/* Runs FORMAT with the fixture's path in it, and leaves the lines that it prints to be read. */
static FILE *run_tool(const char *format, const char *program)
{
	char path[FIXTURE_PATH], cmd[8400];
	FILE *f;

	fixture_path(program, path);
	assert_true(snprintf(cmd, sizeof(cmd), format, path) < (int)sizeof(cmd));
	f = popen(cmd, "r");
	assert_non_null(f);
	return f;
}

/* The name in a line "ADDRESS SIZE TYPE NAME" of nm, NULL when the symbol is not code. */
static char *nm_line(char *line, uint64_t *addr, uint64_t *size_bytes)
{
	char *p;

	*addr = strtoull(line, &p, 16);
	*size_bytes = strtoull(p, &p, 16);
	p[strcspn(p, "\n")] = '\0';
	if (!*size_bytes || p[0] != ' ' || !p[1] || !strchr("tTwWi", p[1]) || p[2] != ' ')
		return NULL;
	return p + 3;
}

/* Whether nm gives this name to this address too. */
static bool nm_has(const char *program, uint64_t addr, const char *name)
{
	FILE *nm = run_tool("nm -S --defined-only '%s'", program);
	uint64_t nm_addr, size_bytes;
	char line[4096];
	const char *p;
	bool found = false;

	while (fgets(line, sizeof(line), nm)) {
		p = nm_line(line, &nm_addr, &size_bytes);
		found |= p && nm_addr == addr && !strcmp(p, name);
	}
	pclose(nm);
	return found;
}

/* Each sized symbol of nm: our name there must be this one, or another of nm's at the address. */
static void symtab_names_what_nm_names(void **state)
{
	static const char *const programs[] = { "names", "plt-lazy", "plt-static", "layout" };
	uint64_t addr, size_bytes;
	size_t i, checked = 0;
	char line[4096];
	FILE *nm;

	for (i = 0; i < COUNT(programs); i++) {
		struct symtab *t = symbols_of(programs[i], NULL);
		const char *found, *name;

		nm = run_tool("nm -S --defined-only '%s'", programs[i]);
		while (fgets(line, sizeof(line), nm)) {
			name = nm_line(line, &addr, &size_bytes);
			if (!name)
				continue;
			found = symtab_find(t, addr, false, NULL);
			if (!found ||
			    (strcmp(found, name) != 0 && !nm_has(programs[i], addr, found)))
				fail_msg("%s: %#lx: %s, nm: %s", programs[i], (unsigned long)addr,
					 found ? found : "nothing", name);
			if (!symtab_find(t, addr + size_bytes - 1, false, NULL))
				fail_msg("%s: end of %s has no name", programs[i], name);
			checked++;
		}
		pclose(nm);
		symtab_free(t);
	}
	assert_true(checked > 500);
}

/* The name in a line "ADDRESS <NAME@plt>:" of objdump, NULL for other lines. */
static char *stub_line(char *line, uint64_t *addr)
{
	char *p, *end;

	*addr = strtoull(line, &p, 16);
	if (strncmp(p, " <", 2) != 0)
		return NULL;
	end = strstr(p, "@plt>:"); /* not NAME@plt-0x10, the one that calls the linker */
	if (!end)
		return NULL;
	end[strlen("@plt")] = '\0';
	return p + 2;
}

static size_t check_stubs(const char *program)
{
	struct symtab *t = symbols_of(program, NULL);
	const char *found, *expected;
	size_t checked = 0;
	char line[4096];
	uint64_t addr;
	FILE *objdump;

	if (!t)
		return 0;
	objdump = run_tool("objdump -d '%s'", program);
	while (fgets(line, sizeof(line), objdump)) {
		expected = stub_line(line, &addr);
		if (!expected)
			continue;
		if (!strncmp(expected, "*ABS*", 5)) /* objdump does not look the chooser up */
			expected = strstr(program, "stripped") ? NULL : "chosen@plt";
		found = symtab_find(t, addr, true, NULL);
		if (!found != !expected || (found && strcmp(found, expected) != 0))
			fail_msg("%s: %#lx: %s, objdump: %s", program, (unsigned long)addr,
				 found ? found : "nothing", expected ? expected : "a chooser");
		checked++;
	}
	pclose(objdump);
	symtab_free(t);
	return checked;
}

static void symtab_names_stubs_as_objdump_does(void **state)
{
	assert_true(check_stubs("plt-lazy") >= 5);
	assert_true(check_stubs("plt-now") >= 5);
	assert_true(check_stubs("plt-nopie") >= 4);
	assert_true(check_stubs("plt-lazy.stripped") >= 5);
}

static void symtab_names_stubs_of_other_linkers_and_ibt(void **state)
{
	size_t ibt = check_stubs("plt-ibt"), stripped = check_stubs("plt-ibt.stripped");

	if (!ibt || !check_stubs("plt-gold") || !check_stubs("plt-lld")) {
		print_message("not all of gold, lld and IBT here\n");
		skip();
		return;
	}
	assert_true(ibt >= 5);
	assert_true(stripped >= 5);
}

/* With IBT a call passes through .plt.sec, and the first one through .plt too. */
static void symtab_names_lazy_stubs_of_ibt(void **state)
{
	struct symtab *t = symbols_of("plt-ibt", NULL);
	struct program p;
	const struct elf_file_section *s;
	size_t i, named = 0;

	if (!t) {
		print_message("no IBT here\n");
		skip();
		return;
	}
	if (!program_open("plt-ibt", &p))
		return;
	s = elf_file_by_name(p.elf, ".plt");
	assert_non_null(s);
	assert_null(symtab_find(t, s->addr, true, NULL)); /* the one that calls the linker */
	for (i = 16; i < s->size_bytes; i += 16) {
		const char *name = symtab_find(t, s->addr + i, true, NULL);

		named += name && strstr(name, "@plt");
	}
	assert_int_equal(named, s->size_bytes / 16 - 1);
	program_close(&p);
	symtab_free(t);
}

/* In a static program all stubs lead to functions chosen at run time. */
static void symtab_names_stubs_of_static_programs(void **state)
{
	struct symtab *t = symbols_of("plt-static", NULL);
	const struct elf_file_section *s;
	struct program p;
	size_t i, named = 0;

	if (!program_open("plt-static", &p))
		return;
	s = elf_file_by_name(p.elf, ".plt");
	if (!s || elf_file_machine(p.elf) != EM_X86_64) {
		print_message("this linker makes no stubs\n");
		skip();
		return;
	}
	for (i = 0; i < s->size_bytes; i += 8) {
		const char *name = symtab_find(t, s->addr + i, true, NULL);

		named += name && strstr(name, "@plt");
	}
	assert_int_equal(named, s->size_bytes / 8);
	program_close(&p);
	symtab_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(symtab_layout_has_the_names_it_was_given),
		cmocka_unit_test(symtab_same_function_gives_same_pointer),
		cmocka_unit_test(symtab_of_32_bits_has_the_same_names),
		cmocka_unit_test(symtab_of_a_debug_file_stands_in),
		cmocka_unit_test(symtab_of_a_stripped_library_has_its_exports),
		cmocka_unit_test(symtab_names_what_nm_names),
		cmocka_unit_test(symtab_names_stubs_as_objdump_does),
		cmocka_unit_test(symtab_names_stubs_of_other_linkers_and_ibt),
		cmocka_unit_test(symtab_names_lazy_stubs_of_ibt),
		cmocka_unit_test(symtab_names_stubs_of_static_programs),
	};

	return cmocka_run_group_tests_name("symtab", tests, NULL, NULL);
}
