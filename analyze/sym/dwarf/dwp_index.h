/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * dwpack - the index of a .dwp: where in its sections the part of a unit is
 *
 * What dwp and llvm-dwp make of all .dwo files of a program.  .debug_cu_index is a hash table of the
 * units' ids (DWARF 5, 7.3.5; version 2 is GNU's, before the standard).  Read-only after
 * dwpack_open(): several threads may ask.
 */
#ifndef EBPREC_ANALYZE_SYM_DWARF_DWP_INDEX_H
#define EBPREC_ANALYZE_SYM_DWARF_DWP_INDEX_H

#include "analyze/sym/elf/elf_file.h"

enum dwpack_column {
	DWPACK_INFO,
	DWPACK_ABBREV,
	DWPACK_STR_OFFSETS,
	DWPACK_RNGLISTS,
	DWPACK_COLUMNS,
};

struct dwpack {
	struct elffile *elf; /* owned */
	uint8_t *index;      /* owned */
	uint32_t column_count, unit_count, slot_count;
	uint32_t columns[DWPACK_COLUMNS]; /* UINT32_MAX: it has none */
};

/* The part of a unit in each section; both 0: none. */
struct dwpack_row {
	uint32_t off_bytes[DWPACK_COLUMNS], size_bytes[DWPACK_COLUMNS];
};

/* fd is borrowed until dwpack_close().  -ENOTSUP: no .dwp, odd or broken; -ENOMEM, errno. */
int dwpack_open(int fd, struct dwpack *out);
void dwpack_close(struct dwpack *p); /* all zero is fine */

/* *probes: how many slots were looked at; most: at most so many.  false: no such unit. */
bool dwpack_find(const struct dwpack *p, uint64_t id, uint64_t most, uint64_t *probes,
		 struct dwpack_row *out);

#endif
