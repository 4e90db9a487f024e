/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * elf_parts - the segments and sections of an ELF file of this machine that a stranger wrote
 *
 * Copied with bounds, never mapped; nothing in them has been checked but their sizes.
 */
#ifndef EBPREC_RECORD_PRIVSEP_ELF_ELF_PARTS_H
#define EBPREC_RECORD_PRIVSEP_ELF_ELF_PARTS_H

#include <elf.h>
#include <stdbool.h>

#include "format/reader/source.h"
#include "format/unwind/arch.h"

#define ELF_PARTS_MACHINE      (UNWIND_HERE == UNWIND_AARCH64 ? EM_AARCH64 : EM_X86_64)
#define ELF_PARTS_SEGMENTS_MAX 64   /* more are not looked at */
#define ELF_PARTS_SECTIONS_MAX 4096 /* nor of these */

struct elf_parts {
	const struct source *file; /* borrowed */
	Elf64_Phdr segments[ELF_PARTS_SEGMENTS_MAX];
	Elf64_Shdr *sections; /* owned */
	size_t segment_count, section_count;
	uint32_t names;                /* the section with the names of sections */
	struct elf_parts_texts *texts; /* owned, what elf_parts_texts() read; NULL: nothing yet */
};

/* -ENOEXEC: it is no such file; -ENOMEM.  *out needs no elf_parts_done() then. */
int elf_parts_read(const struct source *file, struct elf_parts *out);
void elf_parts_done(struct elf_parts *p);

/* The first section of this name, which has fewer than 32 bytes; NULL: there is none. */
const Elf64_Shdr *elf_parts_section(const struct elf_parts *p, const char *name);

/*
 * The names of the symbols of a table, with a NUL behind the last one; NULL: there are none, or more than max_bytes.
 * They stay until those of another table are read: several interpreters are looked for in the same table.
 */
const char *elf_parts_texts(const struct elf_parts *p, const Elf64_Shdr *table, size_t max_bytes,
			    size_t *size_bytes);

/* The offset of an address in the file, in a loaded segment with these flags (PF_X); false: it has none. */
bool elf_parts_offset(const struct elf_parts *p, uint64_t addr, uint32_t flags, uint64_t *out);
/* The bytes at an address; false: not all of them are in the file, and *out may hold some. */
bool elf_parts_bytes(const struct elf_parts *p, uint64_t addr, void *out, size_t size_bytes);

#endif
