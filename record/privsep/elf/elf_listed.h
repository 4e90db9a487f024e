/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* elf_listed - the Ruby or the PHP that an ELF file contains, found by its symbols */
#ifndef EBPREC_RECORD_PRIVSEP_ELF_ELF_LISTED_H
#define EBPREC_RECORD_PRIVSEP_ELF_ELF_LISTED_H

#include "record/privsep/elf/elf_parts.h"
#include "record/privsep/elf/elf_runtime.h"

/* Ruby 3.1 and PHP 8.2 are understood, without its threads; of another one *out has the version, where that is known. */
void elf_listed_find(const struct elf_parts *parts, struct elf_runtime *out);

#endif
