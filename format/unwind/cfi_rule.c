/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* The second half of cfi.h: from the state of a row to the 8 bytes of a rule. */
#include "format/unwind/cfi.h"

static bool fits_s16(int64_t v)
{
	return v >= INT16_MIN && v <= INT16_MAX;
}

/* An offset as a number of 8-byte words, when it is one and fits. */
static bool words_of(int64_t off_bytes, int64_t *words)
{
	if (off_bytes & 7)
		return false;
	*words = off_bytes / 8;
	return fits_s16(*words);
}

static enum cfi_unsup encode_cfa(uint8_t arch, const struct cfi_cfa *cfa, struct unwind_rule *rule)
{
	uint32_t fp = arch == UNWIND_AARCH64 ? UNWIND_ARM_FP : UNWIND_X86_FP;
	uint32_t sp = arch == UNWIND_AARCH64 ? UNWIND_ARM_SP : UNWIND_X86_SP;
	uint32_t max_reg = arch == UNWIND_AARCH64 ? 30 : 15;

	switch (cfa->how) {
	case CFI_CFA_REG:
		if (cfa->off < UNWIND_CFA_OFF_MIN || cfa->off > UNWIND_CFA_OFF_MAX)
			return CFI_UNSUP_CFA_RANGE;
		rule->cfa_off = (int32_t)cfa->off;
		if (cfa->reg == sp)
			rule->cfa = UNWIND_CFA_SP;
		else if (cfa->reg == fp)
			rule->cfa = UNWIND_CFA_FP;
		else if (cfa->reg <= max_reg)
			rule->cfa = (uint8_t)(UNWIND_CFA_REG | cfa->reg);
		else
			return CFI_UNSUP_CFA_RANGE;
		return CFI_SUPPORTED;
	case CFI_CFA_DEREF:
		if (cfa->reg != sp && cfa->reg != fp)
			return CFI_UNSUP_CFA_EXPR;
		if (!fits_s16(cfa->off) || cfa->post & 7 || cfa->post / 8 < INT8_MIN ||
		    cfa->post / 8 > INT8_MAX)
			return CFI_UNSUP_CFA_RANGE;
		rule->cfa = cfa->reg == sp ? UNWIND_CFA_DEREF_SP : UNWIND_CFA_DEREF_FP;
		rule->cfa_off = (int32_t)(cfa->off * 256 + (uint8_t)(cfa->post / 8));
		return CFI_SUPPORTED;
	case CFI_CFA_PLT:
		rule->cfa = UNWIND_CFA_PLT;
		rule->cfa_off = (int32_t)cfa->off;
		return CFI_SUPPORTED;
	case CFI_CFA_OTHER:
		return CFI_UNSUP_CFA_EXPR;
	default:
		return CFI_UNSUP_CFA_RANGE;
	}
}

/* Returns false when the rule does not fit into 8 bytes; it is UNWIND_FP_LOST then. */
static bool encode_fp(const struct cfi_reg *fp, struct unwind_rule *rule)
{
	int64_t words = 0;
	uint8_t how;

	switch (fp->how) {
	case CFI_DEFAULT:
	case CFI_SAME:
		rule->fp_ra = UNWIND_FP_SAME;
		return true;
	case CFI_UNDEFINED:
		rule->fp_ra = UNWIND_FP_LOST;
		return true;
	case CFI_AT_CFA:
		how = UNWIND_FP_CFA;
		break;
	case CFI_AT_FP:
		how = UNWIND_FP_FP;
		break;
	case CFI_AT_SP:
		how = UNWIND_FP_SP;
		break;
	default:
		rule->fp_ra = UNWIND_FP_LOST;
		return false;
	}
	if (!words_of(fp->off, &words)) {
		rule->fp_ra = UNWIND_FP_LOST;
		return false;
	}
	rule->fp_ra = how;
	rule->fp_words = (int16_t)words;
	return true;
}

static enum cfi_unsup encode_ra_x86(const struct cfi_reg *ra, struct unwind_rule *rule)
{
	if (ra->how == CFI_DEFAULT || (ra->how == CFI_AT_CFA && ra->off == -8))
		return CFI_SUPPORTED;
	if (ra->how == CFI_IN_REG && (uint64_t)ra->off < 16) {
		rule->fp_ra |= (uint8_t)((ra->off + 1) << UNWIND_RA_SHIFT);
		return CFI_SUPPORTED;
	}
	return CFI_UNSUP_RA;
}

