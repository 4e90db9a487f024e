/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/privsep/elf/stap_notes.h"

#include <stdlib.h>
#include <string.h>

#include "format/base/cursor.h"

#define NOTES_MAX_BYTES (4u << 20)
#define NOTE_TYPE       3

struct reader {
	const struct elf_parts *parts;
	uint64_t base; /* address of the section that moves with the code; 0: there is none */
	bool (*on_note)(void *arg, const struct stap_note *n);
	void *arg;
	bool enough;
};

static void take_note(struct reader *r, const uint8_t *desc, size_t size_bytes)
{
	struct cursor c = cursor_of(desc, size_bytes);
	uint64_t nop = cursor_u64(&c), base = cursor_u64(&c), semaphore = cursor_u64(&c);
	uint64_t moved = r->base ? r->base - base : 0;
	struct stap_note n = { 0 };

	n.provider = cursor_str(&c);
	n.name = cursor_str(&c);
	n.args = cursor_str(&c);
	if (!n.provider || !n.name || !n.args ||
	    !elf_parts_offset(r->parts, nop + moved, PF_X, &n.nop_bytes) ||
	    (semaphore && !elf_parts_offset(r->parts, semaphore + moved, PF_W, &n.semaphore_bytes)))
		return;
	r->enough = !r->on_note(r->arg, &n);
}

static void read_notes(struct reader *r, const uint8_t *notes, size_t size_bytes)
{
	struct cursor c = cursor_of(notes, size_bytes);

	while (!r->enough && cursor_ok(&c) && cursor_left(&c) >= sizeof(Elf64_Nhdr)) {
		uint32_t name_bytes = cursor_u32(&c), desc_bytes = cursor_u32(&c);
		uint32_t type = cursor_u32(&c);
		const uint8_t *name = cursor_bytes(&c, name_bytes), *desc;

		cursor_skip(&c, -c.off_bytes & 3);
		desc = cursor_bytes(&c, desc_bytes);
		if (name && desc && type == NOTE_TYPE && name_bytes == 8 &&
		    !memcmp(name, "stapsdt", 8))
			take_note(r, desc, desc_bytes);
		if (cursor_left(&c))
			cursor_skip(&c, -c.off_bytes & 3);
	}
}

static void read_section(struct reader *r, const Elf64_Shdr *section)
{
	const struct source *file = r->parts->file;
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

void stap_notes_each(const struct elf_parts *p,
		     bool (*on_note)(void *arg, const struct stap_note *n), void *arg)
{
	struct reader r = { .parts = p, .on_note = on_note, .arg = arg };
	const Elf64_Shdr *base = elf_parts_section(p, ".stapsdt.base");

	r.base = base ? base->sh_addr : 0;
	for (size_t i = 0; i < p->section_count && !r.enough; i++)
		read_section(&r, &p->sections[i]);
}
