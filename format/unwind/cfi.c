/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <errno.h>

#include "format/unwind/cfi.h"

/* DW_OP_..., as far as the known expressions use them. */
enum {
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONST1S = 0x09,
	OP_CONST2U = 0x0a,
	OP_CONST2S = 0x0b,
	OP_AND = 0x1a,
	OP_PLUS = 0x22,
	OP_PLUS_UCONST = 0x23,
	OP_SHL = 0x24,
	OP_GE = 0x2a,
	OP_LIT0 = 0x30,
	OP_LIT31 = 0x4f,
	OP_BREG0 = 0x70,
	OP_BREG31 = 0x8f,
};

/* DW_CFA_...: the first three carry an operand in their low 6 bits. */
enum {
	CFA_ADVANCE_LOC = 0x40,
	CFA_OFFSET = 0x80,
	CFA_RESTORE = 0xc0,
	CFA_NOP = 0x00,
	CFA_SET_LOC = 0x01,
	CFA_ADVANCE_LOC1 = 0x02,
	CFA_ADVANCE_LOC2 = 0x03,
	CFA_ADVANCE_LOC4 = 0x04,
	CFA_OFFSET_EXTENDED = 0x05,
	CFA_RESTORE_EXTENDED = 0x06,
	CFA_UNDEFINED = 0x07,
	CFA_SAME_VALUE = 0x08,
	CFA_REGISTER = 0x09,
	CFA_REMEMBER_STATE = 0x0a,
	CFA_RESTORE_STATE = 0x0b,
	CFA_DEF_CFA = 0x0c,
	CFA_DEF_CFA_REGISTER = 0x0d,
	CFA_DEF_CFA_OFFSET = 0x0e,
	CFA_DEF_CFA_EXPRESSION = 0x0f,
	CFA_EXPRESSION = 0x10,
	CFA_OFFSET_EXTENDED_SF = 0x11,
	CFA_DEF_CFA_SF = 0x12,
	CFA_DEF_CFA_OFFSET_SF = 0x13,
	CFA_VAL_OFFSET = 0x14,
	CFA_VAL_OFFSET_SF = 0x15,
	CFA_VAL_EXPRESSION = 0x16,
	CFA_ADVANCE_LOC8 = 0x1d,
	CFA_AARCH64_NEGATE_RA_STATE_WITH_PC = 0x2c,
	CFA_AARCH64_NEGATE_RA_STATE = 0x2d,
	CFA_GNU_ARGS_SIZE = 0x2e,
	CFA_GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f,
};

/* DW_EH_PE_... */
enum {
	PE_ABSPTR = 0x00,
	PE_ULEB128 = 0x01,
	PE_UDATA2 = 0x02,
	PE_UDATA4 = 0x03,
	PE_UDATA8 = 0x04,
	PE_SLEB128 = 0x09,
	PE_SDATA2 = 0x0a,
	PE_SDATA4 = 0x0b,
	PE_SDATA8 = 0x0c,
	PE_PCREL = 0x10,
};

static uint32_t fp_regno(uint8_t arch)
{
	return arch == UNWIND_AARCH64 ? UNWIND_ARM_FP : UNWIND_X86_FP;
}

static uint32_t sp_regno(uint8_t arch)
{
	return arch == UNWIND_AARCH64 ? UNWIND_ARM_SP : UNWIND_X86_SP;
}

static uint32_t ra_regno(uint8_t arch)
{
	return arch == UNWIND_AARCH64 ? UNWIND_ARM_LR : UNWIND_X86_RA;
}

/* *shift: the bits that it has, a multiple of 7; sign: of the last byte, its 0x40. */
static uint64_t read_leb(struct cursor *c, uint32_t *shift, uint8_t *sign)
{
	uint64_t value = 0;
	uint8_t b;

	for (*shift = 0; *shift < 70; *shift += 7) {
		b = cursor_u8(c);
		if (*shift < 64)
			value |= (uint64_t)(b & 0x7f) << *shift;
		if (!(b & 0x80)) {
			*shift += 7;
			*sign = b & 0x40;
			return value;
		}
	}
	c->bad = true;
	*sign = 0;
	return 0;
}

