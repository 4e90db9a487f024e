/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * elf_names - the symbols of an ELF file that have certain names
 *
 * Most files have none of them, so the names of a table are looked through first, and its symbols when the first wanted name
 * is there.  Tables are a stranger's: what is larger than an interpreter's is not looked at.
 */
#ifndef EBPREC_RECORD_PRIVSEP_ELF_ELF_NAMES_H
#define EBPREC_RECORD_PRIVSEP_ELF_ELF_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/runtime_maps.h"
#include "record/privsep/elf/elf_parts.h"

struct elf_name {
	const char *text; /* what is wanted */
	uint64_t addr, size_bytes;
	uint32_t index; /* of the symbol in its table */
	bool is_there;
};

/* Fills in the names that tables of this kind (SHT_DYNSYM, SHT_SYMTAB) have and that were not found before. */
void elf_names_find(const struct elf_parts *parts, uint32_t kind, struct elf_name *names,
		    size_t count);

/* ---- variables of threads, as struct runtime_desc has them ---- */

/* Where the dynamic linker puts the number of the module of this variable, from SHT_DYNSYM; false: nowhere. */
bool elf_names_thread_module(const struct elf_parts *parts, const struct elf_name *variable,
			     struct runtime_desc *out);
/* Where it is when the file is the program itself, whose variables have a fixed place; false: it is none. */
bool elf_names_thread_fixed(const struct elf_parts *parts, const struct elf_name *variable,
			    struct runtime_desc *out);

#endif
