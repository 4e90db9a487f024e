/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * fuzz_ehframe - any bytes as .eh_frame with and without a table of its FDEs, or as an ELF file when they begin like one
 *
 * Beside memory errors it looks for broken promises: rows ascend and differ, the first rule of a
 * page begins at its first byte, and the last row of all is an end.
 */
#include <stdlib.h>
#include <string.h>

#include "format/unwind/table/module_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

struct seen {
	uint64_t pc;
	struct unwind_rule rule;
	uint32_t n;
};

static int see(void *ctx, uint64_t pc, const struct unwind_rule *rule)
{
	struct seen *s = ctx;

	if (s->n && (pc <= s->pc || !memcmp(&s->rule, rule, sizeof(*rule))))
		abort();
	s->pc = pc;
	s->rule = *rule;
	s->n++;
	return 0;
}

/* Ascending: what is looked up by bisection relies on it. */
static int see_range(void *ctx, uint64_t pc, uint32_t size_bytes)
{
	uint64_t *last = ctx;

	if (pc < *last || !size_bytes || size_bytes > UINT64_MAX - pc)
		abort();
	*last = pc;
	return 0;
}

/* Strictly ascending, as all rows are. */
static int see_some(void *ctx, uint64_t pc, const struct unwind_rule *rule)
{
	uint64_t *next = ctx;

	if (pc < *next)
		abort();
	*next = pc + 1;
	return 0;
}

static void one_section(const uint8_t *data, size_t size_bytes)
{
	struct eh_frame_stats stats = { .rows = 0 };
	struct seen seen = { .n = 0 };
	struct eh_frame_section section;
	uint64_t last = 0, some = 0;
	struct eh_frame *frame;

	section = (struct eh_frame_section){
		.data = data + 1,
		.size_bytes = size_bytes - 1,
		.vaddr = 0x10000,
		.arch = data[0] & 1 ? UNWIND_AARCH64 : UNWIND_X86_64,
		.ends_at_zero = data[0] & 2,
		.track_bx = data[0] & 4,
	};
	if (!eh_frame_open(&section, &frame, NULL)) {
		(void)eh_frame_ranges(frame, see_range, &last);
		(void)eh_frame_rows_at(frame, (const uint64_t[]){ last / 2, last }, 2, see_some,
				       &some);
		eh_frame_close(frame);
	}
	if (eh_frame_rows(&section, see, &seen, &stats, NULL))
		return;
	if (seen.n != stats.rows || (seen.n && seen.rule.cfa != UNWIND_CFA_END))
		abort();
}

/* The last bytes are the table of a header, as if that lay in front of the section; it may be of as many entries as fit. */
static void one_table(const uint8_t *data, size_t size_bytes)
{
	enum { HDR_BYTES = 12, ENTRIES_MAX = 4, HDR_VADDR = 0xf000 };
	uint8_t hdr[HDR_BYTES + ENTRIES_MAX * 8] = { 1, 0x1b, 0x03, 0x3b };
	size_t count = 1 + (data[0] >> 4) % ENTRIES_MAX, table_bytes = count * 8;
	struct eh_frame_section section = { .data = data + 1, .vaddr = 0x10000 };
	struct eh_frame *frame;

	if (size_bytes < 1 + table_bytes)
		return;
	section.size_bytes = size_bytes - 1 - table_bytes;
	section.arch = data[0] & 1 ? UNWIND_AARCH64 : UNWIND_X86_64;
	le32_store(hdr + 4, 0x10000 - (HDR_VADDR + 4));
	le32_store(hdr + 8, (uint32_t)count);
	memcpy(hdr + HDR_BYTES, data + size_bytes - table_bytes, table_bytes);
	if (eh_frame_open_by_hdr(&section,
				 &(struct eh_frame_hdr){ hdr, HDR_BYTES + table_bytes, HDR_VADDR },
				 &frame))
		return;
	for (size_t i = 0; i < count; i++) {
		uint64_t pc = HDR_VADDR +
			      (uint64_t)(int64_t)(int32_t)le32_load(hdr + HDR_BYTES + i * 8);
		uint64_t start, some = 0;
		uint32_t size;

		if (eh_frame_find(frame, pc, &start, &size) &&
		    (start != pc || !size || size > UINT64_MAX - pc))
			abort();
		(void)eh_frame_rows_at(frame, &pc, 1, see_some, &some);
	}
	eh_frame_close(frame);
}

static void one_file(const uint8_t *data, size_t size_bytes)
{
	struct module_table *table = NULL;
	struct rule_table *set = NULL;
	struct module_table_view v;
	uint32_t i, rows = 0;
	uint64_t bias;

	if (rule_table_new(&set))
		return;
	if (!module_table_from_bytes(data, size_bytes, set, &table, NULL)) {
		module_table_view(table, &v);
		for (i = 0; i < v.n_pages; i++) {
			if (v.pages[i].first_row != rows || !v.pages[i].n_rows ||
			    v.pc_low[rows] != 0)
				abort();
			rows += v.pages[i].n_rows;
			module_table_find(table, (v.first_page + i) << MODULE_TABLE_PAGE_BITS);
			module_table_find(table,
					  ((v.first_page + i) << MODULE_TABLE_PAGE_BITS) + 0xffff);
		}
		if (rows != v.n_rows)
			abort();
		module_table_find(table, 0);
		module_table_find(table, UINT64_MAX);
		(void)module_table_bias(table, 0x555500001000, 0x1000, &bias);
	}
	module_table_free(table);
	rule_table_free(set);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	if (!size_bytes)
		return 0;
	if (data[0] == 0x7f) {
		one_file(data, size_bytes);
	} else {
		one_section(data, size_bytes);
		one_table(data, size_bytes);
	}
	return 0;
}
