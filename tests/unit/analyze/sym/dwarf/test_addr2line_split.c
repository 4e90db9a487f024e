/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* addr2line: inlined functions in .dwo files, complete and broken ones */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyze/sym/locate/dwo_search.h"
#include "analyze/sym/dwarf/addr2line.h"
#include "format/base/cursor.h"
#include "tests/unit/fixture.h"

#define HOT      0x412000 /* hot() of tests/lib/fixtures/pinned.c */
#define HOT_SPAN 16       /* bytes; in the first ones innermost() is within middle() */
#define MOST     65536

struct part {
	uint8_t bytes[MOST];
	size_t size_bytes;
};

/* The content of the i-th location. */
struct locations {
	const struct part *list[3];
	unsigned count;
	const struct part *package;
};

static void fixture(const char *name, struct part *out)
{
	char path[FIXTURE_PATH];
	FILE *f;

	fixture_path(name, path);
	f = fopen(path, "re");
	assert_non_null(f);
	out->size_bytes = fread(out->bytes, 1, sizeof(out->bytes), f);
	assert_in_range(out->size_bytes, 1, MOST - 1);
	fclose(f);
}

static int memory(const struct part *p)
{
	int fd = memfd_create("part", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, p->bytes, p->size_bytes), (ssize_t)p->size_bytes);
	return fd;
}

static int open_part(const void *ctx, const char *folder, const char *name, unsigned i)
{
	const struct locations *p = ctx;

	assert_non_null(strstr(name, ".dwo"));
	assert_true(*folder == '/');
	if (i >= p->count)
		return -ERANGE;
	return p->list[i] ? memory(p->list[i]) : -ENOENT;
}

static int open_package(const void *ctx, unsigned i)
{
	const struct locations *p = ctx;

	return !i && p->package ? memory(p->package) : -ERANGE;
}

static struct addr2line *read_all(const struct part *program, const struct locations *places)
{
	const struct addr2line_parts parts = { .open = open_part,
					       .open_package = open_package,
					       .ctx = places };
	uint64_t vaddrs[HOT_SPAN];
	struct addr2line *t = NULL;
	int fd = memory(program);

	for (unsigned i = 0; i < HOT_SPAN; i++)
		vaddrs[i] = HOT + i;
	assert_int_equal(addr2line_new(fd, vaddrs, HOT_SPAN, 1, places ? &parts : NULL, &t), 0);
	close(fd);
	return t;
}

/* The most functions that an address of hot() is in, all names as they should be. */
static size_t deepest(const struct addr2line *t)
{
	static const char *const names[] = { "innermost", "middle", "hot" };
	struct source_frame frames[8];
	size_t most = 0, n;

	for (unsigned i = 0; i < HOT_SPAN; i++) {
		if (!addr2line_find(t, HOT + i, frames, 8, &n) || !n || !frames[n - 1].function)
			continue;
		assert_in_range(n, 1, 3);
		for (size_t k = 0; k < n; k++)
			assert_string_equal(frames[k].function, names[3 - n + k]);
		most = n > most ? n : most;
	}
	return most;
}

/* That it is broken may only be seen when all of it is read. */
static void check_gaps(const struct part *program, const struct locations *places,
		       enum addr2line_gap want)
{
	const struct addr2line_parts parts = { .open = open_part,
					       .open_package = open_package,
					       .ctx = places };
	const uint64_t vaddr = HOT;
	struct addr2line *t = NULL;
	const char *name = "";
	enum addr2line_gap gap;
	int fd = memory(program);

	assert_int_equal(addr2line_gaps_new(fd, &vaddr, 1, places ? &parts : NULL, &t), 0);
	close(fd);
	gap = addr2line_gap(t, &name);
	assert_true(gap == want || (want == ADDR2LINE_BAD && !gap));
	assert_int_equal(!gap, !*name);
	addr2line_free(t);
}

