/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* symtab, resolve: where it is known what will be asked for, the answers are those of the complete table */
#include <elf.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyze/sym/resolve.h"
#include "analyze/sym/symtab/symtab.h"
#include "format/base/cursor.h"
#include "tests/unit/fixture.h"
#include "tests/unit/random.h"

#define ADDRS_MAX 20000

/* The bytes of a file and its ELF view. */
struct program {
	uint8_t *data;
	size_t size_bytes;
	struct elf_file *elf;
};

static bool program_read(const char *name, struct program *out)
{
	char path[FIXTURE_PATH];
	struct stat st;
	int fd;

	fixture_path(name, path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false; /* this machine could not build it */
	assert_int_equal(fstat(fd, &st), 0);
	out->size_bytes = (size_t)st.st_size;
	out->data = malloc(out->size_bytes);
	assert_int_equal(read(fd, out->data, out->size_bytes), st.st_size);
	close(fd);
	assert_int_equal(elf_file_from_bytes(out->data, out->size_bytes, &out->elf), 0);
	return true;
}

static void program_done(struct program *p)
{
	elf_file_close(p->elf);
	free(p->data);
}

/* Addresses of the code, every step bytes, and a few beside it. */
static size_t code_addresses(const struct elf_file *e, uint64_t step, uint64_t *out)
{
	size_t section_count, n = 0;
	const struct elf_file_section *s = elf_file_sections(e, &section_count);

	for (size_t i = 1; i < section_count; i++) {
		if (!(s[i].flags & SHF_EXECINSTR))
			continue;
		for (uint64_t a = s[i].addr - 1; a <= s[i].addr + s[i].size_bytes && n < ADDRS_MAX;
		     a += step)
			out[n++] = a;
	}
	return n;
}

static void check_same(struct symtab *complete, struct symtab *part, uint64_t vaddr)
{
	uint64_t start_a = 0, start_b = 0;
	const char *a = symtab_find(complete, vaddr, true, &start_a),
		   *b = symtab_find(part, vaddr, true, &start_b);
	const char *raw_a = symtab_find(complete, vaddr, false, NULL),
		   *raw_b = symtab_find(part, vaddr, false, NULL);

	if (!a != !b || (a && (strcmp(a, b) != 0 || strcmp(raw_a, raw_b) != 0)))
		fail_msg("%#lx: %s, and %s of all", (unsigned long)vaddr, b ? b : "nothing",
			 a ? a : "nothing");
	assert_int_equal(start_a, start_b);
}

/* The addresses that are asked for, as they are. */
static void check_wanted(const struct elf_file *e, const struct elf_file *debug,
			 struct symtab *complete, const uint64_t *addrs, size_t count)
{
	struct symtab_wanted wanted = { addrs, count };
	struct symtab *part;

	assert_int_equal(symtab_new(e, debug, NULL, &wanted, &part), 0);
	assert_int_equal(symtab_is_full(part), symtab_is_full(complete));
	for (size_t i = 0; i < count; i++)
		check_same(complete, part, addrs[i]);
	symtab_free(part);
}

/* All addresses, then some, then each alone. */
static void check_program(const struct program *p, const struct program *debug)
{
	uint64_t *addrs = calloc(2 * ADDRS_MAX, sizeof(*addrs)), *some = addrs + ADDRS_MAX;
	uint64_t seed = 88172645463325252ULL;
	const struct elf_file *d = debug ? debug->elf : NULL;
	size_t count = code_addresses(p->elf, p->size_bytes > 200000 ? 37 : 1, addrs), n;
	struct symtab *complete;

	assert_true(count > 10);
	assert_int_equal(symtab_new(p->elf, d, NULL, NULL, &complete), 0);
	check_wanted(p->elf, d, complete, addrs, count);
	for (int round = 0; round < 20; round++) {
		n = 0;
		for (size_t i = 0; i < 50; i++)
			some[n++] = addrs[next_random(&seed) % count];
		check_wanted(p->elf, d, complete, some, n);
	}
	for (size_t i = 0; i < 300; i++)
		check_wanted(p->elf, d, complete, &addrs[next_random(&seed) % count], 1);
	check_wanted(p->elf, d, complete, addrs, 0);
	symtab_free(complete);
	free(addrs);
}

static void wanted_addresses_have_the_names_of_the_complete_table(void **state)
{
	static const char *const names[] = { "layout",    "layout32",
					     "layout.so", "layout.so.stripped",
					     "plt-nopie", "plt-lazy.stripped",
					     "plt-ibt",   "plt-gold",
					     "plt-lld",   "plt-static" };
	struct program p;
	size_t seen = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!program_read(names[i], &p))
			continue;
		check_program(&p, NULL);
		program_done(&p);
		seen++;
	}
	assert_true(seen >= 6);
}

