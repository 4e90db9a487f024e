/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* eh_frame: FDEs by the table of .eh_frame_hdr, as all of them without it */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/ehbytes.h"

enum { HDR_VADDR = 0x4000, TABLE_OFF = 12, FDES_MAX = 8 };

/* A section and its header, whose table has the FDEs in the order in which add() put them. */
struct file {
	struct section section;
	uint8_t hdr[TABLE_OFF + FDES_MAX * 8];
	uint32_t count;
};

static void store_entry(struct file *f, uint32_t i, uint64_t pc, uint64_t fde_vaddr)
{
	le32_store(f->hdr + TABLE_OFF + i * 8, (uint32_t)(pc - HDR_VADDR));
	le32_store(f->hdr + TABLE_OFF + i * 8 + 4, (uint32_t)(fde_vaddr - HDR_VADDR));
}

static void store_header(struct file *f)
{
	static const uint8_t encodings[] = { 1, 0x1b, 0x03, 0x3b };

	memcpy(f->hdr, encodings, sizeof(encodings));
	le32_store(f->hdr + 4, VADDR - (HDR_VADDR + 4));
	le32_store(f->hdr + 8, f->count);
}

static void add(struct file *f, uint64_t pc, uint32_t size_bytes, uint8_t cfa_off)
{
	const struct bytes ins = BYTES(0x0e, cfa_off);

	assert_true(f->count < FDES_MAX);
	store_entry(f, f->count++, pc, VADDR + f->section.n);
	put_fde(&f->section, pc, size_bytes, &ins);
}

static int compare_entries(const void *a, const void *b)
{
	int32_t x = (int32_t)le32_load(a), y = (int32_t)le32_load(b);

	return x < y ? -1 : x > y;
}

/* FDEs out of order, of two CIEs by turns, with holes, one over the end of the one before. */
static struct file make_file(void)
{
	struct file f = { .count = 0 };
	size_t cies[2];

	put_cie(&f.section, UNWIND_X86_64);
	cies[0] = f.section.cie;
	put_cie_full(&f.section, 1, "zR", &(struct bytes)BYTES(0x1b), UNWIND_X86_64, 16,
		     &(struct bytes)BYTES(0x0c, 7, 16, 0x90, 1));
	cies[1] = f.section.cie;
	f.section.cie = cies[0];
	add(&f, 0x3000, 0x40, 24);
	f.section.cie = cies[1];
	add(&f, 0x1000, 0x40, 32);
	f.section.cie = cies[0];
	add(&f, 0x1020, 0x10, 40);
	f.section.cie = cies[1];
	add(&f, 0x1060, 0x20, 48);
	f.section.cie = cies[0];
	add(&f, 0x9000, 0x08, 56);
	qsort(f.hdr + TABLE_OFF, f.count, 8, compare_entries);
	store_header(&f);
	return f;
}

/* Exactly as large as they are, so that a sanitizer sees a read beyond; close_copies(). */
static int open_copies(const struct file *f, size_t section_bytes, size_t hdr_bytes,
		       uint8_t **copies, struct eh_frame **out)
{
	struct eh_frame_section section = { .size_bytes = section_bytes, .vaddr = VADDR };
	struct eh_frame_hdr hdr = { .size_bytes = hdr_bytes, .vaddr = HDR_VADDR };

	copies[0] = malloc(section_bytes ? section_bytes : 1);
	copies[1] = malloc(hdr_bytes ? hdr_bytes : 1);
	assert_true(copies[0] && copies[1]);
	memcpy(copies[0], f->section.data, section_bytes);
	memcpy(copies[1], f->hdr, hdr_bytes);
	section.data = copies[0];
	hdr.data = copies[1];
	*out = NULL;
	return eh_frame_open_by_hdr(&section, &hdr, out);
}

static int open_all(const struct file *f, uint8_t **copies, struct eh_frame **out)
{
	return open_copies(f, f->section.n, TABLE_OFF + f->count * 8, copies, out);
}