static void check(const struct part *program, const struct locations *places,
		  enum addr2line_gap want, size_t depth)
{
	struct addr2line *t = read_all(program, places);
	const char *name = "";

	assert_int_equal(addr2line_gap(t, &name), want);
	assert_int_equal(!want, !*name);
	assert_int_equal(deepest(t), depth);
	addr2line_free(t);
	check_gaps(program, places, want);
}

static const char *const programs[][2] = {
	{ "pinned-split", "pinned-split-pinned.dwo" },
	{ "pinned-split4", "pinned-split4-pinned.dwo" },
};

static void load_pair(size_t p, struct part *program, struct part *dwo)
{
	fixture(programs[p][0], program);
	fixture(programs[p][1], dwo);
}

static void the_dwo_has_the_inlined_functions(void **state)
{
	static struct part program, dwo;

	(void)state;
	for (size_t p = 0; p < 2; p++) {
		load_pair(p, &program, &dwo);
		check(&program, &(struct locations){ .list = { &dwo }, .count = 1 },
		      ADDR2LINE_COMPLETE, 3);
		check(&program, &(struct locations){ .list = { NULL, &dwo }, .count = 2 },
		      ADDR2LINE_COMPLETE, 3);
	}
}

static void without_it_lines_are_left_and_its_name(void **state)
{
	static struct part program, dwo;
	struct source_frame frame;
	struct addr2line *t;
	const char *name;
	size_t n;

	(void)state;
	for (size_t p = 0; p < 2; p++) {
		load_pair(p, &program, &dwo);
		check(&program, &(struct locations){ .list = { NULL }, .count = 0 }, ADDR2LINE_GONE,
		      0);
		t = read_all(&program, NULL);
		assert_int_equal(addr2line_gap(t, &name), ADDR2LINE_GONE);
		assert_string_equal(name, programs[p][1]);
		assert_true(addr2line_find(t, HOT, &frame, 1, &n));
		assert_int_equal(n, 1);
		assert_non_null(strstr(frame.file, "pinned.c"));
		assert_true(frame.line);
		addr2line_free(t);
	}
}

static Elf64_Shdr *section(struct part *p, const char *name)
{
	Elf64_Ehdr *e = (void *)p->bytes;
	Elf64_Shdr *s = (void *)(p->bytes + e->e_shoff);
	unsigned i = 0;

	while (i < e->e_shnum &&
	       strcmp((char *)p->bytes + s[e->e_shstrndx].sh_offset + s[i].sh_name, name))
		i++;
	assert_in_range(i, 1, e->e_shnum - 1);
	return &s[i];
}

/* One of another build: the program has another id. */
static void another_id_is_not_believed(void **state)
{
	static struct part program, dwo, right;
	Elf64_Shdr *info;

	(void)state;
	fixture("pinned-split", &program);
	fixture("pinned-split-pinned.dwo", &dwo);
	right = dwo;
	info = section(&dwo, ".debug_info.dwo");
	dwo.bytes[info->sh_offset + 12] ^=
		1; /* DWARF 5: behind length, version, type, size of addresses, abbreviations */
	check(&program, &(struct locations){ .list = { &dwo }, .count = 1 }, ADDR2LINE_STALE, 0);
	check(&program, &(struct locations){ .list = { &dwo, NULL, &right }, .count = 3 },
	      ADDR2LINE_COMPLETE, 3);
	/* One without a unit has no id either. */
	info->sh_size = 0;
	check(&program, &(struct locations){ .list = { &dwo }, .count = 1 }, ADDR2LINE_STALE, 0);
}

static void what_is_cut_or_no_dwo_is_broken(void **state)
{
	static struct part program, dwo, cut;

	(void)state;
	for (size_t p = 0; p < 2; p++) {
		load_pair(p, &program, &dwo);
		for (size_t n = 0; n < dwo.size_bytes; n += 61) {
			cut = dwo;
			cut.size_bytes = n;
			check(&program, &(struct locations){ .list = { &cut }, .count = 1 },
			      ADDR2LINE_BAD, 0);
		}
		/* A program that names itself. */
		check(&program, &(struct locations){ .list = { &program }, .count = 1 },
		      ADDR2LINE_BAD, 0);
	}
}