uint64_t cfi_uleb(struct cursor *c)
{
	uint32_t shift;
	uint8_t sign;

	return read_leb(c, &shift, &sign);
}

int64_t cfi_sleb(struct cursor *c)
{
	uint32_t shift;
	uint8_t sign;
	uint64_t value = read_leb(c, &shift, &sign);

	return (int64_t)(sign && shift < 64 ? value | ~0ULL << shift : value);
}

int cfi_pointer(struct cursor *c, uint8_t encoding, uint64_t vaddr, uint64_t *raw, uint64_t *out)
{
	uint64_t at = vaddr + c->off_bytes, value;

	switch (encoding & 0x0f) {
	case PE_ABSPTR:
	case PE_UDATA8:
	case PE_SDATA8:
		value = cursor_u64(c);
		break;
	case PE_ULEB128:
		value = cfi_uleb(c);
		break;
	case PE_UDATA2:
		value = cursor_u16(c);
		break;
	case PE_UDATA4:
		value = cursor_u32(c);
		break;
	case PE_SLEB128:
		value = (uint64_t)cfi_sleb(c);
		break;
	case PE_SDATA2:
		value = (uint64_t)(int64_t)(int16_t)cursor_u16(c);
		break;
	case PE_SDATA4:
		value = (uint64_t)(int64_t)(int32_t)cursor_u32(c);
		break;
	default:
		return -ENOTSUP;
	}
	if ((encoding & 0xf0) != 0 && (encoding & 0xf0) != PE_PCREL)
		return -ENOTSUP;
	if (!cursor_ok(c))
		return -ENODATA;
	if (raw)
		*raw = value;
	*out = encoding & PE_PCREL ? value + at : value;
	return 0;
}

/* The number that is added after a DEREF: "+ constant" in one of the ways compilers write it. */
static bool match_addend(struct cursor *c, int64_t *out)
{
	uint8_t op = cursor_u8(c);
	int64_t value;

	if (op == OP_PLUS_UCONST) {
		*out = (int64_t)cfi_uleb(c);
		return true;
	}
	if (op >= OP_LIT0 && op <= OP_LIT31)
		value = op - OP_LIT0;
	else if (op == OP_CONST1U)
		value = cursor_u8(c);
	else if (op == OP_CONST1S)
		value = (int8_t)cursor_u8(c);
	else if (op == OP_CONST2U)
		value = cursor_u16(c);
	else if (op == OP_CONST2S)
		value = (int16_t)cursor_u16(c);
	else
		return false;
	if (cursor_u8(c) != OP_PLUS)
		return false;
	*out = value;
	return true;
}

/*
 * The linker's stubs: rsp + 8 + ((rip & 15) >= n) * 8.  A stub is 16 bytes with a push in it, and
 * one expression serves all of them.  n is 11, or 10 with branch protection.
 */
static bool match_plt(const uint8_t *expr, size_t size_bytes, struct cfi_cfa *cfa)
{
	const uint8_t known[] = {
		OP_BREG0 + UNWIND_X86_SP,
		8,
		OP_BREG0 + UNWIND_X86_RA,
		0,
		OP_LIT0 + 15,
		OP_AND,
		OP_LIT0 + 11,
		OP_GE,
		OP_LIT0 + 3,
		OP_SHL,
		OP_PLUS,
	};
	size_t i;

	if (size_bytes != sizeof(known))
		return false;
	for (i = 0; i < sizeof(known); i++)
		if (i != 6 && expr[i] != known[i])
			return false;
	if (expr[6] < OP_LIT0 || expr[6] > OP_LIT0 + 15)
		return false;
	*cfa = (struct cfi_cfa){ .how = CFI_CFA_PLT, .off = expr[6] - OP_LIT0 };
	return true;
}

