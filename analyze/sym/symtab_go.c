/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * symtab_go - the functions of a program of Go that has no .symtab
 *
 * Its runtime has a table with all names, for its own stack traces, which no strip takes out.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>

#include "analyze/sym/symtab_priv.h"
#include "format/cursor.h"
#include "format/gopclntab.h"

/* gopclntab_function_fn */
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
	int err;

	if (t->seen_count == UINT32_MAX)
		return -EOVERFLOW;
	t->seen_count++;
	if (t->wanted)
		return symtab_keep(t, &symbol);
	/* Not one by one: it makes just that much room when all are kept. */
	err = t->count == t->room ? symtab_reserve(t, t->count / 2 + 1024) : 0;
	if (!err)
		t->symbols[t->count++] = symbol;
	return err;
}

/* Where the code is, for tables that do not say it; 0: not known. */
static uint64_t text_vaddr(const struct elffile *e)
{
	const struct elffile_section *module = elffile_by_name(e, GOPCLNTAB_MODULE_SECTION);
	uint8_t bytes[8];

	if (!module || module->size_bytes < GOPCLNTAB_MODULE_BYTES ||
	    elffile_read_part(e, module, GOPCLNTAB_TEXT_AT, bytes, sizeof(bytes)))
		return 0;
	return le64_load(bytes);
}

int symtab_read_go(struct symtab *t, const struct elffile *e)
{
	const struct elffile_section *s = elffile_by_name(e, GOPCLNTAB_SECTION);
	size_t first = t->count, seen_count = t->seen_count;
	struct gopclntab table = { 0 };
	uint8_t *bytes;
	int err;

	if (!s)
		s = elffile_by_name(e, GOPCLNTAB_SECTION_PIE);
	if (!s || elffile_machine(e) != EM_X86_64 || !elffile_is64(e))
		return -ENODATA;
	err = s->size_bytes > GOPCLNTAB_MAX_BYTES ? -EOVERFLOW : elffile_read(e, s, &bytes);
	if (err)
		return err;
	table.data = bytes;
	table.size_bytes = (size_t)s->size_bytes;
	table.text_vaddr = text_vaddr(e);
	err = gopclntab_functions(&table, add_function, t);
	if (err) {
		symtab_take_back(t, first);
		t->seen_count = seen_count;
	} else if (t->wanted) {
		err = symtab_copy_names(t, NULL, first);
	} else {
		t->strings[t->string_count++] = bytes;
		bytes = NULL;
	}
	free(bytes);
	t->go = !err && t->seen_count > seen_count;
	return err;
}
