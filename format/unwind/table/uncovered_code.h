/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * uncovered_code - rules for the code of a file that its tables do not cover
 *
 * Finds the executable bytes that a table leaves out, and in them where functions begin: by the
 * file's symbols, and by bytes that look like a call, of an address that is aligned as compilers
 * align functions, or called more than once.  insn_unwind.h reads the rules from there.  The code
 * that returns from a signal (musl's __restore_rt) is known by its bytes.
 */
#ifndef EBPREC_FORMAT_UNWIND_TABLE_UNCOVERED_CODE_H
#define EBPREC_FORMAT_UNWIND_TABLE_UNCOVERED_CODE_H

#include "format/unwind/insn_unwind.h"
#include "format/unwind/table/elf_sections.h"
#include "format/unwind/table/module_table.h"

enum {
	UNCOVERED_CODE_MIN_BYTES =
		1024, /* of all gaps: each program has a few bytes of start-up code */
	UNCOVERED_CODE_MAX_STARTS = 1 << 20, /* those beyond it are left out */
	UNCOVERED_CODE_MAX_GAPS = 65536,     /* the same */
};

/*
 * Hands out ranges, ascending but for those of signals, that do not overlap.  table: the code that
 * is covered already, x86_64.  Code that cannot be read has no rules.  -ENOMEM, or what fn
 * returned.
 */
int uncovered_code_rows(const struct module_table *table, const struct elf_sections_source *source,
			const struct elf_sections *elf, insn_unwind_row_fn fn, void *ctx);

#endif