/* The meaning of a CFA expression: reg + off, *(reg + off) + post, the PLT, or CFI_CFA_OTHER. */
static struct cfi_cfa match_cfa_expr(uint8_t arch, const uint8_t *expr, size_t size_bytes)
{
	struct cfi_cfa other = { .how = CFI_CFA_OTHER }, cfa = { .how = CFI_CFA_REG };
	struct cursor c = cursor_of(expr, size_bytes);
	uint8_t op = cursor_u8(&c);

	if (arch == UNWIND_X86_64 && match_plt(expr, size_bytes, &cfa))
		return cfa;
	if (op < OP_BREG0 || op > OP_BREG31)
		return other;
	cfa.reg = op - OP_BREG0;
	cfa.off = cfi_sleb(&c);
	if (cursor_ok(&c) && !cursor_left(&c))
		return cfa;
	if (cursor_u8(&c) != OP_DEREF)
		return other;
	cfa.how = CFI_CFA_DEREF;
	if (cursor_left(&c) && !match_addend(&c, &cfa.post))
		return other;
	if (!cursor_ok(&c) || cursor_left(&c))
		return other;
	return cfa;
}

/* The meaning of the expression for a register's location: fp + off, sp + off, or neither. */
static struct cfi_reg match_reg_expr(uint8_t arch, const uint8_t *expr, size_t size_bytes)
{
	struct cursor c = cursor_of(expr, size_bytes);
	struct cfi_reg reg = { .how = CFI_OTHER_RULE };
	uint8_t op = cursor_u8(&c);
	int64_t off = cfi_sleb(&c);

	if (!cursor_ok(&c) || cursor_left(&c))
		return reg;
	if (op == OP_BREG0 + fp_regno(arch))
		reg = (struct cfi_reg){ .how = CFI_AT_FP, .off = off };
	else if (op == OP_BREG0 + sp_regno(arch))
		reg = (struct cfi_reg){ .how = CFI_AT_SP, .off = off };
	return reg;
}

/* The state of a register we track, or NULL: most registers do not matter for unwinding. */
static inline struct cfi_reg *tracked(const struct cfi_common *common, struct cfi_state *state,
				      uint64_t regno)
{
	if (regno == fp_regno(common->arch))
		return &state->fp;
	if (regno == ra_regno(common->arch))
		return &state->ra;
	if (regno == sp_regno(common->arch))
		return &state->sp;
	if (regno == UNWIND_X86_BX && common->track_bx)
		return &state->bx;
	return NULL;
}

static inline void set_reg(struct cfi_run *run, uint64_t regno, enum cfi_how how, int64_t off)
{
	struct cfi_reg *reg = tracked(run->common, &run->state, regno);

	if (!reg)
		return;
	*reg = (struct cfi_reg){ .how = how, .off = off };
	run->dirty = true;
}

static void restore_reg(struct cfi_run *run, uint64_t regno)
{
	struct cfi_state initial = run->common->initial;
	struct cfi_reg *from = tracked(run->common, &initial, regno);

	if (from)
		set_reg(run, regno, from->how, from->off);
}

static int64_t scaled(const struct cfi_run *run, uint64_t factor)
{
	return (int64_t)(factor * (uint64_t)run->common->data_align);
}

static void set_cfa(struct cfi_run *run, uint64_t regno, int64_t off)
{
	run->state.cfa = (struct cfi_cfa){
		.how = CFI_CFA_REG,
		.reg = regno < UINT32_MAX ? (uint32_t)regno : UINT32_MAX,
		.off = off,
	};
	run->dirty = true;
}

