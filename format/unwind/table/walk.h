/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * walk - unwinds a complete stack from a copy of it
 *
 * The same steps as the BPF walk, in user space: unwind tables where there are any, a checked
 * frame-pointer step where there are none, and tables again as soon as they cover the code.  Used
 * for raw copies (recorder) and for captures made with perf's --call-graph dwarf (analyzer).  Pure:
 * the caller supplies the mappings.
 */
#ifndef EBPREC_FORMAT_UNWIND_TABLE_WALK_H
#define EBPREC_FORMAT_UNWIND_TABLE_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/unwind/stack_result.h"
#include "format/unwind/unwind.h"
#include "format/unwind/table/module_table.h"

/* The mapping at an address of the process. */
struct walk_stack_code {
	bool executable;                  /* false: no code is mapped there */
	const struct module_table *table; /* NULL: JIT code, or no table could be made */
	uint64_t bias;                    /* subtract from an address to get the table's */
	const struct unwind_rule *rule; /* instead of a table: the rule at this address; or NULL */
	enum unwind_why lacks;          /* without table and rule: why; UNWIND_OK: UNWIND_NO_CFI */
};

struct walk_stack {
	enum unwind_arch arch;
	/* Fills *out (zeroed before); called once a frame, often for neighbours. */
	void (*lookup)(void *ctx, uint64_t pc, struct walk_stack_code *out);
	void *ctx;
	size_t frame_max; /* at most this many frames are written; >= 1 */
};

/*
 * Walks from regs (unwind_regs_leaf()) through mem.  frames[] gets the addresses, leaf first, the
 * leaf exact and callers as return addresses; *info how it went.  Returns the number of frames,
 * at least 1.  Never fails: *info has the reason of a walk that ends early.
 */
size_t walk_stack_run(const struct walk_stack *walk, const struct unwind_regs *regs,
		      const struct unwind_mem *mem, uint64_t *frames, struct stack_result *info);

#endif
