/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "format/unwind/insn_effects.h"

#define UNKNOWN INSN_EFFECTS_UNKNOWN

struct insn_effects insn_effects_entry(void)
{
	return (struct insn_effects){ .sp = 8, .fp = UNKNOWN, .saved_fp = UNKNOWN };
}

uint64_t insn_effects_hash(const struct insn_effects *f, const struct hash_key *key)
{
	return hash_pair(key, (uint64_t)(uint32_t)f->sp << 32 | (uint32_t)f->fp,
			 (uint64_t)f->is_fp_lost << 32 | (uint32_t)f->saved_fp);
}

bool insn_effects_equal(const struct insn_effects *a, const struct insn_effects *b)
{
	return a->sp == b->sp && a->fp == b->fp && a->saved_fp == b->saved_fp &&
	       a->is_fp_lost == b->is_fp_lost;
}

bool insn_effects_is_empty(const struct insn_effects *f)
{
	return f->sp == 8;
}

bool insn_effects_may_return(const struct insn_effects *f)
{
	return f->sp == 8 || f->sp == UNKNOWN;
}

/* distance + by, or UNKNOWN where that is no frame. */
static int32_t moved(int32_t distance, int64_t by)
{
	int64_t sum = (int64_t)distance + by;

	return distance == UNKNOWN || by > UNWIND_CFA_OFF_MAX || by < UNWIND_CFA_OFF_MIN ||
			       sum < 0 || sum > UNWIND_CFA_OFF_MAX
		       ? UNKNOWN
		       : (int32_t)sum;
}

/* rbp gets a value that is not the caller's. */
static void take_fp(struct insn_effects *f)
{
	f->fp = UNKNOWN;
	f->is_fp_lost |= f->saved_fp == UNKNOWN;
}

/* rbp is stored so far below the CFA. */
static void store_fp(struct insn_effects *f, int32_t place)
{
	if (f->saved_fp == UNKNOWN && f->fp == UNKNOWN && !f->is_fp_lost)
		f->saved_fp = place;
}

/* rbp is loaded from there: the caller's, if it was stored there. */
static void load_fp(struct insn_effects *f, int32_t place)
{
	if (place == UNKNOWN || place != f->saved_fp) {
		take_fp(f);
		return;
	}
	f->fp = f->saved_fp = UNKNOWN;
}

/* ---- operands ---- */

static bool is_reg(const ZydisDecodedOperand *op, ZydisRegister reg)
{
	return op->type == ZYDIS_OPERAND_TYPE_REGISTER && op->reg.value == reg;
}

