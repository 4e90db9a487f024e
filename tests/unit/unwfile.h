/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* unwfile - a file with unwind information, made by hand, and the table of it */
#ifndef EBPREC_TESTS_UNWFILE_H
#define EBPREC_TESTS_UNWFILE_H

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/base/cursor.h"
#include "format/unwind/table/module_table.h"

/*
 * A file made by hand: ELF header, two program headers and PT_GNU_EH_FRAME, .eh_frame_hdr,
 * .eh_frame, the names, three section headers.  The code has the address 0x11000 from offset 0x1000
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

static inline void put_fde(struct file *f, uint64_t pc, uint32_t size, uint8_t off, uint32_t later,
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

static inline void put_phdr(uint8_t *p, uint32_t type, uint32_t flags, uint64_t off, uint64_t vaddr,
			    uint64_t size_bytes)
{
	le32_store(p, type);
	le32_store(p + 4, flags);
	le64_store(p + 8, off);
	le64_store(p + 16, vaddr);
	le64_store(p + 32, size_bytes);
	le64_store(p + 48, 0x1000);
}

static inline void put_section(uint8_t *p, uint32_t name, uint32_t type, uint64_t vaddr,
			       uint64_t off, uint64_t size_bytes)
{
	le32_store(p, name);
	le32_store(p + 4, type);
	le64_store(p + 16, vaddr);
	le64_store(p + 24, off);
	le64_store(p + 32, size_bytes);
}

static inline void begin_file(struct file *f)
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

static inline void end_file(struct file *f)
{
	put_section(f->data + SECTIONS_OFF + 64, 1, SHT_PROGBITS, EH_OFF, EH_OFF, f->eh_bytes);
}

static inline void make_file(struct file *f)
{
	begin_file(f);
	put_fde(f, CODE, 0x40, 8, 4, 16);
	put_fde(f, 0x1fff0, 0x30020, 24, 0x20010, 32); /* over four pages */
	end_file(f);
}

struct env {
	struct rule_table *set;
	struct module_table *table;
};

static inline int setup(void **state)
{
	struct env *e = calloc(1, sizeof(*e));

	*state = e;
	return !e || rule_table_new(&e->set);
}

static inline int teardown(void **state)
{
	struct env *e = *state;

	module_table_free(e->table);
	rule_table_free(e->set);
	free(e);
	return 0;
}

static inline int build(struct env *e, const struct file *f, size_t size_bytes,
			struct parse_err *err)
{
	uint8_t *copy = malloc(size_bytes ? size_bytes : 1);
	int ret;

	assert_non_null(copy);
	memcpy(copy, f->data, size_bytes);
	module_table_free(e->table);
	e->table = NULL;
	ret = module_table_from_bytes(copy, size_bytes, e->set, &e->table, err);
	free(copy);
	return ret;
}

static inline int off_at(const struct env *e, uint64_t vaddr)
{
	const struct unwind_rule *r = module_table_find(e->table, vaddr);

	return r->cfa == UNWIND_CFA_SP ? r->cfa_off : -(int)r->cfa;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

#endif
