/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * elf_facts - what a recording wants to know of each mapped file: its build-id, or else its checksum, where
 * its code lies, which marks it has, and whether it is an interpreter
 *
 * A file that other users may write is read by the process that reads ELF files (elf_reader.h).
 */
#ifndef EBPREC_RECORD_PRIVSEP_ELF_ELF_FACTS_H
#define EBPREC_RECORD_PRIVSEP_ELF_ELF_FACTS_H

#include <stdbool.h>

#include "format/base/buildid.h"
#include "format/payload/file_facts.h"
#include "record/privsep/elf/elf_notes.h"
#include "record/privsep/elf/elf_runtime.h"

struct elf_facts {
	struct buildid build_id;   /* of no bytes: it has none */
	struct file_facts_sum sum; /* of one without a build-id */
	uint32_t segment_count, site_count;
	struct file_facts_segment segments[FILE_FACTS_SEGMENTS_MAX];
	struct elf_notes_site sites[ELF_NOTES_SITES_MAX];
	struct elf_runtime runtime;
};

struct stat;

/* Reads an open file; all fields are empty for other files than ELF. */
void elf_facts_read(int fd, struct elf_facts *out);
/* Whether other users than root may write it. */
bool elf_facts_is_of_others(const struct stat *st);

#endif
