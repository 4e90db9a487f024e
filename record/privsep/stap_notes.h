/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * stap_notes - the USDT probes that an ELF file says it has (SystemTap's sys/sdt.h)
 *
 * Whoever wrote the file wrote the notes, so they are copied with bounds, and addresses are looked
 * for in its segments.  What was moved after it was linked (prelink) is told by a section of its own.
 */
#ifndef EBPREC_RECORD_PRIVSEP_STAP_NOTES_H
#define EBPREC_RECORD_PRIVSEP_STAP_NOTES_H

#include "record/privsep/elf_parts.h"

struct stap_note {
	/* Offsets in the file, as uprobes want them. */
	uint64_t nop_bytes, semaphore_bytes; /* semaphore 0: it has none */
	const char *provider, *name, *args;  /* borrowed until on_note returns */
};

/* Of each whose addresses are in the file, until on_note returns false. */
void stap_notes_each(const struct elf_parts *p,
		     bool (*on_note)(void *arg, const struct stap_note *n), void *arg);

#endif
