/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/markelf.h"

#include <stdlib.h>
#include <string.h>

#include "format/cursor.h"
#include "record/elfparts.h"

#define NOTES_MAX_BYTES (1u << 20)

/* What the header says; other probes called ebprec:mark have their arguments elsewhere. */
static const char mark_args[] = "8@%rdi 8@%rsi 8@%rdx 8@%rcx 8@%r8 8@%r9";

struct reader {
	struct elfparts parts;
	struct markelf_site *out;
	size_t count;
};

static void take_probe(struct reader *r, const uint8_t *desc, size_t size_bytes)
{
	struct cursor c = cursor_of(desc, size_bytes);
	uint64_t nop = cursor_u64(&c), semaphore;
	const char *provider, *name, *args;
	struct markelf_site site;

	(void)cursor_u64(&c); /* where prelink would look */
	semaphore = cursor_u64(&c);
	provider = cursor_str(&c);
	name = cursor_str(&c);
	args = cursor_str(&c);
	if (!provider || !name || !args || strcmp(provider, "ebprec") != 0 ||
	    strcmp(name, "mark") != 0 || strcmp(args, mark_args) != 0)
		return;
	if (r->count < MARKELF_SITES_MAX &&
	    elfparts_offset(&r->parts, nop, PF_X, &site.nop_bytes) &&
	    elfparts_offset(&r->parts, semaphore, PF_W, &site.semaphore_bytes))
		r->out[r->count++] = site;
}

static void read_notes(struct reader *r, const uint8_t *notes, size_t size_bytes)
{
	struct cursor c = cursor_of(notes, size_bytes);

	while (cursor_ok(&c) && cursor_left(&c) >= sizeof(Elf64_Nhdr)) {
		uint32_t name_bytes = cursor_u32(&c), desc_bytes = cursor_u32(&c);
		uint32_t type = cursor_u32(&c);
		const uint8_t *name = cursor_bytes(&c, name_bytes), *desc;

		cursor_skip(&c, -c.off_bytes & 3);
		desc = cursor_bytes(&c, desc_bytes);
		if (name && desc && type == 3 && name_bytes == 8 && !memcmp(name, "stapsdt", 8))
			take_probe(r, desc, desc_bytes);
		if (cursor_left(&c))
			cursor_skip(&c, -c.off_bytes & 3);
	}
}

static void read_section(struct reader *r, const Elf64_Shdr *section)
{
	const struct source *file = r->parts.file;
	uint8_t *notes;

	/* Notes for debuggers are not loaded. */
	if (section->sh_type != SHT_NOTE || section->sh_flags & SHF_ALLOC ||
	    section->sh_size > NOTES_MAX_BYTES || section->sh_size > file->size_bytes)
		return;
	notes = malloc(section->sh_size + 1);
	if (notes)
		read_notes(r, notes,
			   source_read(file, section->sh_offset, notes, section->sh_size));
	free(notes);
}

size_t markelf_sites(const struct source *file, struct markelf_site out[MARKELF_SITES_MAX])
{
	struct reader r = { .out = out };

	if (elfparts_read(file, &r.parts))
		return 0;
	for (size_t i = 0; i < r.parts.section_count; i++)
		read_section(&r, &r.parts.sections[i]);
	elfparts_done(&r.parts);
	return r.count;
}