static bool writes(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op,
		   ZydisRegister reg)
{
	for (unsigned i = 0; i < in->operand_count; i++)
		if (op[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    (op[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) &&
		    ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, op[i].reg.value) ==
			    reg)
			return true;
	return false;
}

/* Where memory at a distance from rsp or rbp is, below the CFA. */
static int32_t place_of(const struct insn_effects *f, const ZydisDecodedOperand *op)
{
	if (op->type != ZYDIS_OPERAND_TYPE_MEMORY || op->mem.index != ZYDIS_REGISTER_NONE ||
	    op->mem.segment == ZYDIS_REGISTER_FS || op->mem.segment == ZYDIS_REGISTER_GS)
		return UNKNOWN;
	if (op->mem.base == ZYDIS_REGISTER_RSP)
		return moved(f->sp, -op->mem.disp.value);
	if (op->mem.base == ZYDIS_REGISTER_RBP)
		return moved(f->fp, -op->mem.disp.value);
	return UNKNOWN;
}

bool insn_effects_uses_callers_fp(const struct insn_effects *f, const ZydisDecodedInstruction *in,
				  const ZydisDecodedOperand *op)
{
	if (f->fp != UNKNOWN || f->saved_fp != UNKNOWN || f->is_fp_lost)
		return false;
	for (unsigned i = 0; i < in->operand_count_visible; i++)
		if (op[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    (op[i].mem.base == ZYDIS_REGISTER_RBP || op[i].mem.index == ZYDIS_REGISTER_RBP))
			return true;
	return false;
}

/* ---- instructions ---- */

static void push(struct insn_effects *f, const ZydisDecodedInstruction *in,
		 const ZydisDecodedOperand *op)
{
	f->sp = in->operand_width == 64 ? moved(f->sp, 8) : UNKNOWN;
	if (is_reg(&op[0], ZYDIS_REGISTER_RBP) && f->sp != UNKNOWN)
		store_fp(f, f->sp);
}

static void pop(struct insn_effects *f, const ZydisDecodedInstruction *in,
		const ZydisDecodedOperand *op)
{
	if (is_reg(&op[0], ZYDIS_REGISTER_RBP))
		load_fp(f, f->sp);
	f->sp = in->operand_width == 64 && !is_reg(&op[0], ZYDIS_REGISTER_RSP) ? moved(f->sp, -8)
									       : UNKNOWN;
}

static void leave(struct insn_effects *f)
{
	f->sp = f->fp;
	load_fp(f, f->sp);
	f->sp = moved(f->sp, -8);
}

/* The value that is written to rsp: a sum of itself and a number, or what rbp has. */
static void set_sp(struct insn_effects *f, const ZydisDecodedInstruction *in,
		   const ZydisDecodedOperand *op)
{
	bool by_number = op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
	int64_t number = op[1].imm.value.s;

	if (in->mnemonic == ZYDIS_MNEMONIC_SUB && by_number)
		f->sp = moved(f->sp, number);
	else if (in->mnemonic == ZYDIS_MNEMONIC_ADD && by_number)
		f->sp = moved(f->sp, -number);
	else if (in->mnemonic == ZYDIS_MNEMONIC_LEA)
		f->sp = place_of(f, &op[1]);
	else if (in->mnemonic == ZYDIS_MNEMONIC_MOV && is_reg(&op[1], ZYDIS_REGISTER_RBP))
		f->sp = f->fp;
	else
		f->sp = UNKNOWN;
}

static void set_fp(struct insn_effects *f, const ZydisDecodedInstruction *in,
		   const ZydisDecodedOperand *op)
{
	int32_t place = place_of(f, &op[1]);

	if (in->mnemonic == ZYDIS_MNEMONIC_MOV && op[1].type == ZYDIS_OPERAND_TYPE_MEMORY) {
		load_fp(f, place);
		return;
	}
	take_fp(f);
	if (in->mnemonic == ZYDIS_MNEMONIC_MOV && is_reg(&op[1], ZYDIS_REGISTER_RSP))
		f->fp = f->sp;
	else if (in->mnemonic == ZYDIS_MNEMONIC_LEA)
		f->fp = place;
}

void insn_effects_step(struct insn_effects *f, const ZydisDecodedInstruction *in,
		       const ZydisDecodedOperand *op)
{
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_PUSH:
		push(f, in, op);
		return;
	case ZYDIS_MNEMONIC_POP:
		pop(f, in, op);
		return;
	case ZYDIS_MNEMONIC_PUSHFQ:
		f->sp = moved(f->sp, 8);
		return;
	case ZYDIS_MNEMONIC_POPFQ:
		f->sp = moved(f->sp, -8);
		return;
	case ZYDIS_MNEMONIC_LEAVE:
		leave(f);
		return;
	case ZYDIS_MNEMONIC_CALL:
	case ZYDIS_MNEMONIC_RET:
		return;
	default:
		break;
	}
	if (in->operand_count_visible > 1 && is_reg(&op[0], ZYDIS_REGISTER_RSP) &&
	    writes(in, op, ZYDIS_REGISTER_RSP)) {
		set_sp(f, in, op);
		return;
	}
	if (in->operand_count_visible > 1 && is_reg(&op[0], ZYDIS_REGISTER_RBP) &&
	    writes(in, op, ZYDIS_REGISTER_RBP)) {
		set_fp(f, in, op);
		return;
	}
	if (in->mnemonic == ZYDIS_MNEMONIC_MOV && is_reg(&op[1], ZYDIS_REGISTER_RBP) &&
	    place_of(f, &op[0]) != UNKNOWN)
		store_fp(f, place_of(f, &op[0]));
	if (writes(in, op, ZYDIS_REGISTER_RSP))
		f->sp = UNKNOWN;
	if (writes(in, op, ZYDIS_REGISTER_RBP))
		take_fp(f);
}

bool insn_effects_rule(const struct insn_effects *f, struct unwind_rule *out)
{
	int32_t words = f->saved_fp == UNKNOWN ? 0 : f->saved_fp / 8;

	*out = (struct unwind_rule){ .cfa = UNWIND_CFA_SP };
	if (f->sp == UNKNOWN && f->fp == UNKNOWN)
		return false;
	if (f->sp != UNKNOWN && f->sp < 8) {
		out->cfa = UNWIND_CFA_RA_UNDEF; /* it popped its return address: no caller */
		return true;
	}
	if (f->fp != UNKNOWN) /* the surer one, as compilers have it */
		out->cfa = UNWIND_CFA_FP;
	out->cfa_off = f->fp != UNKNOWN ? f->fp : f->sp;
	if (f->is_fp_lost || words > INT16_MAX || (f->saved_fp != UNKNOWN && f->saved_fp % 8)) {
		out->fp_ra = UNWIND_FP_LOST;
	} else if (f->saved_fp != UNKNOWN) {
		out->fp_ra = UNWIND_FP_CFA;
		out->fp_words = (int16_t)-words;
	}
	return true;
}
