/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sym/go_symbols.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>

#include "format/base/cursor.h"

/* A second of work; a million places in ordinary functions take half of it. */
#define STEPS_MAX (1ULL << 28)

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

int gotable_read(const struct elffile *e, struct gopclntab *table, uint8_t **bytes)
{
	const struct elffile_section *s = elffile_by_name(e, GOPCLNTAB_SECTION);
	int err;

	if (!s)
		s = elffile_by_name(e, GOPCLNTAB_SECTION_PIE);
	if (!s || elffile_machine(e) != EM_X86_64 || !elffile_is64(e))
		return -ENODATA;
	err = s->size_bytes > GOPCLNTAB_MAX_BYTES ? -EOVERFLOW : elffile_read(e, s, bytes);
	if (err)
		return err;
	*table = (struct gopclntab){ .data = *bytes,
				     .size_bytes = (size_t)s->size_bytes,
				     .text_vaddr = text_vaddr(e) };
	return 0;
}

struct golines {
	struct gopclntab table;
	uint8_t *bytes;
	uint64_t steps_left;
};

int golines_new(const struct elffile *e, struct golines **out)
{
	struct golines *g = calloc(1, sizeof(*g));
	int err = g ? gotable_read(e, &g->table, &g->bytes) : -ENOMEM;

	if (err) {
		free(g);
		return err;
	}
	g->steps_left = STEPS_MAX;
	*out = g;
	return 0;
}

void golines_free(struct golines *g)
{
	if (g)
		free(g->bytes);
	free(g);
}

size_t golines_find(struct golines *g, uint64_t vaddr, struct lines_frame *out, size_t max)
{
	struct gopclntab_line at;

	if (!max || gopclntab_line(&g->table, vaddr, &g->steps_left, &at))
		return 0;
	*out = (struct lines_frame){ .file = at.file, .line = at.line };
	return 1;
}