static void close_copies(struct eh_frame *frame, uint8_t **copies)
{
	eh_frame_close(frame);
	free(copies[0]);
	free(copies[1]);
}

static void same_fdes_are_found_with_and_without_the_table(void **state)
{
	struct file f = make_file();
	const struct eh_frame_section section = { f.section.data, f.section.n, .vaddr = VADDR };
	struct eh_frame *by_hdr, *all;
	uint32_t found = 0;
	uint8_t *copies[2];

	assert_int_equal(open_all(&f, copies, &by_hdr), 0);
	assert_int_equal(eh_frame_open(&section, &all, NULL), 0);
	for (uint64_t pc = 0xff0; pc < 0x9010; pc++) {
		uint64_t start[2] = { 0 };
		uint32_t size_bytes[2] = { 0 };
		bool is_found = eh_frame_find(all, pc, &start[0], &size_bytes[0]);

		assert_int_equal(eh_frame_find(by_hdr, pc, &start[1], &size_bytes[1]), is_found);
		assert_int_equal(start[1], start[0]);
		assert_int_equal(size_bytes[1], size_bytes[0]);
		found += is_found;
	}
	/* The one at 0x1020 ends the one at 0x1000, also behind its own end. */
	assert_int_equal(found, 0x40 + 0x20 + 0x10 + 0x20 + 8);
	eh_frame_close(all);
	close_copies(by_hdr, copies);
}

static void same_rows_are_read_with_and_without_the_table(void **state)
{
	static const uint64_t starts[] = { 0xfff, 0x1000, 0x1020, 0x1060, 0x1061, 0x9000, 0xffff };
	struct file f = make_file();
	const struct eh_frame_section section = { f.section.data, f.section.n, .vaddr = VADDR };
	struct rows rows[2] = { { .n = 0 }, { .n = 0 } };
	struct eh_frame *by_hdr, *all;
	uint8_t *copies[2];

	assert_int_equal(open_all(&f, copies, &by_hdr), 0);
	assert_int_equal(eh_frame_open(&section, &all, NULL), 0);
	assert_int_equal(eh_frame_rows_at(all, starts, 7, take, &rows[0]), 0);
	assert_int_equal(eh_frame_rows_at(by_hdr, starts, 7, take, &rows[1]), 0);
	assert_string_equal(rows[1].text, rows[0].text);
	assert_non_null(strstr(rows[1].text, "1020 cfa=sp+40"));
	assert_non_null(strstr(rows[1].text, "1060 cfa=sp+48"));
	eh_frame_close(all);
	close_copies(by_hdr, copies);
}

static void table_that_cannot_be_searched_is_refused(void **state)
{
	static const struct {
		size_t off;
		uint32_t value;
		int err;
	} cases[] = {
		{ 0, 0x3b031b02, -ENOTSUP },                     /* version */
		{ 0, 0x0b031b01, -ENOTSUP },                     /* not relative to the header */
		{ 0, 0xffff1b01, -ENOTSUP },                     /* without a table */
		{ 4, 0, -EBADMSG },                              /* of another section */
		{ 8, 0, -ENODATA },                              /* empty */
		{ 8, 6, -ENODATA },                              /* goes beyond its section */
		{ 8, 0xffffffff, -ENODATA },                     /* the same */
		{ TABLE_OFF, 0x7fffffff, -EBADMSG },             /* descends */
		{ TABLE_OFF + 8, 0x1000 - HDR_VADDR, -EBADMSG }, /* as the one before */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct file f = make_file();
		struct eh_frame *frame;
		uint8_t *copies[2];

		le32_store(f.hdr + cases[i].off, cases[i].value);
		assert_int_equal(open_all(&f, copies, &frame), cases[i].err);
		close_copies(frame, copies);
	}
}