/* Without tables every index into them is out of range. */
static void indices_out_of_range_name_nothing(void **state)
{
	static const char *const tables[] = { ".debug_str_offsets.dwo", ".debug_str.dwo",
					      ".debug_abbrev.dwo" };
	static struct part program, dwo;
	static struct part cut;
	struct addr2line *t;

	(void)state;
	for (size_t p = 0; p < 2; p++) {
		load_pair(p, &program, &dwo);

		for (size_t i = 0; i < 3; i++) {
			cut = dwo;
			section(&cut, tables[i])->sh_size = 0;
			t = read_all(&program, &(struct locations){ .list = { &cut }, .count = 1 });
			assert_int_equal(deepest(t), 0);
			addr2line_free(t);
		}
		cut = program;
		section(&cut, ".debug_addr")->sh_size = 0;
		t = read_all(&cut, &(struct locations){ .list = { &dwo }, .count = 1 });
		assert_int_equal(deepest(t), 0);
		addr2line_free(t);
	}
}

/* Also references that lead to themselves: every byte is once what it was not. */
static void any_byte_may_be_wrong(void **state)
{
	static const uint8_t masks[] = { 0xff, 0x04 };
	static struct part program, dwo;
	struct source_frame frames[8];
	struct addr2line *t;
	size_t n;

	(void)state;
	for (size_t p = 0; p < 2; p++) {
		load_pair(p, &program, &dwo);
		for (size_t i = 0; i < dwo.size_bytes; i++) {
			dwo.bytes[i] ^= masks[p];
			t = read_all(&program, &(struct locations){ .list = { &dwo }, .count = 1 });
			for (unsigned k = 0; k < HOT_SPAN; k++)
				if (addr2line_find(t, HOT + k, frames, 8, &n))
					assert_in_range(n, 1, 8);
			addr2line_free(t);
			dwo.bytes[i] ^= masks[p];
		}
	}
}

/* ---- packages: GNU's by dwp, DWARF 5 by llvm-dwp ---- */

static const char *const packed[][2] = {
	{ "pinned-split4", "split4.pack" },
	{ "pinned-clang5", "clang5.pack" },
};

static void load_packed(size_t p, struct part *program, struct part *pack)
{
	fixture(packed[p][0], program);
	fixture(packed[p][1], pack);
}

static void a_package_has_what_its_dwo_files_had(void **state)
{
	static struct part program, pack, other;

	(void)state;
	for (size_t p = 0; p < 2; p++) {
		load_packed(p, &program, &pack);
		check(&program, &(struct locations){ .package = &pack }, ADDR2LINE_COMPLETE, 3);
		/* It is no .dwo, and a .dwo is no package. */
		check(&program, &(struct locations){ { &pack }, 1, &program }, ADDR2LINE_COMPLETE,
		      3);
		fixture(packed[!p][1], &other);
		check(&program, &(struct locations){ .package = &other }, ADDR2LINE_GONE, 0);
	}
}

/* The index: 16 bytes of head, ids, rows, names of columns, offsets, sizes. */
struct table {
	uint8_t *rows, *offsets;
	uint32_t column_count, slot_count;
};

static struct table table_of(struct part *p)
{
	uint8_t *at = p->bytes + section(p, ".debug_cu_index")->sh_offset;
	struct table t = { .column_count = le32_load(at + 4), .slot_count = le32_load(at + 12) };

	t.rows = at + 16 + 8 * (size_t)t.slot_count;
	t.offsets = t.rows + 4 * (size_t)t.slot_count + 4 * (size_t)t.column_count;
	return t;
}

