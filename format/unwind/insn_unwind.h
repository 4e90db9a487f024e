/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * insn_unwind - unwind rules from the instructions of code that has none
 *
 * musl's libc, in every program of Alpine and in static ones of Rust, and much that is written in assembly have no
 * .eh_frame, and often no frame pointers.  But what a function did to rsp and rbp since it was entered can be
 * read from its instructions.  From each known beginning of a function all paths through it are
 * followed, jumps too, and at each instruction it is noted how far rsp, or rbp where that is a
 * frame pointer, is from the CFA, and where the caller's rbp is.
 *
 * Contradictions are not resolved by guessing: where two paths reach one instruction with different
 * frames, where a function returns with something left on its stack, or where bytes are no
 * instruction, the function gets no rules.  The other rules nearly always equal a compiler's (`make
 * oracle` compares them with .eh_frame).  They are wrong behind calls of functions of other files
 * that never return: there the path goes on into code that does not belong to it, and the error is
 * only seen where it meets another path.
 *
 * x86_64.  The bytes may come from anyone: time and memory are bounded by their number.
 */
#ifndef EBPREC_FORMAT_UNWIND_INSN_UNWIND_H
#define EBPREC_FORMAT_UNWIND_INSN_UNWIND_H

#include <stddef.h>
#include <stdint.h>

#include "format/unwind/unwind.h"

#define INSN_UNWIND_MAX_BYTES ((size_t)16 << 20) /* of code; more is -EOVERFLOW */

struct insn_unwind_code {
	const uint8_t *data; /* borrowed */
	size_t size_bytes;
	uint64_t vaddr; /* of data[0], as linked */
};

struct insn_unwind_stats {
	uint64_t functions, given_up; /* followed, and those that got no rules */
};

/* Takes one range.  *rule is borrowed for the call.  Non-zero ends insn_unwind_rows() with that value. */
typedef int (*insn_unwind_row_fn)(void *ctx, uint64_t pc, uint64_t end_pc,
				  const struct unwind_rule *rule);

/*
 * Hands out ranges in ascending order that do not overlap.  starts: where functions begin, ascending, no
 * two equal; those outside of the code are stepped over, and what is called by code is a beginning as well.  stats may be NULL.  -ENOMEM, -EOVERFLOW, or what fn
 * returned.
 */
int insn_unwind_rows(const struct insn_unwind_code *code, const uint64_t *starts,
		     size_t start_count, insn_unwind_row_fn fn, void *ctx,
		     struct insn_unwind_stats *stats);

#endif
