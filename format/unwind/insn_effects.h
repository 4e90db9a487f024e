/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * codeframe - what one instruction after the other makes of a function's frame
 *
 * The inside of codeflow.h: known are rsp and rbp by their distance from the CFA, and where the caller's rbp is.
 * Whatever else is written to one of them makes it unknown.
 */
#ifndef EBPREC_FORMAT_UNWIND_INSN_EFFECTS_H
#define EBPREC_FORMAT_UNWIND_INSN_EFFECTS_H

#include <stdbool.h>
#include <stdint.h>

#include <Zydis/Zydis.h>

#include "format/base/hash.h"
#include "format/unwind/unwind.h"

#define CODEFRAME_UNKNOWN INT32_MIN

/* Bytes below the CFA. */
struct codeframe {
	int32_t sp;
	int32_t fp;       /* of this function; UNKNOWN: it is no frame pointer */
	int32_t saved_fp; /* the caller's is there; UNKNOWN: it is not on the stack */
	bool is_fp_lost;  /* nor in rbp */
};

/* At the first instruction: nothing but the return address is there. */
struct codeframe codeframe_entry(void);
uint64_t codeframe_hash(const struct codeframe *f, const struct hash_key *key);
bool codeframe_equal(const struct codeframe *a, const struct codeframe *b);
/* op: as many as the instruction has.  Jumps, calls and returns change nothing. */
void codeframe_step(struct codeframe *f, const ZydisDecodedInstruction *in,
		    const ZydisDecodedOperand *op);
/* The instruction takes the caller's rbp for an address: a value that a function of C knows nothing of. */
bool codeframe_uses_callers_fp(const struct codeframe *f, const ZydisDecodedInstruction *in,
			       const ZydisDecodedOperand *op);
/* Nothing is on the stack but the return address; or that may be so. */
bool codeframe_is_empty(const struct codeframe *f);
bool codeframe_may_return(const struct codeframe *f);
/* false: there is none. */
bool codeframe_rule(const struct codeframe *f, struct unwind_rule *out);

#endif
