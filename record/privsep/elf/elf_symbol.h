/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * elf_symbol - finds the file offset of a function in an ELF file
 *
 * For uprobes at the user's functions, in files that are not trusted: libbpf would find them, too,
 * but trusts the file.  Memory is bounded for any file.
 */
#ifndef EBPREC_RECORD_PRIVSEP_ELF_ELF_SYMBOL_H
#define EBPREC_RECORD_PRIVSEP_ELF_ELF_SYMBOL_H

#include "format/reader/source.h"

#define ELF_SYMBOL_NAME_MAX 256 /* with the NUL */

/*
 * Its offset in the file, as uprobes want it.  Looked for among the dynamic symbols, then in the full
 * table; a global one before a weak and that before a local one, a default version before an old one.
 * -ENOEXEC: no ELF file of this machine; -ENOENT: no such function; -ENOTUNIQ: several; -EBADMSG: its tables
 * are broken; -EFBIG: or too large; -ENOMEM.
 */
int elf_symbol_offset(const struct source *file, const char *name, uint64_t *out);

#endif
