/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * plt - the call stubs of an ELF file and what they call
 *
 * On x86-64 each stub of .plt, .plt.sec and .plt.got is read: it jumps through a GOT slot, and the
 * relocation of that slot names the function.  That holds for every linker and with IBT.  On other
 * machines the n-th stub of .plt belongs to the n-th relocation of .rel(a).plt.
 */
#ifndef EBPREC_ANALYZE_SYM_SYMTAB_PLT_H
#define EBPREC_ANALYZE_SYM_SYMTAB_PLT_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/sym/elf/elf_file.h"

struct plt_entry {
	uint64_t vaddr;
	uint32_t size_bytes;
	uint32_t symbol;   /* index into .dynsym; 0: none, then resolver */
	uint64_t resolver; /* of an IRELATIVE slot: the address of the function that chooses */
};

/* All stubs are in these: the i-th, NULL when the file has none. */
#define PLT_SECTIONS 4
const struct elf_file_section *plt_section(const struct elf_file *e, size_t i);

/* *out is owned (free()), NULL when *count is 0.  -ENOMEM; broken tables give no entries. */
int plt_read(const struct elf_file *e, struct plt_entry **out, size_t *count);

#endif