/* The instructions that change the CFA; 1 when op is none of them. */
static int run_cfa_op(struct cfi_run *run, uint8_t op)
{
	struct cursor *c = &run->ins;
	struct cfi_cfa *cfa = &run->state.cfa;
	const uint8_t *expr;
	uint64_t regno, size_bytes;

	switch (op) {
	case CFA_DEF_CFA:
		regno = cfi_uleb(c);
		set_cfa(run, regno, (int64_t)cfi_uleb(c));
		return 0;
	case CFA_DEF_CFA_SF:
		regno = cfi_uleb(c);
		set_cfa(run, regno, scaled(run, (uint64_t)cfi_sleb(c)));
		return 0;
	case CFA_DEF_CFA_REGISTER:
		regno = cfi_uleb(c);
		if (cfa->how != CFI_CFA_REG)
			return -EBADMSG;
		set_cfa(run, regno, cfa->off);
		return 0;
	case CFA_DEF_CFA_OFFSET:
	case CFA_DEF_CFA_OFFSET_SF:
		if (cfa->how != CFI_CFA_REG)
			return -EBADMSG;
		cfa->off = op == CFA_DEF_CFA_OFFSET ? (int64_t)cfi_uleb(c)
						    : scaled(run, (uint64_t)cfi_sleb(c));
		run->dirty = true;
		return 0;
	case CFA_DEF_CFA_EXPRESSION:
		size_bytes = cfi_uleb(c);
		expr = cursor_bytes(c, size_bytes);
		if (!expr)
			return -EBADMSG;
		*cfa = match_cfa_expr(run->common->arch, expr, size_bytes);
		run->dirty = true;
		return 0;
	default:
		return 1;
	}
}

/* The instructions that set a register's rule; 1 when op is none of them. */
static int run_reg_op(struct cfi_run *run, uint8_t op)
{
	struct cursor *c = &run->ins;
	const uint8_t *expr;
	struct cfi_reg reg;
	uint64_t regno, size_bytes;

	if (op < CFA_OFFSET_EXTENDED ||
	    (op > CFA_VAL_EXPRESSION && op != CFA_GNU_NEGATIVE_OFFSET_EXTENDED))
		return 1;
	regno = cfi_uleb(c);
	switch (op) {
	case CFA_OFFSET_EXTENDED:
		set_reg(run, regno, CFI_AT_CFA, scaled(run, cfi_uleb(c)));
		return 0;
	case CFA_OFFSET_EXTENDED_SF:
		set_reg(run, regno, CFI_AT_CFA, scaled(run, (uint64_t)cfi_sleb(c)));
		return 0;
	case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
		set_reg(run, regno, CFI_AT_CFA, scaled(run, -cfi_uleb(c)));
		return 0;
	case CFA_VAL_OFFSET:
		set_reg(run, regno, CFI_IS_CFA, scaled(run, cfi_uleb(c)));
		return 0;
	case CFA_VAL_OFFSET_SF:
		set_reg(run, regno, CFI_IS_CFA, scaled(run, (uint64_t)cfi_sleb(c)));
		return 0;
	case CFA_RESTORE_EXTENDED:
		restore_reg(run, regno);
		return 0;
	case CFA_UNDEFINED:
		set_reg(run, regno, CFI_UNDEFINED, 0);
		return 0;
	case CFA_SAME_VALUE:
		set_reg(run, regno, CFI_SAME, 0);
		return 0;
	case CFA_REGISTER:
		set_reg(run, regno, CFI_IN_REG, (int64_t)cfi_uleb(c));
		return 0;
	case CFA_EXPRESSION:
	case CFA_VAL_EXPRESSION:
		size_bytes = cfi_uleb(c);
		expr = cursor_bytes(c, size_bytes);
		if (!expr)
			return -EBADMSG;
		reg = (struct cfi_reg){ .how = CFI_OTHER_RULE };
		if (op == CFA_EXPRESSION)
			reg = match_reg_expr(run->common->arch, expr, size_bytes);
		set_reg(run, regno, reg.how, reg.off);
		return 0;
	default:
		return -EBADMSG;
	}
}

static int run_stack_op(struct cfi_run *run, uint8_t op)
{
	if (op == CFA_REMEMBER_STATE) {
		if (run->depth == CFI_MAX_REMEMBER)
			return -EBADMSG;
		run->stack[run->depth++] = run->state;
		return 0;
	}
	if (!run->depth)
		return -EBADMSG;
	run->state = run->stack[--run->depth];
	run->dirty = true;
	return 0;
}

