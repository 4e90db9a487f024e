/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "format/cursor.h"
#include "format/elfunwind.h"
#include "format/unwtable.h"

/*
 * A file made by hand: ELF header, two program headers and PT_GNU_EH_FRAME, .eh_frame_hdr,
 * .eh_frame, the names, three section headers.  Code is said to lie at 0x11000 from offset 0x1000
 * on; the headers' segment begins at address 0.
 */
enum {
	HDR_OFF = 64 + 3 * 56,
	EH_OFF = HDR_OFF + 16,
	EH_MAX = 256,
	NAMES_OFF = EH_OFF + EH_MAX,
	SECTIONS_OFF = NAMES_OFF + 32,
	FILE_BYTES = SECTIONS_OFF + 3 * 64,
	CODE = 0x11000,
};

struct file {
	uint8_t data[FILE_BYTES];
	size_t eh_bytes;
};

static const uint8_t cie[] = { 20, 0,    0,  0, 0,    0,    0, 0, 1,    'z', 'R', 0,
			       1,  0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1,   0,   0 };

static void put_fde(struct file *f, uint64_t pc, uint32_t size, uint8_t off, uint32_t later,
		    uint8_t off_later)
{
	uint8_t *p = f->data + EH_OFF + f->eh_bytes;

	assert_true(f->eh_bytes + 28 <= EH_MAX);
	le32_store(p, 24);
	le32_store(p + 4, (uint32_t)f->eh_bytes + 4);
	le32_store(p + 8, (uint32_t)(pc - (EH_OFF + f->eh_bytes + 8)));
	le32_store(p + 12, size);
	p[16] = 0;
	p[17] = 0x0e;
	p[18] = off;
	p[19] = 0x04; /* advance_loc4 */
	le32_store(p + 20, later);
	p[24] = 0x0e;
	p[25] = off_later;
	p[26] = 0;
	p[27] = 0;
	f->eh_bytes += 28;
}

static void put_phdr(uint8_t *p, uint32_t type, uint32_t flags, uint64_t off, uint64_t vaddr,
		     uint64_t size_bytes)
{
	le32_store(p, type);
	le32_store(p + 4, flags);
	le64_store(p + 8, off);
	le64_store(p + 16, vaddr);
	le64_store(p + 32, size_bytes);
	le64_store(p + 48, 0x1000);
}

static void put_section(uint8_t *p, uint32_t name, uint32_t type, uint64_t vaddr, uint64_t off,
			uint64_t size_bytes)
{
	le32_store(p, name);
	le32_store(p + 4, type);
	le64_store(p + 16, vaddr);
	le64_store(p + 24, off);
	le64_store(p + 32, size_bytes);
}

static void begin_file(struct file *f)
{
	static const char names[] = "\0.eh_frame\0.shstrtab";
	uint8_t *d = f->data;

	memset(f, 0, sizeof(*f));
	memcpy(d, ELFMAG, SELFMAG);
	d[EI_CLASS] = ELFCLASS64;
	d[EI_DATA] = ELFDATA2LSB;
	d[EI_VERSION] = 1;
	le16_store(d + 16, ET_DYN);
	le16_store(d + 18, EM_X86_64);
	le64_store(d + 32, 64);
	le64_store(d + 40, SECTIONS_OFF);
	le16_store(d + 54, 56);
	le16_store(d + 56, 3);
	le16_store(d + 58, 64);
	le16_store(d + 60, 3);
	le16_store(d + 62, 2);
	put_phdr(d + 64, PT_LOAD, PF_R, 0, 0, FILE_BYTES);
	put_phdr(d + 120, PT_LOAD, PF_R | PF_X, 0x1040, CODE + 0x40, 0x100000);
	put_phdr(d + 176, PT_GNU_EH_FRAME, PF_R, HDR_OFF, HDR_OFF, 8);
	d[HDR_OFF] = 1;
	d[HDR_OFF + 1] = 0x1b;
	le32_store(d + HDR_OFF + 4, EH_OFF - (HDR_OFF + 4));
	memcpy(d + NAMES_OFF, names, sizeof(names));
	put_section(d + SECTIONS_OFF + 128, 11, SHT_STRTAB, 0, NAMES_OFF, sizeof(names));
	memcpy(d + EH_OFF, cie, sizeof(cie));
	f->eh_bytes = sizeof(cie);
}

