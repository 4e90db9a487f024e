/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * stap_notes - the USDT probes of an ELF file (SystemTap's sys/sdt.h)
 *
 * The notes are not trusted more than their file: they are copied with bounds, and addresses are
 * looked up in its segments.  A section of its own has the distance by which prelink moved the
 * file.
 */
#ifndef EBPREC_RECORD_PRIVSEP_ELF_STAP_NOTES_H
#define EBPREC_RECORD_PRIVSEP_ELF_STAP_NOTES_H

#include "record/privsep/elf/elf_parts.h"

struct stap_note {
	/* Offsets in the file, as uprobes want them. */
	uint64_t nop_bytes, semaphore_bytes; /* semaphore 0: it has none */
	const char *provider, *name, *args;  /* borrowed until on_note returns */
};

/* Calls on_note for each note with addresses in the file, until it returns false. */
void stap_notes_each(const struct elf_parts *p,
		     bool (*on_note)(void *arg, const struct stap_note *n), void *arg);

#endif
