/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * elf_v8 - whether an ELF file contains V8, and how its functions are read
 *
 * V8 describes its objects for debuggers of core files: v8dbg_* are symbols of ints with offsets, types and
 * flags (tools/gen-postmortem-metadata.py).  They are dynamic symbols, which strip leaves in node and in libnode.so.
 * Their names end with the type of a field, which changed over time, so they are found by how they begin.
 *
 * The values that BPF takes for granted have to be in the file as well, or V8 is one that is not understood.  The file lacks
 * the words of a ScopeInfo before the name: those are checked where they are read.
 */
#ifndef EBPREC_RECORD_PRIVSEP_ELF_ELF_V8_H
#define EBPREC_RECORD_PRIVSEP_ELF_ELF_V8_H

#include "record/privsep/elf/elf_parts.h"
#include "record/privsep/elf/elf_runtime.h"

/* All bytes of *out are set, as it is sent to another process. */
void elf_v8_find(const struct elf_parts *parts, struct elf_runtime *out);

#endif
