/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* gotable - the table of Go's runtime, out of an ELF file: functions, and where they are in the source */
#ifndef EBPREC_ANALYZE_SYM_GO_SYMBOLS_H
#define EBPREC_ANALYZE_SYM_GO_SYMBOLS_H

#include "analyze/sym/elf/elf_file.h"
#include "analyze/sym/dwarf/libdw_lines.h"
#include "format/unwind/go_pclntab.h"

/* *bytes is owned (free()), and *table is of it.  -ENODATA: there is none; -EOVERFLOW, -ENOMEM, -EBADMSG. */
int gotable_read(const struct elffile *e, struct gopclntab *table, uint8_t **bytes);

struct golines; /* opaque; one thread */

/* As gotable_read(); e is not needed afterwards. */
int golines_new(const struct elffile *e, struct golines **out);
void golines_free(struct golines *g); /* NULL is fine; all strings go with it */
/*
 * As lines_find(), but inlined functions are no frames: the file and the line are those of the innermost,
 * and the function is not told.
 */
size_t golines_find(struct golines *g, uint64_t vaddr, struct lines_frame *out, size_t max);

#endif