static void wanted_names_may_be_in_the_debug_file(void **state)
{
	struct program p, d;

	assert_true(program_read("layout.stripped", &p));
	assert_true(program_read("layout.debug", &d));
	check_program(&p, &d);
	program_done(&p);
	program_done(&d);
}

/* The entry of the symbol that is called name. */
static uint8_t *entry_of(const struct program *p, const char *name)
{
	const struct elf_file_section *table = elf_file_by_type(p->elf, SHT_SYMTAB), *sections;
	uint8_t *strings, *entry = NULL;
	size_t count;

	sections = elf_file_sections(p->elf, &count);
	assert_non_null(table);
	assert_int_equal(elf_file_read(p->elf, &sections[table->link], &strings), 0);
	for (uint64_t off = 0; off < table->size_bytes && !entry; off += sizeof(Elf64_Sym)) {
		uint8_t *e = p->data + table->off_bytes + off;

		if (!strcmp((char *)strings + le32_load(e), name))
			entry = e;
	}
	free(strings);
	assert_non_null(entry);
	return entry;
}

/* A symbol whose name is empty is none: it must neither name nor end another one. */
static void wanted_symbols_without_a_name_are_none(void **state)
{
	static const char *const names[] = { "a_label", "f_nosize",   "zz_second",  "f_sized",
					     "outer",   "inner_func", "last_nosize" };
	struct program p;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		uint8_t *entry;

		assert_true(program_read("layout", &p));
		entry = entry_of(&p, names[i]);
		le32_store(entry, le32_load(entry) + (uint32_t)strlen(names[i]));
		check_program(&p, NULL);
		program_done(&p);
	}
}

/* Cut in the middle of its tables, a file gives no more than the complete one would. */
static void wanted_names_of_broken_tables_break_nothing(void **state)
{
	static const size_t offs[] = { 0, 4, 8, 16 };
	struct program p;

	for (size_t i = 0; i < 200; i++) {
		const struct elf_file_section *table;
		uint64_t seed = 2463534242ULL + i;

		assert_true(program_read("layout", &p));
		table = elf_file_by_type(p.elf, SHT_SYMTAB);
		for (int k = 0; k < 5; k++) {
			uint64_t entry = next_random(&seed) % (table->size_bytes / 24);
			uint8_t *at = p.data + table->off_bytes + 24 * entry +
				      offs[next_random(&seed) % 4];

			le32_store(at, (uint32_t)next_random(&seed) & 0x415fff);
		}
		check_program(&p, NULL);
		program_done(&p);
	}
}

/* ---- resolver ---- */

static struct resolver *resolver_of(const char *symfs, unsigned thread_count)
{
	struct resolver_opts opts = {
		.roots = { .symfs = symfs },
		.demangle = true,
		.thread_count = thread_count,
	};
	struct resolver *r;

	assert_int_equal(resolver_new(&opts, &r), 0);
	return r;
}

static uint32_t add(struct resolver *r, const char *path)
{
	struct resolver_file f = { .path = path };

	return resolver_add_file(r, &f);
}

static void check_name(struct resolver *r, uint32_t file, uint64_t off, const char *name)
{
	const struct resolved *x = resolver_user(r, file, off, false);

	assert_non_null(x->name);
	assert_string_equal(x->name, name);
}

