/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/markelf.h"

#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "format/cursor.h"

#define SECTIONS_MAX    4096
#define SEGMENTS_MAX    64
#define NOTES_MAX_BYTES (1u << 20)

/* What the header says; other probes called ebprec:mark have their arguments elsewhere. */
static const char mark_args[] = "8@%rdi 8@%rsi 8@%rdx 8@%rcx 8@%r8 8@%r9";

struct reader {
	const struct source *file;
	uint8_t segments[SEGMENTS_MAX * sizeof(Elf64_Phdr)];
	size_t segment_count;
	struct markelf_site *out;
	size_t count;
};

/* The offset of an address in the file; false: it is not in the file. */
static bool offset_of(const struct reader *r, uint64_t addr, uint32_t flags, uint64_t *out)
{
	for (size_t i = 0; i < r->segment_count; i++) {
		const uint8_t *p = r->segments + i * sizeof(Elf64_Phdr);
		uint64_t at = le64_load(p + offsetof(Elf64_Phdr, p_vaddr));

		if (le32_load(p + offsetof(Elf64_Phdr, p_type)) != PT_LOAD ||
		    (le32_load(p + offsetof(Elf64_Phdr, p_flags)) & flags) != flags)
			continue;
		if (addr < at || addr - at >= le64_load(p + offsetof(Elf64_Phdr, p_filesz)))
			continue;
		if (__builtin_add_overflow(addr - at, le64_load(p + offsetof(Elf64_Phdr, p_offset)),
					   out))
			continue;
		return true;
	}
	return false;
}

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
	if (r->count < MARKELF_SITES_MAX && offset_of(r, nop, PF_X, &site.nop_bytes) &&
	    offset_of(r, semaphore, PF_W, &site.semaphore_bytes))
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

static void read_section(struct reader *r, const uint8_t *section)
{
	uint64_t size = le64_load(section + offsetof(Elf64_Shdr, sh_size));
	uint8_t *notes;

	/* Notes for debuggers are not loaded. */
	if (le32_load(section + offsetof(Elf64_Shdr, sh_type)) != SHT_NOTE ||
	    le64_load(section + offsetof(Elf64_Shdr, sh_flags)) & SHF_ALLOC ||
	    size > NOTES_MAX_BYTES || size > r->file->size_bytes)
		return;
	notes = malloc(size + 1);
	if (notes)
		read_notes(r, notes,
			   source_read(r->file,
				       le64_load(section + offsetof(Elf64_Shdr, sh_offset)), notes,
				       size));
	free(notes);
}

static bool is_ours(const Elf64_Ehdr *e)
{
	return !memcmp(e->e_ident, ELFMAG, SELFMAG) && e->e_ident[EI_CLASS] == ELFCLASS64 &&
	       e->e_ident[EI_DATA] == ELFDATA2LSB && le16toh(e->e_machine) == EM_X86_64 &&
	       le16toh(e->e_phentsize) == sizeof(Elf64_Phdr) &&
	       le16toh(e->e_shentsize) == sizeof(Elf64_Shdr);
}

size_t markelf_sites(const struct source *file, struct markelf_site out[MARKELF_SITES_MAX])
{
	struct reader r = { .file = file, .out = out };
	uint8_t *sections;
	Elf64_Ehdr e;
	size_t count;

	if (source_read(file, 0, &e, sizeof(e)) != sizeof(e) || !is_ours(&e))
		return 0;
	count = le16toh(e.e_phnum) < SEGMENTS_MAX ? le16toh(e.e_phnum) : SEGMENTS_MAX;
	r.segment_count = source_read(file, le64toh(e.e_phoff), r.segments,
				      count * sizeof(Elf64_Phdr)) /
			  sizeof(Elf64_Phdr);
	count = le16toh(e.e_shnum) < SECTIONS_MAX ? le16toh(e.e_shnum) : SECTIONS_MAX;
	sections = malloc(count * sizeof(Elf64_Shdr) + 1);
	if (!sections)
		return 0;
	count = source_read(file, le64toh(e.e_shoff), sections, count * sizeof(Elf64_Shdr)) /
		sizeof(Elf64_Shdr);
	for (size_t i = 0; i < count; i++)
		read_section(&r, sections + i * sizeof(Elf64_Shdr));
	free(sections);
	return r.count;
}
