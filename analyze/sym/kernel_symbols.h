/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * kernel_symbols - names of kernel addresses, from the text of /proc/kallsyms
 *
 * Only text symbols name anything, but each symbol, of whatever kind, ends the one before it.
 * kallsyms has no sizes: a symbol reaches to the next one of its module; the last one of a module
 * to the end of the page after its own, as in perf.  Addresses behind _etext or between modules
 * stay without a name.
 */
#ifndef EBPREC_ANALYZE_SYM_KERNEL_SYMBOLS_H
#define EBPREC_ANALYZE_SYM_KERNEL_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

struct kernel_symbols; /* opaque; read-only */

struct kernel_symbol {
	uint64_t start, end;
	const char *name;
	const char *module; /* "[ext4]", "[kernel.kallsyms]" for the kernel itself */
};

/*
 * Copies what it needs.  -ENOENT: no text symbol; -EACCES: all addresses are 0 (kptr_restrict);
 * -ENOMEM.  Lines that are not of kallsyms are passed over.
 */
int kernel_symbols_new(const char *text, size_t size_bytes, struct kernel_symbols **out);
void kernel_symbols_free(struct kernel_symbols *k); /* NULL is fine */

/* Where symbols begin and end: sorted, no two equal.  *out is owned (free()).  -ENOMEM. */
int kernel_symbols_bounds(const struct kernel_symbols *k, uint64_t **out, size_t *count);

/* NULL when no symbol covers addr.  Borrowed until kernel_symbols_free(). */
const struct kernel_symbol *kernel_symbols_find(const struct kernel_symbols *k, uint64_t addr);

#endif
