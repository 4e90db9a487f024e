/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * go_pclntab - from the table that Go's linker writes for its runtime: unwind rules, names and lines by address
 *
 * Go programs have no .eh_frame for Go's code, and their frame pointers miss the callers of
 * functions without a frame.  .gopclntab is in every one, stripped or not: it has for each address
 * how many bytes of frame lie between the stack pointer and the return address.
 *
 * go_pclntab_rows() hands out ranges in ascending order that do not overlap.  Left out, so that
 * frame pointers cross it where they can, is code that moves to another stack (runtime.systemstack),
 * what the runtime returns to from a signal (known by its bytes), and a function whose entry is
 * broken.  Where threads and goroutines begin the rule is UNWIND_CFA_RA_UNDEF, and in
 * runtime.mcall, too: the goroutine that called it does not go on there.
 *
 * go_pclntab_functions() hands out the names that stack traces of Go show: with "[...]" where type
 * arguments were, and no end but where the next function begins.  go_pclntab_line() returns the
 * source line of an address, of the inlined function where there is one.
 *
 * Go 1.18 and later (magic 0xfffffff0 and 0xfffffff1), x86_64 and aarch64.  The bytes may come from anyone:
 * time and memory are bounded by the section and by the code it covers.
 *
 * Reference: src/internal/abi/symtab.go and src/runtime/symtab.go of Go.
 */
#ifndef EBPREC_FORMAT_UNWIND_GO_PCLNTAB_H
#define EBPREC_FORMAT_UNWIND_GO_PCLNTAB_H

#include <stddef.h>
#include <stdint.h>

#include "format/unwind/unwind.h"

enum {
	GO_PCLNTAB_MAX_BYTES = 256 << 20,   /* of section; larger ones fail with -EOVERFLOW */
	GO_PCLNTAB_MAX_FUNCTIONS = 1 << 23, /* more fail with -EOVERFLOW */
	GO_PCLNTAB_MAX_RANGES = 1 << 23,    /* handed out; more fail with -EOVERFLOW */
	GO_PCLNTAB_MAX_NAME_BYTES = 4096,   /* functions with longer names are left out */
	GO_PCLNTAB_TEXT_AT = 176,           /* where .go.module has the address of the code */
	GO_PCLNTAB_MODULE_BYTES = GO_PCLNTAB_TEXT_AT + 8,
};

/* The section that has it; Go's linker names it differently in a PIE.  And the one with
 * GO_PCLNTAB_TEXT_AT. */
#define GO_PCLNTAB_SECTION        ".gopclntab"
#define GO_PCLNTAB_SECTION_PIE    ".data.rel.ro.gopclntab"
#define GO_PCLNTAB_MODULE_SECTION ".go.module"

struct go_pclntab {
	const uint8_t *data; /* borrowed */
	size_t size_bytes;
	uint64_t text_vaddr; /* for tables without it (Go 1.26); 0: not known */
};

/* Takes one range.  *rule is borrowed for the call.  Non-zero ends go_pclntab_rows() with that value. */
typedef int (*go_pclntab_row_fn)(void *ctx, uint64_t pc, uint64_t end_pc,
				 const struct unwind_rule *rule);

/*
 * Hands all ranges to fn.  -ENODATA cut, -EBADMSG broken, -ENOTSUP another version or processor, or it
 * is not known where the code is; -EOVERFLOW a limit above; or what fn returned.
 */
int go_pclntab_rows(const struct go_pclntab *table, go_pclntab_row_fn fn, void *ctx);

/* Takes one function; name is borrowed from the table, and ends within it.  Non-zero ends the reading. */
typedef int (*go_pclntab_function_fn)(void *ctx, uint64_t pc, uint64_t end_pc, const char *name);
/* Hands all functions that have a name to fn, in ascending order; none overlap.  As go_pclntab_rows(). */
int go_pclntab_functions(const struct go_pclntab *table, go_pclntab_function_fn fn, void *ctx);

struct go_pclntab_line {
	const char *file; /* borrowed from the table */
	uint32_t line;
};
/*
 * The source line of pc, as `go tool addr2line` prints it.  A function has as many steps as its
 * code has lines: each that is taken is one less in *steps_left, and at 0 nothing is known.
 * -ENOENT: not known; else as go_pclntab_rows().
 */
int go_pclntab_line(const struct go_pclntab *table, uint64_t pc, uint64_t *steps_left,
		    struct go_pclntab_line *out);

#endif
