/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* elf_loop - where the code of an interpreter's loop is, in files that have not all of its symbols */
#ifndef EBPREC_RECORD_PRIVSEP_ELF_ELF_LOOP_H
#define EBPREC_RECORD_PRIVSEP_ELF_ELF_LOOP_H

#include <stdbool.h>

#include "record/privsep/elf/elf_parts.h"
#include "record/privsep/elf/elf_runtime.h"

/* Fills in where the code at this address is in the file.  False: it is in none. */
bool elf_loop_place(const struct elf_parts *parts, uint64_t addr, struct elf_runtime *out);

/* The same with the first code of the file, for a file that is only to be found in memory.  False: it has none. */
bool elf_loop_place_any(const struct elf_parts *parts, struct elf_runtime *out);

/* The part of a function that the compiler put elsewhere, by the jumps that lead there; empty: none. */
struct runtime_range elf_loop_cold(const struct elf_parts *parts, struct runtime_range function);

/* The largest function that another one calls directly; empty: none. */
struct runtime_range elf_loop_callee(const struct elf_parts *parts, struct runtime_range function);

#endif