static void entry_that_leads_to_no_fde_of_its_address_covers_nothing(void **state)
{
	struct file f = make_file();
	const uint64_t vaddrs[] = {
		HDR_VADDR + le32_load(f.hdr + TABLE_OFF + 4), /* the FDE of another address */
		VADDR,                                        /* a CIE */
		VADDR + f.section.n,                          /* the end */
		VADDR + f.section.n - 1,                      /* less than a length */
		VADDR - 1,                                    /* before the section */
		VADDR + 2 * f.section.cie + 4                 /* in the middle of an entry */
	};
	uint64_t start;
	uint32_t size_bytes;

	for (size_t i = 0; i < sizeof(vaddrs) / sizeof(vaddrs[0]); i++) {
		struct eh_frame *frame;
		uint8_t *copies[2];

		store_entry(&f, 1, 0x1020, vaddrs[i]);
		assert_int_equal(open_all(&f, copies, &frame), 0);
		assert_false(eh_frame_find(frame, 0x1020, &start, &size_bytes));
		assert_true(eh_frame_find(frame, 0x1000, &start, &size_bytes));
		assert_int_equal(size_bytes, 0x20);
		close_copies(frame, copies);
	}
}

static void every_cut_of_both_sections_is_survived(void **state)
{
	static const uint64_t starts[] = { 0x1000, 0x1020, 0x1060, 0x3000, 0x9000 };
	struct file f = make_file();
	size_t hdr_bytes = TABLE_OFF + f.count * 8;
	struct eh_frame *frame;
	uint8_t *copies[2];

	for (size_t n = 0; n < hdr_bytes; n++) {
		assert_int_equal(open_copies(&f, f.section.n, n, copies, &frame), -ENODATA);
		close_copies(frame, copies);
	}
	for (size_t n = 0; n < f.section.n; n++) {
		struct rows rows = { .n = 0 };
		uint32_t size_bytes, found = 0;
		uint64_t start;

		assert_int_equal(open_copies(&f, n, hdr_bytes, copies, &frame), 0);
		for (size_t i = 0; i < 5; i++)
			found += eh_frame_find(frame, starts[i], &start, &size_bytes);
		assert_true(found < 5);
		assert_int_equal(eh_frame_rows_at(frame, starts, 5, take, &rows), 0);
		close_copies(frame, copies);
	}
}

/* Else a file of a megabyte could have an entry of its size read for each of 100,000 addresses. */
static void lookups_end_when_they_have_read_too_much(void **state)
{
	struct file f = { .count = 0 };
	uint32_t size_bytes, found = 0;
	struct eh_frame *frame;
	uint8_t *copies[2];
	uint64_t start;
	size_t fde;

	put_cie(&f.section, UNWIND_X86_64);
	fde = f.section.n;
	add(&f, 0x1000, 0x40, 16);
	f.section.n = 60000; /* the rest is DW_CFA_nop */
	finish(&f.section, fde);
	store_header(&f);
	assert_int_equal(open_all(&f, copies, &frame), 0);
	while (found < 2 * EH_FRAME_MAX_BYTES / 50000 &&
	       eh_frame_find(frame, 0x1000, &start, &size_bytes))
		found++;
	assert_in_range(found, 2 * EH_FRAME_MAX_BYTES / 61000, 2 * EH_FRAME_MAX_BYTES / 59000);
	close_copies(frame, copies);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_fdes_are_found_with_and_without_the_table),
		cmocka_unit_test(same_rows_are_read_with_and_without_the_table),
		cmocka_unit_test(table_that_cannot_be_searched_is_refused),
		cmocka_unit_test(entry_that_leads_to_no_fde_of_its_address_covers_nothing),
		cmocka_unit_test(every_cut_of_both_sections_is_survived),
		cmocka_unit_test(lookups_end_when_they_have_read_too_much),
	};

	return cmocka_run_group_tests_name("eh_frame_hdr", tests, NULL, NULL);
}