/* Runs an instruction that does not move the location. */
static int run_op(struct cfi_run *run, uint8_t op)
{
	int err;

	switch (op) {
	case CFA_NOP:
		return 0;
	case CFA_REMEMBER_STATE:
	case CFA_RESTORE_STATE:
		return run_stack_op(run, op);
	case CFA_GNU_ARGS_SIZE: /* for landing pads only */
		cfi_uleb(&run->ins);
		return 0;
	case CFA_AARCH64_NEGATE_RA_STATE: /* signatures are cut from every address */
	case CFA_AARCH64_NEGATE_RA_STATE_WITH_PC:
		return run->common->arch == UNWIND_AARCH64 ? 0 : -EBADMSG;
	default:
		err = run_cfa_op(run, op);
		if (err == 1)
			err = run_reg_op(run, op);
		return err == 1 ? -EBADMSG : err;
	}
}

/* By how much op moves the location; 0 when it is no such instruction. */
static inline int advance_of(struct cfi_run *run, uint8_t op, uint64_t *delta)
{
	struct cursor *c = &run->ins;
	uint64_t code_align = run->common->code_align, to;

	*delta = 0;
	if ((op & 0xc0) == CFA_ADVANCE_LOC) {
		*delta = (op & 0x3f) * code_align;
		return 1;
	}
	switch (op) {
	case CFA_ADVANCE_LOC1:
		*delta = cursor_u8(c) * code_align;
		return 1;
	case CFA_ADVANCE_LOC2:
		*delta = cursor_u16(c) * code_align;
		return 1;
	case CFA_ADVANCE_LOC4:
		*delta = cursor_u32(c) * code_align;
		return 1;
	case CFA_ADVANCE_LOC8:
		*delta = cursor_u64(c) * code_align;
		return 1;
	case CFA_SET_LOC:
		if (cfi_pointer(c, run->common->pointer_encoding, run->ins_vaddr, NULL, &to) ||
		    to < run->pc)
			return -EBADMSG;
		*delta = to - run->pc;
		return 1;
	default:
		return 0;
	}
}

int cfi_run_row(struct cfi_run *run)
{
	struct cursor *c = &run->ins;
	uint64_t delta;
	uint8_t op;
	int err;

	run->dirty = false;
	while (cursor_left(c)) {
		op = cursor_u8(c);
		err = advance_of(run, op, &delta);
		if (err > 0) {
			if (!cursor_ok(c) || delta > UINT64_MAX - run->pc)
				return -EBADMSG;
			if (!delta)
				continue;
			run->next_pc = run->pc + delta;
			return 1;
		}
		if (err == 0) {
			if ((op & 0xc0) == CFA_OFFSET)
				set_reg(run, op & 0x3f, CFI_AT_CFA, scaled(run, cfi_uleb(c)));
			else if ((op & 0xc0) == CFA_RESTORE)
				restore_reg(run, op & 0x3f);
			else
				err = run_op(run, op);
		}
		if (err || !cursor_ok(c))
			return -EBADMSG;
	}
	return 0;
}

void cfi_run_init(struct cfi_run *run, const struct cfi_common *common, const uint8_t *ins,
		  size_t size_bytes, uint64_t ins_vaddr, uint64_t pc)
{
	run->common = common;
	run->ins = cursor_of(ins, size_bytes);
	run->ins_vaddr = ins_vaddr;
	run->pc = pc;
	run->next_pc = pc;
	run->state = common->initial;
	run->dirty = false;
	run->depth = 0;
}

int cfi_common_init(struct cfi_common *common, const uint8_t *ins, size_t size_bytes)
{
	struct cfi_run run;

	common->initial = (struct cfi_state){ .cfa.how = CFI_CFA_NONE };
	cfi_run_init(&run, common, ins, size_bytes, 0, 0);
	if (cfi_run_row(&run)) /* an advance has no meaning in a CIE */
		return -EBADMSG;
	common->initial = run.state;
	return 0;
}
