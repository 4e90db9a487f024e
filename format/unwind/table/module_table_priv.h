/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* module_table_priv - shared by module_table.c and module_table_bytes.c */
#ifndef EBPREC_FORMAT_UNWIND_TABLE_MODULE_TABLE_PRIV_H
#define EBPREC_FORMAT_UNWIND_TABLE_MODULE_TABLE_PRIV_H

#include "format/unwind/table/elf_sections.h"
#include "format/unwind/table/module_table.h"

/* Code that is known without .eh_frame, for as far as no row of that covers it. */
struct known {
	uint64_t pc, end_pc;
	struct unwind_rule rule;
};

struct module_table {
	enum unwind_arch arch;
	struct rule_table *set; /* borrowed */
	uint64_t first_page;
	struct module_table_page *pages;
	uint32_t n_pages;
	size_t max_pages;
	uint16_t *pc_low, *rule_id;
	uint32_t n_rows, max_rows;
	struct elf_sections_segment *exec; /* owned */
	uint32_t n_exec;
	struct eh_frame_stats stats;
	bool tracks_bx;
	/* while building */
	uint16_t last_id;    /* the rule of the row before */
	struct known *known; /* by address; none overlap */
	uint32_t n_known, known_at;
	size_t max_known;
};

/* An empty table with space for so many segments; NULL: there is no memory. */
struct module_table *module_table_empty(struct rule_table *set, uint32_t exec_count);

#endif
