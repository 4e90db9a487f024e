/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* rule_text - an unwind rule as text, for tests: "cfa=sp+16 fp=[cfa-16] ra=[cfa-8]" */
#ifndef EBPREC_TESTS_RULE_TEXT_H
#define EBPREC_TESTS_RULE_TEXT_H

#include <stdio.h>

#include "format/unwind/unwind.h"

static void cfa_text(const struct unwind_rule *rule, char *buf, size_t size_bytes)
{
	int off = rule->cfa_off;

	switch (rule->cfa) {
	case UNWIND_CFA_SP:
		snprintf(buf, size_bytes, "sp%+d", off);
		break;
	case UNWIND_CFA_FP:
		snprintf(buf, size_bytes, "fp%+d", off);
		break;
	case UNWIND_CFA_PLT:
		snprintf(buf, size_bytes, "plt(%d)", off);
		break;
	case UNWIND_CFA_DEREF_SP:
	case UNWIND_CFA_DEREF_FP:
		snprintf(buf, size_bytes, "[%s%+d]%+d",
			 rule->cfa == UNWIND_CFA_DEREF_SP ? "sp" : "fp", off >> 8, 8 * (int8_t)off);
		break;
	default:
		snprintf(buf, size_bytes, "r%d%+d", rule->cfa & (UNWIND_CFA_REG - 1), off);
	}
}

static void fp_text(const struct unwind_rule *rule, char *buf, size_t size_bytes)
{
	static const char *const base[] = { "", "cfa", "fp", "sp" };
	uint32_t how = unwind_fp_how(rule);

	if (how == UNWIND_FP_SAME)
		snprintf(buf, size_bytes, "same");
	else if (how >= UNWIND_FP_LOST)
		snprintf(buf, size_bytes, "lost");
	else
		snprintf(buf, size_bytes, "[%s%+d]", base[how], 8 * rule->fp_words);
}

static void ra_text(enum unwind_arch arch, const struct unwind_rule *rule, char *buf,
		    size_t size_bytes)
{
	int how = (int)unwind_ra_how(rule);

	if (arch == UNWIND_AARCH64 && how == UNWIND_RA_DEFAULT)
		snprintf(buf, size_bytes, "lr");
	else if (arch == UNWIND_AARCH64)
		snprintf(buf, size_bytes, "[cfa%+d]",
			 8 * (rule->fp_words + how - UNWIND_RA_SAME_WORD));
	else if (how != UNWIND_RA_DEFAULT)
		snprintf(buf, size_bytes, "r%d", how - 1);
	else
		snprintf(buf, size_bytes, "[cfa-8]");
}

/* Always NUL-terminated. */
static __attribute__((noinline)) void
rule_text(enum unwind_arch arch, const struct unwind_rule *rule, char *buf, size_t size_bytes)
{
	static const char *const fixed[] = {
		[UNWIND_CFA_END] = "end",
		[UNWIND_CFA_RA_UNDEF] = "outermost",
		[UNWIND_CFA_UNSUP] = "unsupported",
		[UNWIND_CFA_SIGNAL] = "signal",
	};
	char cfa[32], fp[24], ra[20], bx[20];

	if (rule->cfa <= UNWIND_CFA_SIGNAL) {
		snprintf(buf, size_bytes, "%s", fixed[rule->cfa]);
		return;
	}
	cfa_text(rule, cfa, sizeof(cfa));
	fp_text(rule, fp, sizeof(fp));
	ra_text(arch, rule, ra, sizeof(ra));
	if (rule->bx == UNWIND_BX_UNKNOWN)
		*bx = 0;
	else if (rule->bx == UNWIND_BX_SAME)
		snprintf(bx, sizeof(bx), " bx=same");
	else
		snprintf(bx, sizeof(bx), " bx=[cfa-%d]", 8 * rule->bx);
	snprintf(buf, size_bytes, "cfa=%s fp=%s ra=%s%s", cfa, fp, ra, bx);
}

#endif
