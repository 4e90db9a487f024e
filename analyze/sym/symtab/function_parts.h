/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * function_parts - which function the cold part of one belongs to, in a stripped program
 *
 * A compiler puts code of a function that it expects to run seldom elsewhere (.cold), with an FDE of its own; the
 * function jumps there, and it may jump back.  Nothing in the file names the function.  This module proves:
 *
 * - Code whose FDE begins with a frame on the stack is entered by jumps alone: it is a part, no function.
 * - A direct jump between two FDEs that leaves the frame as it is, with something in it, stays in one function.  The
 *   last call of a function, which is a jump too, is done without a frame.
 * - A part belongs to the function that such jumps lead from or to.  Where there is none, or more than one (code in
 *   assembly is shared by functions), it stays a function of its own.
 *
 * So does a cold part that begins without a frame: a jump to it cannot be distinguished from a call.  x86_64 alone.
 */
#ifndef EBPREC_ANALYZE_SYM_SYMTAB_FUNCTION_PARTS_H
#define EBPREC_ANALYZE_SYM_SYMTAB_FUNCTION_PARTS_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/sym/elf/elf_file.h"
#include "analyze/sym/symtab/symtab.h"
#include "format/unwind/eh_frame.h"

/* The code of an FDE.  function: where its function begins, which is its own start until function_parts_join(). */
struct function_part {
	uint64_t start, function;
	uint32_t size_bytes;
};

/*
 * parts: of the section, by address, none overlap; those that have a wanted address (NULL: all have) are enough.
 * None are joined where the code cannot be read, or where a million jumps lead to or from such parts.  -ENOMEM.
 */
int function_parts_join(const struct elf_file *elf, struct eh_frame *frame,
			const struct symtab_wanted *wanted, struct function_part *parts,
			size_t count);

#endif
