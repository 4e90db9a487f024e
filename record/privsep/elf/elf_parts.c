/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/privsep/elf/elf_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct elf_parts_texts {
	const Elf64_Shdr *section; /* NULL: none */
	char *bytes;               /* owned */
	size_t size_bytes;
};

/* For this machine alone: its numbers have the order of bytes that ours have. */
static bool is_ours(const Elf64_Ehdr *e)
{
	return !memcmp(e->e_ident, ELFMAG, SELFMAG) && e->e_ident[EI_CLASS] == ELFCLASS64 &&
	       e->e_ident[EI_DATA] == ELFDATA2LSB && e->e_machine == ELF_PARTS_MACHINE &&
	       e->e_phentsize == sizeof(Elf64_Phdr) && e->e_shentsize == sizeof(Elf64_Shdr);
}

int elf_parts_read(const struct source *file, struct elf_parts *out)
{
	size_t count;
	Elf64_Ehdr e;

	if (source_read(file, 0, &e, sizeof(e)) != sizeof(e) || !is_ours(&e))
		return -ENOEXEC;
	count = e.e_shnum < ELF_PARTS_SECTIONS_MAX ? e.e_shnum : ELF_PARTS_SECTIONS_MAX;
	out->sections = malloc(count * sizeof(Elf64_Shdr) + 1);
	out->texts = calloc(1, sizeof(*out->texts));
	if (!out->sections || !out->texts) {
		free(out->sections);
		free(out->texts);
		return -ENOMEM;
	}
	out->file = file;
	out->names = e.e_shstrndx;
	out->section_count = source_read(file, e.e_shoff, out->sections,
					 count * sizeof(Elf64_Shdr)) /
			     sizeof(Elf64_Shdr);
	count = e.e_phnum < ELF_PARTS_SEGMENTS_MAX ? e.e_phnum : ELF_PARTS_SEGMENTS_MAX;
	out->segment_count = source_read(file, e.e_phoff, out->segments,
					 count * sizeof(Elf64_Phdr)) /
			     sizeof(Elf64_Phdr);
	return 0;
}

void elf_parts_done(struct elf_parts *p)
{
	free(p->sections);
	free(p->texts->bytes);
	free(p->texts);
	p->sections = NULL;
	p->texts = NULL;
	p->section_count = p->segment_count = 0;
}

const Elf64_Shdr *elf_parts_section(const struct elf_parts *p, const char *name)
{
	size_t bytes = strlen(name) + 1;
	const Elf64_Shdr *names;
	char there[32];

	if (p->names >= p->section_count || bytes > sizeof(there))
		return NULL;
	names = &p->sections[p->names];
	for (size_t i = 0; i < p->section_count; i++) {
		uint64_t at = p->sections[i].sh_name;

		if (at < names->sh_size && names->sh_size - at >= bytes &&
		    !__builtin_add_overflow(at, names->sh_offset, &at) &&
		    source_read(p->file, at, there, bytes) == bytes && !memcmp(there, name, bytes))
			return &p->sections[i];
	}
	return NULL;
}

const char *elf_parts_texts(const struct elf_parts *p, const Elf64_Shdr *table, size_t max_bytes,
			    size_t *size_bytes)
{
	struct elf_parts_texts *t = p->texts;
	const Elf64_Shdr *section;

	if (table->sh_link >= p->section_count || p->sections[table->sh_link].sh_size > max_bytes)
		return NULL;
	section = &p->sections[table->sh_link];
	if (t->section != section) {
		free(t->bytes);
		t->section = NULL;
		t->bytes = malloc(section->sh_size + 1);
		if (!t->bytes)
			return NULL;
		t->size_bytes = source_read(p->file, section->sh_offset, t->bytes,
					    section->sh_size);
		t->bytes[t->size_bytes] = '\0';
		t->section = section;
	}
	*size_bytes = t->size_bytes;
	return t->bytes;
}

bool elf_parts_offset(const struct elf_parts *p, uint64_t addr, uint32_t flags, uint64_t *out)
{
	for (size_t i = 0; i < p->segment_count; i++) {
		const Elf64_Phdr *s = &p->segments[i];
		uint64_t off;

		if (s->p_type != PT_LOAD || (s->p_flags & flags) != flags || addr < s->p_vaddr ||
		    addr - s->p_vaddr >= s->p_filesz ||
		    __builtin_add_overflow(addr - s->p_vaddr, s->p_offset, &off))
			continue;
		*out = off;
		return true;
	}
	return false;
}

bool elf_parts_bytes(const struct elf_parts *p, uint64_t addr, void *out, size_t size_bytes)
{
	uint64_t off;

	return elf_parts_offset(p, addr, 0, &off) &&
	       source_read(p->file, off, out, size_bytes) == size_bytes;
}
