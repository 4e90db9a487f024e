/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * insn_effects - the effects of a function's instructions on its frame
 *
 * Used by insn_unwind.c only.  It tracks rsp and rbp by their distance from the CFA, and where the
 * caller's rbp is.  Any other value that is written to one of them makes it unknown.
 */
#ifndef EBPREC_FORMAT_UNWIND_INSN_EFFECTS_H
#define EBPREC_FORMAT_UNWIND_INSN_EFFECTS_H

#include <stdbool.h>
#include <stdint.h>

#include <Zydis/Zydis.h>

#include "format/base/hash.h"
#include "format/unwind/unwind.h"

#define INSN_EFFECTS_UNKNOWN INT32_MIN

/* Bytes below the CFA. */
struct insn_effects {
	int32_t sp;
	int32_t fp;       /* of this function; UNKNOWN: it is no frame pointer */
	int32_t saved_fp; /* the caller's is there; UNKNOWN: it is not on the stack */
	bool is_fp_lost;  /* nor in rbp */
};

/* At the first instruction: nothing but the return address is there. */
struct insn_effects insn_effects_entry(void);
uint64_t insn_effects_hash(const struct insn_effects *f, const struct hash_key *key);
bool insn_effects_equal(const struct insn_effects *a, const struct insn_effects *b);
/* op: as many as the instruction has.  Jumps, calls and returns change nothing. */
void insn_effects_step(struct insn_effects *f, const ZydisDecodedInstruction *in,
		       const ZydisDecodedOperand *op);
/* The instruction uses the caller's rbp as an address: a function of C never does that. */
bool insn_effects_uses_callers_fp(const struct insn_effects *f, const ZydisDecodedInstruction *in,
				  const ZydisDecodedOperand *op);
/* Only the return address is on the stack; or that may be so. */
bool insn_effects_is_empty(const struct insn_effects *f);
bool insn_effects_may_return(const struct insn_effects *f);
/* false: there is none. */
bool insn_effects_rule(const struct insn_effects *f, struct unwind_rule *out);

#endif