static void wanted_or_not_every_place_has_its_name(void **state)
{
	char root[FIXTURE_PATH];
	const char *first;
	struct resolver *r;
	uint32_t file;

	fixture_path("", root);
	r = resolver_of(root, 0);
	file = add(r, "/layout");
	assert_int_equal(resolver_want(r, file, 0x1000, false), 0);
	assert_int_equal(resolver_want(r, file, 0x1241, true), 0);
	resolver_load(r, &file, 1);
	check_name(r, file, 0x1000, "f_sized");
	first = resolver_user(r, file, 0x1000, false)->name;
	check_name(r, file, 0x1040, "f_nosize"); /* was not announced */
	check_name(r, file, 0x1100, "inner_func");
	assert_string_equal(resolver_user(r, file, 0x1241, true)->name, "ns::S<long>::work");
	assert_ptr_equal(resolver_user(r, file, 0x1000, false)->name, first);
	assert_string_equal(first, "f_sized");
	assert_int_equal(resolver_want(r, file, 0x1080, false), 0); /* too late, and no harm */
	check_name(r, file, 0x1080, "a_label");
	resolver_free(r);
}

/* As __restore_rt, to which a signal returns: no call is before it. */
static void what_is_returned_to_and_not_called_has_its_name(void **state)
{
	char root[FIXTURE_PATH];

	fixture_path("", root);
	for (int wanted = 0; wanted < 2; wanted++) {
		struct resolver *r = resolver_of(root, 0);
		uint32_t file = add(r, "/layout"), gone = add(r, "/layout.so.stripped");
		const struct resolved *x;

		if (wanted) {
			assert_int_equal(resolver_want(r, file, 0x1040, true), 0);
			assert_int_equal(resolver_want(r, file, 0x103e, true), 0);
			assert_int_equal(resolver_want(r, gone, 0x1040, true), 0);
			resolver_load(r, (uint32_t[]){ file, gone }, 2);
		}
		x = resolver_user(r, file, 0x1040, true);
		assert_non_null(x->name);
		assert_string_equal(x->name, "f_nosize");
		assert_int_equal(x->into_bytes, 0);
		/* not what only lies behind it, and not where local functions have no names */
		x = resolver_user(r, file, 0x103e, true);
		assert_null(x->name);
		assert_int_equal(x->reason, NAME_BETWEEN);
		assert_null(resolver_user(r, gone, 0x1040, true)->name);
		resolver_free(r);
	}
}

/* Files that are there, gone and no ELF, by any number of threads. */
static void loading_gives_the_same_by_any_number_of_threads(void **state)
{
	static const char *const paths[] = {
		"/layout", "/layout.so",         "/gone", "/.built", "/plt-nopie",
		"/layout", "/layout.so.stripped"
	};
	enum { FILES = sizeof(paths) / sizeof(paths[0]), OFFS = 0x2000 };
	char root[FIXTURE_PATH], *output[2] = { NULL };
	size_t size;

	fixture_path("", root);
	for (unsigned threads = 1; threads <= 8; threads++) {
		struct resolver *r = resolver_of(root, threads);
		uint32_t files[FILES];
		FILE *to = open_memstream(&output[threads > 1], &size);

		for (int i = 0; i < FILES; i++)
			files[i] = add(r, paths[i]);
		for (int i = 0; i < FILES; i++)
			for (uint64_t off = 0x800; off < OFFS; off += 0x20)
				assert_int_equal(resolver_want(r, files[i], off, false), 0);
		resolver_load(r, files, FILES);
		for (int i = 0; i < FILES; i++)
			for (uint64_t off = 0x800; off < OFFS; off += 0x20) {
				const struct resolved *x = resolver_user(r, files[i], off, false);

				fprintf(to, "%s %lx %s %d\n", paths[i], (unsigned long)off,
					x->name ? x->name : "-", x->reason);
			}
		fclose(to);
		resolver_free(r);
		if (threads == 1)
			continue;
		assert_string_equal(output[1], output[0]);
		free(output[1]);
	}
	assert_non_null(strstr(output[0], "/layout.so 1040 f_nosize"));
	free(output[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wanted_addresses_have_the_names_of_the_complete_table),
		cmocka_unit_test(wanted_names_may_be_in_the_debug_file),
		cmocka_unit_test(wanted_symbols_without_a_name_are_none),
		cmocka_unit_test(wanted_names_of_broken_tables_break_nothing),
		cmocka_unit_test(wanted_or_not_every_place_has_its_name),
		cmocka_unit_test(what_is_returned_to_and_not_called_has_its_name),
		cmocka_unit_test(loading_gives_the_same_by_any_number_of_threads),
	};

	return cmocka_run_group_tests_name("symtab_wanted", tests, NULL, NULL);
}