static void end_file(struct file *f)
{
	put_section(f->data + SECTIONS_OFF + 64, 1, SHT_PROGBITS, EH_OFF, EH_OFF, f->eh_bytes);
}

static void make_file(struct file *f)
{
	begin_file(f);
	put_fde(f, CODE, 0x40, 8, 4, 16);
	put_fde(f, 0x1fff0, 0x30020, 24, 0x20010, 32); /* over four pages */
	end_file(f);
}

struct env {
	struct ruleset *set;
	struct unwtable *table;
};

static int setup(void **state)
{
	struct env *e = calloc(1, sizeof(*e));

	*state = e;
	return !e || ruleset_new(&e->set);
}

static int teardown(void **state)
{
	struct env *e = *state;

	unwtable_free(e->table);
	ruleset_free(e->set);
	free(e);
	return 0;
}

static int build(struct env *e, const struct file *f, size_t size_bytes, struct parse_err *err)
{
	uint8_t *copy = malloc(size_bytes ? size_bytes : 1);
	int ret;

	assert_non_null(copy);
	memcpy(copy, f->data, size_bytes);
	unwtable_free(e->table);
	e->table = NULL;
	ret = unwtable_from_bytes(copy, size_bytes, e->set, &e->table, err);
	free(copy);
	return ret;
}

static int off_at(const struct env *e, uint64_t vaddr)
{
	const struct unwind_rule *r = unwtable_find(e->table, vaddr);

	return r->cfa == UNWIND_CFA_SP ? r->cfa_off : -(int)r->cfa;
}

static void check_made_file(const struct env *e)
{
	static const struct {
		uint64_t vaddr;
		int off; /* 0: nothing covers it */
	} want[] = {
		{ 0, 0 },          { 0xffff, 0 },    { CODE - 1, 0 },     { CODE, 8 },
		{ CODE + 3, 8 },   { CODE + 4, 16 }, { CODE + 0x3f, 16 }, { CODE + 0x40, 0 },
		{ 0x1ffef, 0 },    { 0x1fff0, 24 },  { 0x1ffff, 24 },     { 0x20000, 24 },
		{ 0x2ffff, 24 },   { 0x30000, 24 },  { 0x3ffff, 24 },     { 0x40000, 32 },
		{ 0x40001, 32 },   { 0x5000f, 32 },  { 0x50010, 0 },      { 0x60000, 0 },
		{ UINT64_MAX, 0 },
	};
	size_t i;

	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		if (off_at(e, want[i].vaddr) != want[i].off)
			fail_msg("%#llx: got %d, want %d", (unsigned long long)want[i].vaddr,
				 off_at(e, want[i].vaddr), want[i].off);
}

static void rows_are_found_across_pages(void **state)
{
	struct env *e = *state;
	struct unwtable_view v;
	struct file f;
	uint32_t i;

	make_file(&f);
	assert_int_equal(build(e, &f, FILE_BYTES, NULL), 0);
	check_made_file(e);
	unwtable_view(e->table, &v);
	assert_int_equal(v.arch, UNWIND_X86_64);
	assert_int_equal(v.first_page, 1);
	assert_int_equal(v.n_pages, 5);
	for (i = 0; i < v.n_pages; i++) /* each begins at its first byte */
		assert_int_equal(v.pc_low[v.pages[i].first_row], 0);
	assert_int_equal(v.pages[3].n_rows, 1); /* a row of its own, nothing carried in */
	assert_int_equal(v.stats.fdes, 2);
	assert_false(v.tracks_bx);
}

static void sections_may_be_stripped(void **state)
{
	struct env *e = *state;
	struct file f;

	make_file(&f);
	le64_store(f.data + 40, 0);
	le16_store(f.data + 60, 0);
	le16_store(f.data + 62, 0);
	assert_int_equal(build(e, &f, FILE_BYTES, NULL), 0);
	check_made_file(e);
}

static void no_unwind_information_is_an_empty_table(void **state)
{
	struct env *e = *state;
	struct unwtable_view v;
	struct file f;

	make_file(&f);
	le32_store(f.data + SECTIONS_OFF + 64 + 4, SHT_NOBITS);
	le32_store(f.data + 176, PT_NULL);
	assert_int_equal(build(e, &f, FILE_BYTES, NULL), 0);
	unwtable_view(e->table, &v);
	assert_int_equal(v.n_rows, 0);
	assert_int_equal(off_at(e, 0), 0);
	assert_int_equal(off_at(e, CODE), 0);
}

