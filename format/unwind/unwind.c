/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <stdio.h>

#include "format/base/cursor.h"
#include "format/unwind/unwind.h"

static const char *const why_texts[UNWIND_WHY_COUNT] = {
	[UNWIND_OK] = "not ended",
	[UNWIND_COMPLETE] = "complete",
	[UNWIND_ZERO_PC] = "complete (return address 0)",
	[UNWIND_NO_CFI] = "no unwind table for this code",
	[UNWIND_UNSUPPORTED] = "unwind rule not supported",
	[UNWIND_READ_FAULT] = "stack not readable",
	[UNWIND_SP_NOT_UP] = "stack pointer did not move up",
	[UNWIND_BAD_PC] = "return address is not code",
	[UNWIND_FP_UNKNOWN] = "frame pointer lost",
	[UNWIND_REG_UNKNOWN] = "register not known in this frame",
	[UNWIND_NOT_A_FRAME] = "frame pointer does not point up the stack",
	[UNWIND_NO_MAPPING] = "address in no known file",
	[UNWIND_NO_TABLE] = "unwind table not ready",
	[UNWIND_MAX_FRAMES] = "too many frames",
	[UNWIND_NO_ROOM] = "no room for the unwind table (see record --tables)",
	[UNWIND_NO_FILE] = "its file could not be opened for its unwind table",
};

const char *unwind_why_text(enum unwind_why why)
{
	if ((unsigned int)why >= UNWIND_WHY_COUNT)
		return "unknown reason";
	return why_texts[why];
}

static int copy_read(const struct unwind_mem *mem, uint64_t addr, __u64 *out)
{
	const struct unwind_copy *copy = (const struct unwind_copy *)mem; /* mem comes first */
	uint64_t off = addr - copy->base;

	if (copy->size_bytes < 8 || addr < copy->base || off > copy->size_bytes - 8)
		return 1;
	*out = le64_load(copy->data + off);
	return 0;
}

void unwind_copy_init(struct unwind_copy *copy, const void *data, size_t size_bytes, uint64_t base,
		      const __u64 *gprs, uint32_t n_gprs)
{
	_Static_assert(offsetof(struct unwind_copy, mem) == 0, "copy_read casts");

	*copy = (struct unwind_copy){
		.mem = { .read = copy_read, .gprs = gprs, .n_gprs = gprs ? n_gprs : 0 },
		.data = data,
		.size_bytes = size_bytes,
		.base = base,
	};
}

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

void unwind_rule_text(enum unwind_arch arch, const struct unwind_rule *rule, char *buf,
		      size_t size_bytes)
{
	static const char *const fixed[] = {
		[UNWIND_CFA_END] = "end",
		[UNWIND_CFA_RA_UNDEF] = "outermost",
		[UNWIND_CFA_UNSUP] = "unsupported",
		[UNWIND_CFA_SIGNAL] = "signal",
	};
	char cfa[40], fp[40], ra[40], bx[40];

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
