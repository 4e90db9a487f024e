/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* fuzz_gopclntab - any bytes as .gopclntab: ranges ascend, do not overlap, say what a rule can, have names */
#include <stdlib.h>
#include <string.h>

#include "format/gopclntab.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static int see(void *ctx, uint64_t pc, uint64_t end_pc, const struct unwind_rule *rule)
{
	uint64_t *last_pc = ctx;

	if (pc < *last_pc || end_pc <= pc)
		abort();
	if (rule->cfa != UNWIND_CFA_RA_UNDEF &&
	    (rule->cfa != UNWIND_CFA_SP || rule->cfa_off < 8 || rule->cfa_off & 7))
		abort();
	*last_pc = end_pc;
	return 0;
}

static int see_function(void *ctx, uint64_t pc, uint64_t end_pc, const char *name)
{
	uint64_t *last_pc = ctx;

	if (pc < *last_pc || end_pc <= pc || !*name || strlen(name) >= GOPCLNTAB_MAX_NAME_BYTES)
		abort();
	*last_pc = end_pc;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct gopclntab table = { .data = data, .size_bytes = size_bytes, .text_vaddr = 0x1000 };
	uint64_t last_pc = 0;

	(void)gopclntab_rows(&table, see, &last_pc);
	last_pc = 0;
	(void)gopclntab_functions(&table, see_function, &last_pc);
	return 0;
}