struct broken {
	const char *name;
	uint32_t off_bytes;
	uint8_t n; /* bytes of value */
	uint64_t value;
	int ret;
	const char *what;
};

/* clang-format off */
static const struct broken broken_files[] = {
	{ "magic", 1, 1, 'F', -EBADMSG, "not an ELF file" },
	{ "32 bit", EI_CLASS, 1, ELFCLASS32, -ENOTSUP, "not 64-bit little-endian" },
	{ "big endian", EI_DATA, 1, ELFDATA2MSB, -ENOTSUP, "not 64-bit little-endian" },
	{ "object file", 16, 2, ET_REL, -ENOTSUP, "neither a program nor a library" },
	{ "core file", 16, 2, ET_CORE, -ENOTSUP, "neither a program nor a library" },
	{ "machine", 18, 2, EM_ARM, -ENOTSUP, "another architecture" },
	{ "program header size", 54, 2, 32, -EBADMSG, "size of a program header" },
	{ "program headers too many", 56, 2, 0xffff, -EOVERFLOW, "too many program headers" },
	{ "program headers cut", 32, 8, FILE_BYTES - 8, -ENODATA, "cannot read the program headers" },
	{ "program headers far away", 32, 8, UINT64_MAX - 7, -ENODATA, "cannot read the program headers" },
	{ "section headers cut", 40, 8, FILE_BYTES - 64, -ENODATA, "cannot read the section headers" },
	{ "section headers many", 60, 2, 0xff00, -ENODATA, "cannot read the section headers" },
	{ "names far away", SECTIONS_OFF + 128 + 24, 8, UINT64_MAX - 3, -ENODATA, "cannot read the section names" },
	{ "names large", SECTIONS_OFF + 128 + 32, 8, UINT64_MAX, -EOVERFLOW, "cannot read the section names" },
	{ ".eh_frame far away", SECTIONS_OFF + 64 + 24, 8, UINT64_MAX - 3, -ENODATA, "cannot read .eh_frame" },
	{ ".eh_frame longer than the file", SECTIONS_OFF + 64 + 32, 8, FILE_BYTES, -ENODATA, "cannot read .eh_frame" },
	{ ".eh_frame enormous", SECTIONS_OFF + 64 + 32, 8, UINT64_MAX, -EOVERFLOW, ".eh_frame is too large" },
	{ "entry too long", EH_OFF + 24, 4, 0x1000, -ENODATA, "entry goes beyond the section" },
	{ "code 2 GB away, and 4 GB long", EH_OFF + 24 + 12, 4, 0xffffffff, 0, NULL },
};
/* clang-format on */

static void broken_files_fail_with_words(void **state)
{
	struct env *e = *state;
	uint8_t value[8];
	struct file f;
	size_t i;
	int ret;

	for (i = 0; i < sizeof(broken_files) / sizeof(broken_files[0]); i++) {
		const struct broken *b = &broken_files[i];
		struct parse_err err = { .what = NULL };

		make_file(&f);
		le64_store(value, b->value);
		memcpy(f.data + b->off_bytes, value, b->n);
		ret = build(e, &f, FILE_BYTES, &err);
		if (ret != b->ret || (b->what && (!err.what || strcmp(err.what, b->what) != 0)))
			fail_msg("%s: got %d '%s', want %d '%s'", b->name, ret, err.what, b->ret,
				 b->what);
		assert_true(ret == 0 || !e->table);
	}
}

