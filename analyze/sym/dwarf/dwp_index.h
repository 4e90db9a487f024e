/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * dwp_index - the index of a .dwp: where in its sections the part of a unit is
 *
 * A .dwp file: all .dwo files of a program, joined by dwp or llvm-dwp.  .debug_cu_index is a hash
 * table of the units' ids (DWARF 5, 7.3.5; version 2 is GNU's, before the standard).  Read-only
 * after dwp_index_open(): several threads may ask.
 */
#ifndef EBPREC_ANALYZE_SYM_DWARF_DWP_INDEX_H
#define EBPREC_ANALYZE_SYM_DWARF_DWP_INDEX_H

#include "analyze/sym/elf/elf_file.h"

enum dwp_index_column {
	DWP_INDEX_INFO,
	DWP_INDEX_ABBREV,
	DWP_INDEX_STR_OFFSETS,
	DWP_INDEX_RNGLISTS,
	DWP_INDEX_COLUMNS,
};

struct dwp_index {
	struct elf_file *elf; /* owned */
	uint8_t *index;       /* owned */
	uint32_t column_count, unit_count, slot_count;
	uint32_t columns[DWP_INDEX_COLUMNS]; /* UINT32_MAX: it has none */
};

/* The part of a unit in each section; both 0: none. */
struct dwp_index_row {
	uint32_t off_bytes[DWP_INDEX_COLUMNS], size_bytes[DWP_INDEX_COLUMNS];
};

/*
 * fd is borrowed until dwp_index_close().  -ENOTSUP: no .dwp, unsupported or malformed; -ENOMEM,
 * errno.
 */
int dwp_index_open(int fd, struct dwp_index *out);
void dwp_index_close(struct dwp_index *p); /* all zero is fine */

/* *probes: how many slots were looked at; most: at most so many.  false: no such unit. */
bool dwp_index_find(const struct dwp_index *p, uint64_t id, uint64_t most, uint64_t *probes,
		    struct dwp_index_row *out);

#endif
