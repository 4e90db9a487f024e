/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* fuzz_gopclntab - any bytes as .gopclntab: ranges ascend, do not overlap, are rules, have names and lines */
#include <stdlib.h>
#include <string.h>

#include "format/unwind/go_pclntab.h"

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

enum { STEPS_MAX = 1000 };

struct functions {
	const struct go_pclntab *table;
	uint64_t last_pc;
};

static void see_line(const struct go_pclntab *table, uint64_t pc)
{
	uint64_t steps_left = STEPS_MAX;
	struct go_pclntab_line at;

	if (go_pclntab_line(table, pc, &steps_left, &at))
		return;
	if (!at.line || !*at.file || strlen(at.file) >= GO_PCLNTAB_MAX_NAME_BYTES ||
	    steps_left > STEPS_MAX)
		abort();
}

static int see_function(void *ctx, uint64_t pc, uint64_t end_pc, const char *name)
{
	struct functions *f = ctx;

	if (pc < f->last_pc || end_pc <= pc || !*name || strlen(name) >= GO_PCLNTAB_MAX_NAME_BYTES)
		abort();
	f->last_pc = end_pc;
	see_line(f->table, pc);
	see_line(f->table, end_pc - 1);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct go_pclntab table = { .data = data, .size_bytes = size_bytes, .text_vaddr = 0x1000 };
	struct functions functions = { .table = &table };
	uint64_t last_pc = 0;

	(void)go_pclntab_rows(&table, see, &last_pc);
	(void)go_pclntab_functions(&table, see_function, &functions);
	see_line(&table, 0x1000);
	return 0;
}