static enum cfi_unsup encode_ra_arm(const struct cfi_reg *ra, struct unwind_rule *rule,
				    bool *fp_dropped)
{
	int64_t words, code = UNWIND_RA_SAME_WORD;
	uint32_t fp_how = unwind_fp_how(rule);

	if (ra->how == CFI_DEFAULT || ra->how == CFI_SAME ||
	    (ra->how == CFI_IN_REG && ra->off == UNWIND_ARM_LR))
		return CFI_SUPPORTED;
	if (ra->how != CFI_AT_CFA || !words_of(ra->off, &words))
		return CFI_UNSUP_RA;
	if (fp_how == UNWIND_FP_CFA)
		code = words - rule->fp_words + UNWIND_RA_SAME_WORD;
	if ((fp_how != UNWIND_FP_CFA && fp_how != UNWIND_FP_SAME && fp_how != UNWIND_FP_LOST) ||
	    code < 1 || code > 31) {
		/* One offset must be dropped.  Without fp many walks go on; without ra none does. */
		*fp_dropped = true;
		fp_how = UNWIND_FP_LOST;
		code = UNWIND_RA_SAME_WORD;
	}
	if (fp_how != UNWIND_FP_CFA)
		rule->fp_words = (int16_t)words;
	rule->fp_ra = (uint8_t)(fp_how | (uint32_t)code << UNWIND_RA_SHIFT);
	return CFI_SUPPORTED;
}

/* An rbx that cannot be encoded is only unknown: few frames need it. */
static uint8_t encode_bx(const struct cfi_reg *bx)
{
	if (bx->how == CFI_DEFAULT || bx->how == CFI_SAME)
		return UNWIND_BX_SAME;
	if (bx->how == CFI_AT_CFA && !(bx->off & 7) && bx->off < 0 &&
	    bx->off > -8 * (int)UNWIND_BX_SAME)
		return (uint8_t)(-bx->off / 8);
	return UNWIND_BX_UNKNOWN;
}

/* The C library describes the kernel's frame by expressions; anything else is not the kernel's. */
static bool is_kernel_sigframe(const struct cfi_common *common, const struct cfi_state *state)
{
	const struct cfi_cfa *cfa = &state->cfa;

	if (common->arch == UNWIND_AARCH64)
		return true;
	return cfa->how == CFI_CFA_DEREF && cfa->reg == UNWIND_X86_SP && cfa->post == 0 &&
	       cfa->off == (int64_t)unwind_sigframe_slot(UNWIND_X86_64, 0, UNWIND_X86_SP) &&
	       state->ra.how == CFI_AT_SP &&
	       state->ra.off == (int64_t)unwind_sigframe_slot(UNWIND_X86_64, 0, UNWIND_X86_RA) &&
	       state->fp.how == CFI_AT_SP &&
	       state->fp.off == (int64_t)unwind_sigframe_slot(UNWIND_X86_64, 0, UNWIND_X86_FP);
}

static enum cfi_unsup encode(const struct cfi_common *common, const struct cfi_state *state,
			     struct unwind_rule *rule, bool *fp_dropped)
{
	enum cfi_unsup why;

	if (common->unusual_ra)
		return CFI_UNSUP_RA;
	if (state->ra.how == CFI_UNDEFINED) {
		rule->cfa = UNWIND_CFA_RA_UNDEF;
		return CFI_SUPPORTED;
	}
	if (common->signal_frame) {
		if (!is_kernel_sigframe(common, state))
			return CFI_UNSUP_SIGNAL;
		rule->cfa = UNWIND_CFA_SIGNAL;
		return CFI_SUPPORTED;
	}
	if (state->sp.how != CFI_DEFAULT && !(state->sp.how == CFI_IS_CFA && state->sp.off == 0))
		return CFI_UNSUP_SP;
	why = encode_cfa(common->arch, &state->cfa, rule);
	if (why)
		return why;
	*fp_dropped = !encode_fp(&state->fp, rule);
	if (common->track_bx)
		rule->bx = encode_bx(&state->bx);
	if (common->arch == UNWIND_AARCH64)
		return encode_ra_arm(&state->ra, rule, fp_dropped);
	return encode_ra_x86(&state->ra, rule);
}

enum cfi_unsup cfi_rule(const struct cfi_common *common, const struct cfi_state *state,
			struct unwind_rule *rule, bool *fp_dropped)
{
	struct unwind_rule made = { .cfa = UNWIND_CFA_END };
	bool dropped = false;
	enum cfi_unsup why = encode(common, state, &made, &dropped);

	if (why) {
		made = (struct unwind_rule){ .cfa = UNWIND_CFA_UNSUP };
		dropped = false;
	}
	*rule = made;
	*fp_dropped = dropped;
	return why;
}
