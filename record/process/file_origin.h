/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * evidence - what finds a mapped file again when its process is gone
 *
 * Once for each file: what stat says of it, where its code lies, and by which path in which mount
 * namespace it was seen.  Of each of these namespaces: its mounts, again
 * when they changed.  All is read while the
 * process that mapped the file is there, and written as objects of the capture.
 */
#ifndef EBPREC_RECORD_PROCESS_FILE_ORIGIN_H
#define EBPREC_RECORD_PROCESS_FILE_ORIGIN_H

#include "format/writer/writer.h"
#include "record/privsep/elf_facts.h"
#include "record/process/file_origin_cache.h"
#include "record/base/u64map.h"
#include "format/base/outbuf.h"
#include "record/events/perf_record.h"

struct stat;

#define EVIDENCE_PEERS 8

/* A process of a mount namespace that is not the recorder's. */
struct evidence_peer {
	uint64_t mount_namespace;
	uint32_t pid; /* 0: none */
};

struct evidence {
	struct writer *writer; /* borrowed; NULL until there is one */
	uint64_t own_namespace;
	struct keymap namespaces;                   /* the checksum of what was written of each */
	struct evidence_peer peers[EVIDENCE_PEERS]; /* of those seen last */
	unsigned next_peer;
	struct outbuf mounts; /* pending: u64 namespace, u32 size, text */
	struct outbuf files;  /* pending entries */
	bool begun;
	uint64_t begun_ns, mounts_ns; /* spent on mounts of others */
	uint64_t next_object;
	bool in_window; /* captures begin later, too: all is kept for them */
	struct factkeep kept;
	uint64_t file_count, namespace_count;
};

void evidence_done(struct evidence *e);
/*
 * What it is (st) and what is in it.  seen_by: the process by whose path it was found, m->pid or one of its
 * mount namespace; 0: the recorder itself, of a process that is gone.  What cannot be read is left out; memory that lacks, too.
 */
void evidence_file(struct evidence *e, const struct siderec_map *m, uint32_t seen_by,
		   const struct stat *st, const struct elffacts *facts);
/* Writes what has come together, first of all the recorder's own mounts. */
int evidence_flush(struct evidence *e);

/* Gives what is kept to a capture that begins. */
int evidence_copy(struct evidence *e, struct writer *to);

#endif
