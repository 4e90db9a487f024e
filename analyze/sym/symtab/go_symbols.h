/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* go_symbols - the table of Go's runtime, out of an ELF file: functions, and where they are in the source */
#ifndef EBPREC_ANALYZE_SYM_SYMTAB_GO_SYMBOLS_H
#define EBPREC_ANALYZE_SYM_SYMTAB_GO_SYMBOLS_H

#include "analyze/sym/elf/elf_file.h"
#include "analyze/sym/dwarf/libdw_lines.h"
#include "format/unwind/go_pclntab.h"

/* *bytes is owned (free()), and *table is of it.  -ENODATA: there is none; -EOVERFLOW, -ENOMEM, -EBADMSG. */
int go_symbols_read(const struct elf_file *e, struct go_pclntab *table, uint8_t **bytes);

struct go_lines; /* opaque; one thread */

/* As go_symbols_read(); e is not needed afterwards. */
int go_lines_new(const struct elf_file *e, struct go_lines **out);
void go_lines_free(struct go_lines *g); /* NULL is fine; all strings go with it */
/*
 * As lines_find(), but inlined functions are no frames: the file and the line are those of the innermost,
 * and the function is not set.
 */
size_t go_lines_find(struct go_lines *g, uint64_t vaddr, struct source_frame *out, size_t max);

#endif