static void broken_headers_of_a_stripped_file(void **state)
{
	static const struct broken cases[] = {
		{ "version", HDR_OFF, 1, 2, -ENOTSUP, "cannot read .eh_frame_hdr" },
		{ "encoding", HDR_OFF + 1, 1, 0xff, -ENOTSUP, "cannot read .eh_frame_hdr" },
		{ "header too short", 176 + 32, 8, 6, -ENODATA, "cannot read .eh_frame_hdr" },
		{ "header far away", 176 + 8, 8, UINT64_MAX, -ENODATA,
		  "cannot read .eh_frame_hdr" },
		{ "points nowhere", HDR_OFF + 4, 4, 0x7fffffff, -EBADMSG,
		  ".eh_frame lies in no segment" },
		{ "segment too long", 64 + 32, 8, UINT64_MAX, -ENODATA,
		  "segment goes beyond the file" },
	};
	struct env *e = *state;
	uint8_t value[8];
	struct file f;
	size_t i;
	int ret;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct parse_err err = { .what = NULL };

		make_file(&f);
		le64_store(f.data + 40, 0);
		le64_store(value, cases[i].value);
		memcpy(f.data + cases[i].off_bytes, value, cases[i].n);
		ret = build(e, &f, FILE_BYTES, &err);
		if (ret != cases[i].ret || !err.what || strcmp(err.what, cases[i].what) != 0)
			fail_msg("%s: got %d '%s'", cases[i].name, ret, err.what);
	}
}

static void error_offset_is_in_the_file(void **state)
{
	struct parse_err err = { .what = NULL };
	struct env *e = *state;
	struct file f;

	make_file(&f);
	le32_store(f.data + EH_OFF + 24, 0x1000);
	assert_int_equal(build(e, &f, FILE_BYTES, &err), -ENODATA);
	assert_int_equal(err.offset_bytes, EH_OFF + 24);
}

static void every_cut_fails_or_is_empty(void **state)
{
	struct env *e = *state;
	struct file f;
	size_t i;
	int ret;

	make_file(&f);
	for (i = 0; i < FILE_BYTES; i++) {
		ret = build(e, &f, i, NULL);
		assert_true(ret == 0 || ret == -ENODATA);
	}
}

static void code_spread_too_far_is_refused(void **state)
{
	struct env *e = *state;
	struct file f;

	begin_file(&f);
	put_fde(&f, 0x1000, 0x10, 8, 4, 16);
	put_fde(&f, 0x40000000, 0xffffffff, 8, 4, 16);
	end_file(&f);
	assert_int_equal(build(e, &f, FILE_BYTES, NULL), -EOVERFLOW);
	assert_null(e->table);
}

static void rbx_as_a_base_is_tracked(void **state)
{
	struct unwtable_view v;
	struct env *e = *state;
	struct file f;

	begin_file(&f);
	put_fde(&f, CODE, 0x40, 8, 4, UNWIND_X86_BX);
	f.data[EH_OFF + f.eh_bytes - 28 + 24] = 0x0d; /* def_cfa_register */
	end_file(&f);
	assert_int_equal(build(e, &f, FILE_BYTES, NULL), 0);
	unwtable_view(e->table, &v);
	assert_true(v.tracks_bx);
	assert_int_equal(unwtable_find(e->table, CODE)->bx, UNWIND_BX_SAME);
	assert_int_equal(unwtable_find(e->table, CODE + 4)->cfa, UNWIND_CFA_REG | UNWIND_X86_BX);
}

static void bias_of_a_mapping(void **state)
{
	static const struct {
		uint64_t start, off_bytes;
		int ret;
		uint64_t bias;
	} cases[] = {
		{ 0x555555561000, 0x1000, 0, 0x555555550000 }, /* the segment begins at 0x1040 */
		{ 0x555555562000, 0x2000, 0, 0x555555550000 }, /* a later part of it */
		{ 0x555555550000, 0, -EINVAL, 7 },             /* not executable */
		{ 0x555555550000, 0x200000, -EINVAL, 7 },
		{ 0x555555550000, UINT64_MAX, -EINVAL, 7 },
		{ 0x11000, 0x1000, 0, 0 },
	};
	struct env *e = *state;
	struct file f;
	uint64_t bias;
	size_t i;

	make_file(&f);
	assert_int_equal(build(e, &f, FILE_BYTES, NULL), 0);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bias = 7;
		assert_int_equal(unwtable_bias(e->table, cases[i].start, cases[i].off_bytes, &bias),
				 cases[i].ret);
		assert_int_equal(bias, cases[i].bias);
	}
}

