/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sym/symtab/go_symbols.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>

#include "format/base/cursor.h"

/* A second of work; a million places in ordinary functions take half of it. */
#define STEPS_MAX (1ULL << 28)

/* Where the code is, for tables that do not have it; 0: not known. */
static uint64_t text_vaddr(const struct elf_file *e)
{
	const struct elf_file_section *module = elf_file_by_name(e, GO_PCLNTAB_MODULE_SECTION);
	uint8_t bytes[8];

	if (!module || module->size_bytes < GO_PCLNTAB_MODULE_BYTES ||
	    elf_file_read_part(e, module, GO_PCLNTAB_TEXT_AT, bytes, sizeof(bytes)))
		return 0;
	return le64_load(bytes);
}

int go_symbols_read(const struct elf_file *e, struct go_pclntab *table, uint8_t **bytes)
{
	const struct elf_file_section *s = elf_file_by_name(e, GO_PCLNTAB_SECTION);
	int err;

	if (!s)
		s = elf_file_by_name(e, GO_PCLNTAB_SECTION_PIE);
	if (!s || elf_file_machine(e) != EM_X86_64 || !elf_file_is64(e))
		return -ENODATA;
	err = s->size_bytes > GO_PCLNTAB_MAX_BYTES ? -EOVERFLOW : elf_file_read(e, s, bytes);
	if (err)
		return err;
	*table = (struct go_pclntab){ .data = *bytes,
				      .size_bytes = (size_t)s->size_bytes,
				      .text_vaddr = text_vaddr(e) };
	return 0;
}

struct go_lines {
	struct go_pclntab table;
	uint8_t *bytes;
	uint64_t steps_left;
};

int go_lines_new(const struct elf_file *e, struct go_lines **out)
{
	struct go_lines *g = calloc(1, sizeof(*g));
	int err = g ? go_symbols_read(e, &g->table, &g->bytes) : -ENOMEM;

	if (err) {
		free(g);
		return err;
	}
	g->steps_left = STEPS_MAX;
	*out = g;
	return 0;
}

void go_lines_free(struct go_lines *g)
{
	if (g)
		free(g->bytes);
	free(g);
}

size_t go_lines_find(struct go_lines *g, uint64_t vaddr, struct source_frame *out, size_t max)
{
	struct go_pclntab_line at;

	if (!max || go_pclntab_line(&g->table, vaddr, &g->steps_left, &at))
		return 0;
	*out = (struct source_frame){ .file = at.file, .line = at.line };
	return 1;
}
