/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * elf_symbol - where in an ELF file does a function begin?
 *
 * For uprobes at functions that the user names, in files that a stranger may have written: libbpf would
 * find it, too, but reads such files as if they were its own.  Bounded in memory whatever the file says.
 */
#ifndef EBPREC_RECORD_PRIVSEP_ELF_SYMBOL_H
#define EBPREC_RECORD_PRIVSEP_ELF_SYMBOL_H

#include "format/reader/source.h"

#define ELF_SYMBOL_NAME_MAX 256 /* with the NUL */

/*
 * Its offset in the file, as uprobes want it.  Looked for among the dynamic symbols, then in the full
 * table; a global one before a weak and that before a local one, a default version before an old one.
 * -ENOEXEC: no x86-64 ELF file; -ENOENT: no such function; -ENOTUNIQ: several; -EBADMSG: its tables
 * are broken; -EFBIG: or too large; -ENOMEM.
 */
int elf_symbol_offset(const struct source *file, const char *name, uint64_t *out);

#endif