static void rules_are_kept_once(void **state)
{
	const struct unwind_rule end = { .cfa = UNWIND_CFA_END };
	const struct unwind_rule unsup = { .cfa = UNWIND_CFA_UNSUP };
	struct unwind_rule rule = { .cfa = UNWIND_CFA_SP, .cfa_off = 8 };
	struct env *e = *state;
	uint32_t i;

	assert_int_equal(ruleset_intern(e->set, &end), RULESET_ID_END);
	assert_int_equal(ruleset_intern(e->set, &unsup), RULESET_ID_UNSUP);
	assert_int_equal(ruleset_intern(e->set, &rule), 2);
	assert_int_equal(ruleset_intern(e->set, &rule), 2);
	for (i = 3; i < RULESET_MAX_RULES; i++) {
		rule.cfa_off = (int)i * 8;
		assert_int_equal(ruleset_intern(e->set, &rule), i);
	}
	assert_int_equal(ruleset_count(e->set), RULESET_MAX_RULES);
	assert_int_equal(ruleset_refused_count(e->set), 0);
	rule.cfa_off = 4;
	assert_int_equal(ruleset_intern(e->set, &rule), RULESET_ID_UNSUP);
	assert_int_equal(ruleset_refused_count(e->set), 1);
	rule.cfa_off = 8 * 5000;
	assert_int_equal(ruleset_intern(e->set, &rule), 5000);
	assert_int_equal(ruleset_rules(e->set)[5000].cfa_off, 8 * 5000);
}

static void only_regular_files_are_opened(void **state)
{
	char path[] = "/tmp/unwtable-test-XXXXXX";
	struct env *e = *state;
	struct file f;
	int fd;

	assert_int_equal(unwtable_open("/dev/null", e->set, &e->table, NULL), -EINVAL);
	assert_int_equal(unwtable_open("/", e->set, &e->table, NULL), -EINVAL);
	assert_int_equal(unwtable_open("/nonexistent", e->set, &e->table, NULL), -ENOENT);
	assert_int_equal(unwtable_from_fd(-1, e->set, &e->table, NULL), -EBADF);
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(unwtable_open(path, e->set, &e->table, NULL), -ENODATA);
	make_file(&f);
	assert_int_equal(write(fd, f.data, FILE_BYTES), FILE_BYTES);
	close(fd);
	assert_int_equal(unwtable_open(path, e->set, &e->table, NULL), 0);
	check_made_file(e);
	unlink(path);
	assert_null(NULL);
}

static void fifo_does_not_block(void **state)
{
	char path[64];
	struct env *e = *state;

	snprintf(path, sizeof(path), "/tmp/unwtable-fifo-%d", (int)getpid());
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(unwtable_open(path, e->set, &e->table, NULL), -EINVAL);
	unlink(path);
}

/* Opens this very program and returns what to subtract from its addresses. */
static uint64_t open_self(struct env *e, uint64_t pc)
{
	unsigned long long start = 0, end = 0, off = 0;
	uint64_t bias = 0;
	char line[512], perms[8];
	int found = 0;
	FILE *f;

	assert_int_equal(unwtable_open("/proc/self/exe", e->set, &e->table, NULL), 0);
	f = fopen("/proc/self/maps", "re");
	assert_non_null(f);
	while (!found && fgets(line, sizeof(line), f))
		found = sscanf(line, "%llx-%llx %7s %llx", &start, &end, perms, &off) == 4 &&
			pc >= start && pc < end;
	fclose(f);
	assert_true(found);
	assert_int_equal(unwtable_bias(e->table, start, off, &bias), 0);
	return bias;
}

/* Its own code is covered, and mapped where the table says. */
static void this_program(void **state)
{
	struct env *e = *state;
	uint64_t pc = (uintptr_t)&this_program;

	assert_int_equal(off_at(e, pc - open_self(e, pc)), 8); /* a function's first instruction */
}

#ifdef __x86_64__
extern void _init(void);
extern void _fini(void);

/* What the C library puts into every program, without rules. */
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
	assert_int_equal(unwtable_find(e->table, (uintptr_t)init - bias + 1)->cfa, UNWIND_CFA_END);
	assert_int_equal(off_at(e, (uintptr_t)&_fini - bias), 8);
}

/* One byte that is another in memory, and nothing is said of it. */
static void init_of_other_bytes_has_no_rule(void **state)
{
	struct env *e = *state;
	const uint8_t *init = (const uint8_t *)(uintptr_t)&_init;
	uint64_t pc = (uintptr_t)init - open_self(e, (uintptr_t)init);
	struct unwtable *t = NULL;
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
	assert_int_equal(unwtable_from_bytes(image, n, e->set, &t, NULL), 0);
	assert_int_equal(unwtable_find(t, pc)->cfa, UNWIND_CFA_END);
	assert_int_equal(unwtable_find(t, pc + 8)->cfa, UNWIND_CFA_END);
	unwtable_free(t);
	free(image);
}
#endif

