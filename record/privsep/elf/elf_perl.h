/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* elf_perl - the Perl that an ELF file contains, found by its symbols */
#ifndef EBPREC_RECORD_PRIVSEP_ELF_ELF_PERL_H
#define EBPREC_RECORD_PRIVSEP_ELF_ELF_PERL_H

#include "record/privsep/elf/elf_parts.h"
#include "record/privsep/elf/elf_runtime.h"

/* Perl 5.36 is understood, built with threads; of another one *out has the version, where that is known. */
void elf_perl_find(const struct elf_parts *parts, struct elf_runtime *out);

#endif
