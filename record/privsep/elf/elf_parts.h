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
	uint32_t names; /* the section with the names of sections */
};

/* -ENOEXEC: it is no such file; -ENOMEM.  *out needs no elf_parts_done() then. */
int elf_parts_read(const struct source *file, struct elf_parts *out);
void elf_parts_done(struct elf_parts *p);

/* The first section of this name, which has fewer than 32 bytes; NULL: there is none. */
const Elf64_Shdr *elf_parts_section(const struct elf_parts *p, const char *name);

/* The offset of an address in the file, in a loaded segment with these flags (PF_X); false: it has none. */
bool elf_parts_offset(const struct elf_parts *p, uint64_t addr, uint32_t flags, uint64_t *out);

#endif