static void an_index_may_lie(void **state)
{
	static struct part program, pack, bad;
	struct table t;

	(void)state;
	for (size_t p = 0; p < 2; p++) {
		const struct locations places = { .package = &bad };

		load_packed(p, &program, &pack);
		/* Another id where its id was, and no empty slot to end at. */
		bad = pack;
		t = table_of(&bad);
		memset(t.rows - 8 * (size_t)t.slot_count, 0x55, 8 * (size_t)t.slot_count);
		memset(t.rows, 1, 4 * (size_t)t.slot_count);
		check(&program, &places, ADDR2LINE_GONE, 0);
		/* Rows behind the last. */
		bad = pack;
		t = table_of(&bad);
		memset(t.rows, 0xff, 4 * (size_t)t.slot_count);
		check(&program, &places, ADDR2LINE_GONE, 0);
		/* Parts out of their sections, and of nothing. */
		bad = pack;
		t = table_of(&bad);
		memset(t.offsets, 0x7f, 4 * (size_t)t.column_count);
		check(&program, &places, ADDR2LINE_BAD, 0);
		bad = pack;
		t = table_of(&bad);
		memset(t.offsets + 4 * (size_t)t.column_count, 0, 4 * (size_t)t.column_count);
		check(&program, &places, ADDR2LINE_BAD, 0);
		/* More slots than there are, and a number that is no power of two. */
		for (uint32_t count = 0; count < 4; count++) {
			static const uint8_t counts[4] = { 0, 3, 0xff, 0x80 };

			bad = pack;
			bad.bytes[section(&bad, ".debug_cu_index")->sh_offset + 12] = counts[count];
			check(&program, &places, ADDR2LINE_GONE, 0);
		}
	}
}

static void a_package_may_be_cut_or_wrong_in_any_byte(void **state)
{
	static struct part program, pack, cut;
	struct source_frame frames[8];
	struct addr2line *t;
	size_t n;

	(void)state;
	for (size_t p = 0; p < 2; p++) {
		load_packed(p, &program, &pack);
		for (size_t k = 0; k < pack.size_bytes; k += 61) {
			cut = pack;
			cut.size_bytes = k;
			check(&program, &(struct locations){ .package = &cut }, ADDR2LINE_GONE, 0);
		}
		for (size_t i = 0; i < pack.size_bytes; i++) {
			pack.bytes[i] ^= 0xff;
			t = read_all(&program, &(struct locations){ .package = &pack });
			for (unsigned k = 0; k < HOT_SPAN; k++)
				if (addr2line_find(t, HOT + k, frames, 8, &n))
					assert_in_range(n, 1, 8);
			addr2line_free(t);
			pack.bytes[i] ^= 0xff;
		}
	}
}

static void put(const char *root, const char *name)
{
	const Elf64_Ehdr object = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB },
		.e_type = ET_REL,
	};
	char path[PATH_MAX];
	FILE *f;

	assert_true(snprintf(path, sizeof(path), "%s/%s", root, name) < PATH_MAX);
	f = fopen(path, "we");
	assert_non_null(f);
	assert_int_equal(fwrite(&object, sizeof(object), 1, f), 1);
	fclose(f);
}

/* Opens the i-th place; whether it is a file of ours, opened for reading. */
static bool is_ours(const struct dwo_search *p, const char *folder, const char *name, unsigned i)
{
	uint8_t magic[SELFMAG];
	int fd = dwo_search_open(p, folder, name, i);

	if (fd < 0)
		return false;
	assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	assert_int_equal(read(fd, magic, sizeof(magic)), sizeof(magic));
	assert_memory_equal(magic, ELFMAG, SELFMAG);
	close(fd);
	return true;
}

