/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * symtab - which function, or which variable, covers this address of an ELF file?
 *
 * Joins .symtab (of the file, its debug file or its MiniDebugInfo; else Go's own table of functions, which
 * strip leaves in), .dynsym, and the PLT.  In executable
 * sections only: functions, data that lies between them, and labels of assembly where no function
 * is.  A symbol without a size reaches to the next one, but not out of its section.
 *
 * When an address has several names the one of perf 6.1 is taken, so that both tools print the
 * same: see prefer() in symtab.c.  perf makes that choice for demangled names, and so it is made
 * here when an address is first asked for, not for all names at loading.
 */
#ifndef EBPREC_ANALYZE_SYM_SYMTAB_SYMTAB_H
#define EBPREC_ANALYZE_SYM_SYMTAB_SYMTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/sym/elf/elf_file.h"

struct symtab; /* opaque; one thread */

/* The addresses that will be asked for, in any order. */
struct symtab_wanted {
	const uint64_t *vaddrs;
	size_t count;
};

/*
 * debug and mini may be NULL; all files may be closed after.  A table that is broken is left out.  No
 * symbols at all is no error.  -EBADMSG: there are tables, but none can be read; -ENOMEM.
 * wanted: symbols that cover these are stored and those that begin right behind one, by its first
 * byte; other addresses have no right answer; NULL: all.
 */
int symtab_new(const struct elf_file *file, const struct elf_file *debug,
	       const struct elf_file *mini, const struct symtab_wanted *wanted,
	       struct symtab **out);
/*
 * The variables in place of the functions: of .symtab and .dynsym what has a size and lies in memory that is no
 * code.  debug may be NULL.  Errors as of symtab_new().
 */
int symtab_new_variables(const struct elf_file *file, const struct elf_file *debug,
			 struct symtab **out);
void symtab_free(struct symtab *t); /* NULL is fine */

/*
 * All addresses where a symbol begins or ends, sorted, no two equal; maybe some more.  The answer
 * of symtab_find() is the same from one to the next.  *out is owned (free()).  -EBADMSG, -ENOMEM,
 * -EOVERFLOW.
 */
int symtab_bounds(const struct elf_file *file, const struct elf_file *debug,
		  const struct elf_file *mini, uint64_t **out, size_t *count);

/* How many there are, stored or not; of call stubs only those that are stored. */
size_t symtab_count(const struct symtab *t);
/* Whether there was a .symtab: without one, local functions have no names. */
bool symtab_is_full(const struct symtab *t);
/* Whether Go's table of functions stands for it. */
bool symtab_is_go(const struct symtab *t);

/*
 * The name of what covers vaddr (an address as in the program headers), demangled when asked for;
 * NULL when nothing does.  Valid until symtab_free(); the same function gives the same pointer.
 * *start: where that begins; may be NULL, and is untouched when nothing covers vaddr.
 */
const char *symtab_find(struct symtab *t, uint64_t vaddr, bool demangled, uint64_t *start);

/* Where what covers vaddr begins and ends.  false: nothing does. */
bool symtab_extent(struct symtab *t, uint64_t vaddr, uint64_t *start, uint64_t *end);

#endif
