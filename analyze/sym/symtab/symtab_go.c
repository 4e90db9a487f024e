/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * symtab_go - the functions of a program of Go that has no .symtab
 *
 * Its runtime has a table with all names, for its own stack traces, which no strip takes out.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>

#include "analyze/sym/symtab/go_symbols.h"
#include "analyze/sym/symtab/symtab_priv.h"

/* go_pclntab_function_fn */
static int add_function(void *ctx, uint64_t pc, uint64_t end_pc, const char *name)
{
	struct symtab *t = ctx;
	struct symbol symbol = {
		.start = pc,
		.end = end_pc,
		.name = name,
		.order = (uint32_t)t->seen_count,
		.bind = STB_LOCAL,
		.type = STT_FUNC,
		.sized = true,
	};

	if (t->seen_count == UINT32_MAX)
		return -EOVERFLOW;
	t->seen_count++;
	return symtab_take(t, &symbol);
}

int symtab_read_go(struct symtab *t, const struct elf_file *e)
{
	size_t first = t->count, seen_count = t->seen_count;
	struct go_pclntab table;
	uint8_t *bytes;
	int err = go_symbols_read(e, &table, &bytes);

	if (err)
		return err;
	err = go_pclntab_functions(&table, add_function, t);
	if (err) {
		symtab_take_back(t, first);
		t->seen_count = seen_count;
	} else if (t->wanted) {
		err = symtab_copy_names(t, NULL, first);
	} else if (!t->only_bounds) {
		t->strings[t->string_count++] = bytes;
		bytes = NULL;
	}
	free(bytes);
	t->go = !err && t->seen_count > seen_count;
	return err;
}