static void nothing_outside_of_the_roots_is_opened(void **state)
{
	char root[] = "/tmp/test_dwosplit.XXXXXX", cmd[PATH_MAX];
	const char *dirs[] = { root };
	struct located program = { .fd = -1, .root = root, .path = (char *)"/bin/app" };
	struct name_roots roots = { .symfs = root, .debug_dirs = dirs, .debug_dir_count = 1 };
	const struct dwo_search p = { &roots, &program, NULL };

	(void)state;
	assert_non_null(mkdtemp(root));
	snprintf(cmd, sizeof(cmd),
		 "cd %s && mkdir -p made bin/sub && ln -s /etc/passwd bin/link.dwo &&"
		 " ln -s ../../../../../../etc/passwd made/up.dwo && mkfifo made/fifo.dwo &&"
		 " mkdir made/dir.dwo",
		 root);
	assert_int_equal(system(cmd), 0);
	put(root, "made/a.dwo");
	put(root, "bin/b.dwo");
	put(root, "bin/sub/c.dwo");
	put(root, "d.dwo");
	assert_true(is_ours(&p, "/made", "a.dwo", 0));
	assert_true(is_ours(&p, "/elsewhere", "/made/a.dwo", 0));
	assert_true(is_ours(&p, "/../../../made", "a.dwo", 0)); /* ".." ends at the root */
	assert_true(is_ours(&p, "/elsewhere", "sub/b.dwo", 1));
	assert_true(is_ours(&p, "/elsewhere", "sub/c.dwo", 2));
	assert_true(is_ours(&p, "/made", "a.dwo", 3));
	assert_true(is_ours(&p, "/elsewhere", "x/d.dwo", 4));
	for (unsigned i = 0; i < 5; i++) {
		assert_false(is_ours(&p, "/bin", "link.dwo", i));
		assert_false(is_ours(&p, "/made", "up.dwo", i));
		assert_false(is_ours(&p, "/made", "fifo.dwo", i));
		assert_false(is_ours(&p, "/made", "dir.dwo", i));
		assert_false(is_ours(&p, "/", "etc/passwd", i));
		assert_false(is_ours(&p, "/..", "../../../etc/passwd", i));
		assert_false(is_ours(&p, "/dev", "null", i));
	}
	assert_int_equal(dwo_search_open(&p, "/made", "a.dwo", 5), -ERANGE);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(dwo_search_open_package(&p, i), -ENOENT);
	assert_int_equal(dwo_search_open_package(&p, 4), -ERANGE);
	put(root, "app.dwp");
	close(dwo_search_open_package(&p, 3));
	snprintf(cmd, sizeof(cmd), "ln -s /etc/passwd %s/bin/app.dwp", root);
	assert_int_equal(system(cmd), 0);
	assert_int_equal(dwo_search_open_package(&p, 0), -ENOENT);
	assert_int_equal(dwo_search_open(&p, "/made", "", 0), -ERANGE);
	/* On the machine itself only absolute paths: not from where we happen to be. */
	roots.symfs = NULL;
	assert_int_equal(chdir(root), 0);
	assert_false(is_ours(&p, "made", "a.dwo", 0));
	assert_false(is_ours(&p, "", "d.dwo", 0));
	assert_int_equal(chdir("/"), 0);
	snprintf(cmd, sizeof(cmd), "rm -r %s", root);
	assert_int_equal(system(cmd), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_dwo_has_the_inlined_functions),
		cmocka_unit_test(without_it_lines_are_left_and_its_name),
		cmocka_unit_test(another_id_is_not_believed),
		cmocka_unit_test(what_is_cut_or_no_dwo_is_broken),
		cmocka_unit_test(indices_out_of_range_name_nothing),
		cmocka_unit_test(any_byte_may_be_wrong),
		cmocka_unit_test(a_package_has_what_its_dwo_files_had),
		cmocka_unit_test(an_index_may_lie),
		cmocka_unit_test(a_package_may_be_cut_or_wrong_in_any_byte),
		cmocka_unit_test(nothing_outside_of_the_roots_is_opened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
