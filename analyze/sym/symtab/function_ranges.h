/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * function_ranges - where the functions of a stripped program begin and end
 *
 * .eh_frame stays when symbols are stripped, and has an FDE for each function.  A part of a function that the
 * compiler put elsewhere (.cold) has an FDE of its own.  Where jumps show the function that it is of
 * (function_parts.h) it has that one's start; else it counts as a function.
 */
#ifndef EBPREC_ANALYZE_SYM_SYMTAB_FUNCTION_RANGES_H
#define EBPREC_ANALYZE_SYM_SYMTAB_FUNCTION_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/sym/elf/elf_file.h"
#include "analyze/sym/symtab/symtab.h"

struct function_ranges; /* opaque; read-only */

/*
 * The file may be closed afterwards.  wanted: functions of no other addresses will be asked for; NULL: of all.
 * -ENOENT: no .eh_frame that can be read; -ENOMEM.
 */
int function_ranges_new(const struct elf_file *elf, const struct symtab_wanted *wanted,
			struct function_ranges **out);
void function_ranges_free(struct function_ranges *r); /* NULL is fine */

/* Where the function that covers vaddr (an address as in the program headers) begins.  false: none does. */
bool function_ranges_find(const struct function_ranges *r, uint64_t vaddr, uint64_t *start);

size_t function_ranges_count(const struct function_ranges *r);
/* The code of FDE number i (of those that have a wanted address), by ascending address; none overlap. */
void function_ranges_at(const struct function_ranges *r, size_t i, uint64_t *start, uint64_t *end);

#endif
