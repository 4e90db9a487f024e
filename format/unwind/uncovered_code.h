/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * codegaps - rules for the code of a file that nothing else in it has rules for
 *
 * Finds the executable bytes that a table leaves out, and in them where functions begin: by the file's symbols, and
 * by what looks like a call, of a place where compilers let functions begin or more than once.  codeflow.h reads the rules
 * from there.  What returns from a signal (musl's __restore_rt) is known by its bytes.
 */
#ifndef EBPREC_FORMAT_UNWIND_UNCOVERED_CODE_H
#define EBPREC_FORMAT_UNWIND_UNCOVERED_CODE_H

#include "format/unwind/insn_unwind.h"
#include "format/unwind/elf_sections.h"
#include "format/unwind/module_table.h"

enum {
	CODEGAPS_MIN_BYTES = 1024, /* of all gaps: each program has a few bytes of start-up code */
	CODEGAPS_MAX_STARTS = 1 << 20, /* those beyond it are left out */
	CODEGAPS_MAX_GAPS = 65536,     /* the same */
};

/*
 * Hands out ranges, ascending but for those of signals, that do not overlap.  table: what is covered
 * already, x86_64.  What cannot be read has no rules.  -ENOMEM, or what fn returned.
 */
int codegaps_rows(const struct unwtable *table, const struct elfunwind_source *source,
		  const struct elfunwind *elf, codeflow_row_fn fn, void *ctx);

#endif
