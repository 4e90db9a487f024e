/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * elf_notes - finds the probes of format/include/ebprec-mark.h in an ELF file
 *
 * Any running program may claim to have some, so its file is not trusted: it is read with bounds
 * and never mapped.
 */
#ifndef EBPREC_RECORD_PRIVSEP_ELF_ELF_NOTES_H
#define EBPREC_RECORD_PRIVSEP_ELF_ELF_NOTES_H

#include <stddef.h>
#include <stdint.h>

#include "format/reader/source.h"

#define ELF_NOTES_SITES_MAX 256 /* of one file */

/* Offsets in the file, as uprobes want them. */
struct elf_notes_site {
	uint64_t nop_bytes, semaphore_bytes;
};

/* How many there are; 0 also for what is no ELF file of this machine, or broken. */
size_t elf_notes_sites(const struct source *file, struct elf_notes_site out[ELF_NOTES_SITES_MAX]);

#endif