/* The made file, with an entry at pc and these bytes there. */
static struct unwtable *table_with_entry(struct env *e, uint64_t pc, const char *bytes, size_t n)
{
	static uint8_t big[0x41000];
	struct file f;
	struct unwtable *t;

	make_file(&f);
	le64_store(f.data + 24, pc);
	memset(big, 0x90, sizeof(big));
	memcpy(big, f.data, sizeof(f.data));
	memcpy(big + (pc - 0x10000), bytes, n);
	assert_int_equal(unwtable_from_bytes(big, sizeof(big), e->set, &t, NULL), 0);
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
	struct unwtable *t;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		t = table_with_entry(e, CODE + 0x1000, cases[i].bytes, cases[i].n);
		assert_int_equal(unwtable_find(t, CODE + 0xfff)->cfa, UNWIND_CFA_END);
		assert_int_equal(unwtable_find(t, CODE + 0x1000)->cfa, cases[i].cfa);
		assert_int_equal(unwtable_find(t, CODE + 0x107f)->cfa, cases[i].cfa);
		assert_int_equal(unwtable_find(t, CODE + 0x1080)->cfa, UNWIND_CFA_END);
		unwtable_free(t);
	}
}

static void covered_program_start_keeps_its_rule(void **state)
{
	struct env *e = *state;
	struct unwtable *t = table_with_entry(e, 0x20000, "\x31\xed", 2);

	assert_int_equal(unwtable_find(t, 0x20000)->cfa, UNWIND_CFA_SP);
	assert_int_equal(unwtable_find(t, 0x50010)->cfa, UNWIND_CFA_END);
	unwtable_free(t);
}

static void program_start_behind_all_rows_is_outermost(void **state)
{
	struct env *e = *state;
	struct unwtable *t = table_with_entry(e, 0x50020, "\x31\xed", 2);

	assert_int_equal(unwtable_find(t, 0x50010)->cfa, UNWIND_CFA_END);
	assert_int_equal(unwtable_find(t, 0x50020)->cfa, UNWIND_CFA_RA_UNDEF);
	assert_int_equal(unwtable_find(t, 0x50020 + 128)->cfa, UNWIND_CFA_END);
	unwtable_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(rows_are_found_across_pages, setup, teardown),
		cmocka_unit_test_setup_teardown(sections_may_be_stripped, setup, teardown),
		cmocka_unit_test_setup_teardown(no_unwind_information_is_an_empty_table, setup,
						teardown),
		cmocka_unit_test_setup_teardown(broken_files_fail_with_words, setup, teardown),
		cmocka_unit_test_setup_teardown(broken_headers_of_a_stripped_file, setup, teardown),
		cmocka_unit_test_setup_teardown(error_offset_is_in_the_file, setup, teardown),
		cmocka_unit_test_setup_teardown(every_cut_fails_or_is_empty, setup, teardown),
		cmocka_unit_test_setup_teardown(code_spread_too_far_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(uncovered_program_start_is_outermost, setup,
						teardown),
		cmocka_unit_test_setup_teardown(covered_program_start_keeps_its_rule, setup,
						teardown),
		cmocka_unit_test_setup_teardown(program_start_behind_all_rows_is_outermost, setup,
						teardown),
		cmocka_unit_test_setup_teardown(rbx_as_a_base_is_tracked, setup, teardown),
		cmocka_unit_test_setup_teardown(bias_of_a_mapping, setup, teardown),
		cmocka_unit_test_setup_teardown(rules_are_kept_once, setup, teardown),
		cmocka_unit_test_setup_teardown(only_regular_files_are_opened, setup, teardown),
		cmocka_unit_test_setup_teardown(fifo_does_not_block, setup, teardown),
		cmocka_unit_test_setup_teardown(this_program, setup, teardown),
		cmocka_unit_test_setup_teardown(code_of_go_is_covered, setup, teardown),
#ifdef __x86_64__
		cmocka_unit_test_setup_teardown(init_and_fini_are_known_by_their_bytes, setup,
						teardown),
		cmocka_unit_test_setup_teardown(init_of_other_bytes_has_no_rule, setup, teardown),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
