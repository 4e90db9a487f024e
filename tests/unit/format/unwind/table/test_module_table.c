/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* unwtable: rows of a file, and what is wrong with it */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/unwfile.h"
#include "tests/lib/table_of_file.h"

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
	struct module_table_view v;
	struct file f;
	uint32_t i;

	make_file(&f);
	assert_int_equal(build(e, &f, FILE_BYTES, NULL), 0);
	check_made_file(e);
	module_table_view(e->table, &v);
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
	struct module_table_view v;
	struct file f;

	make_file(&f);
	le32_store(f.data + SECTIONS_OFF + 64 + 4, SHT_NOBITS);
	le32_store(f.data + 176, PT_NULL);
	assert_int_equal(build(e, &f, FILE_BYTES, NULL), 0);
	module_table_view(e->table, &v);
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
	struct module_table_view v;
	struct env *e = *state;
	struct file f;

	begin_file(&f);
	put_fde(&f, CODE, 0x40, 8, 4, UNWIND_X86_BX);
	f.data[EH_OFF + f.eh_bytes - 28 + 24] = 0x0d; /* def_cfa_register */
	end_file(&f);
	assert_int_equal(build(e, &f, FILE_BYTES, NULL), 0);
	module_table_view(e->table, &v);
	assert_true(v.tracks_bx);
	assert_int_equal(module_table_find(e->table, CODE)->bx, UNWIND_BX_SAME);
	assert_int_equal(module_table_find(e->table, CODE + 4)->cfa,
			 UNWIND_CFA_REG | UNWIND_X86_BX);
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
		assert_int_equal(
			module_table_bias(e->table, cases[i].start, cases[i].off_bytes, &bias),
			cases[i].ret);
		assert_int_equal(bias, cases[i].bias);
	}
}

static void equal_rules_are_stored_once(void **state)
{
	const struct unwind_rule end = { .cfa = UNWIND_CFA_END };
	const struct unwind_rule unsup = { .cfa = UNWIND_CFA_UNSUP };
	struct unwind_rule rule = { .cfa = UNWIND_CFA_SP, .cfa_off = 8 };
	struct env *e = *state;
	uint32_t i;

	assert_int_equal(rule_table_intern(e->set, &end), RULE_TABLE_ID_END);
	assert_int_equal(rule_table_intern(e->set, &unsup), RULE_TABLE_ID_UNSUP);
	assert_int_equal(rule_table_intern(e->set, &rule), 2);
	assert_int_equal(rule_table_intern(e->set, &rule), 2);
	for (i = 3; i < RULE_TABLE_MAX_RULES; i++) {
		rule.cfa_off = (int)i * 8;
		assert_int_equal(rule_table_intern(e->set, &rule), i);
	}
	assert_int_equal(rule_table_count(e->set), RULE_TABLE_MAX_RULES);
	rule.cfa_off = 4;
	assert_int_equal(rule_table_intern(e->set, &rule), RULE_TABLE_ID_UNSUP);
	rule.cfa_off = 8 * 5000;
	assert_int_equal(rule_table_intern(e->set, &rule), 5000);
	assert_int_equal(rule_table_rules(e->set)[5000].cfa_off, 8 * 5000);
}

static void only_regular_files_are_opened(void **state)
{
	char path[] = "/tmp/unwtable-test-XXXXXX";
	struct env *e = *state;
	struct file f;
	int fd;

	assert_int_equal(table_of_file("/dev/null", e->set, &e->table, NULL), -EINVAL);
	assert_int_equal(table_of_file("/", e->set, &e->table, NULL), -EINVAL);
	assert_int_equal(table_of_file("/nonexistent", e->set, &e->table, NULL), -ENOENT);
	assert_int_equal(module_table_from_fd(-1, e->set, &e->table, NULL), -EBADF);
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(table_of_file(path, e->set, &e->table, NULL), -ENODATA);
	make_file(&f);
	assert_int_equal(write(fd, f.data, FILE_BYTES), FILE_BYTES);
	close(fd);
	assert_int_equal(table_of_file(path, e->set, &e->table, NULL), 0);
	check_made_file(e);
	unlink(path);
}

static void fifo_does_not_block(void **state)
{
	char path[64];
	struct env *e = *state;

	snprintf(path, sizeof(path), "/tmp/unwtable-fifo-%d", (int)getpid());
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(table_of_file(path, e->set, &e->table, NULL), -EINVAL);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(rows_are_found_across_pages),
		TEST(sections_may_be_stripped),
		TEST(no_unwind_information_is_an_empty_table),
		TEST(broken_files_fail_with_words),
		TEST(broken_headers_of_a_stripped_file),
		TEST(error_offset_is_in_the_file),
		TEST(every_cut_fails_or_is_empty),
		TEST(code_spread_too_far_is_refused),
		TEST(rbx_as_a_base_is_tracked),
		TEST(bias_of_a_mapping),
		TEST(equal_rules_are_stored_once),
		TEST(only_regular_files_are_opened),
		TEST(fifo_does_not_block),
	};

	return cmocka_run_group_tests_name("unwtable", tests, NULL, NULL);
}
