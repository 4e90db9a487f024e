/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* fuzz_codeflow - any bytes as code with four functions in it: ranges ascend, do not overlap, and lie in it */
#include <stdlib.h>
#include <string.h>

#include "format/unwind/insn_unwind.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

#define VADDR      0x401000u
#define START_MAX  4u
#define HEAD_BYTES (START_MAX * 2)

struct seen {
	uint64_t last_pc, end_pc;
};

static int see(void *ctx, uint64_t pc, uint64_t end_pc, const struct unwind_rule *rule)
{
	struct seen *s = ctx;

	if (pc < s->last_pc || end_pc <= pc || end_pc > s->end_pc)
		abort();
	if (rule->cfa == UNWIND_CFA_SP && rule->cfa_off < 8)
		abort();
	if (rule->cfa != UNWIND_CFA_SP && rule->cfa != UNWIND_CFA_FP &&
	    rule->cfa != UNWIND_CFA_RA_UNDEF)
		abort();
	s->last_pc = end_pc;
	return 0;
}

/* The first bytes are the places where functions begin, as distances from one to the next. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct insn_unwind_code code = { .vaddr = VADDR };
	struct insn_unwind_stats stats;
	uint64_t starts[START_MAX], at = VADDR;
	struct seen seen = { 0, 0 };

	if (size_bytes < HEAD_BYTES)
		return 0;
	for (unsigned i = 0; i < START_MAX; i++) {
		at += data[2 * i] + 256u * data[2 * i + 1] + (i > 0);
		starts[i] = at;
	}
	code.data = data + HEAD_BYTES;
	code.size_bytes = size_bytes - HEAD_BYTES;
	seen.end_pc = VADDR + code.size_bytes;
	if (insn_unwind_rows(&code, starts, START_MAX, see, &seen, &stats) ||
	    stats.given_up > stats.functions)
		abort();
	return 0;
}
