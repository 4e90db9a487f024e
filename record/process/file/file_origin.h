/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * file_origin - what finds a mapped file again when its process is gone
 *
 * Once for each file: its stat, where its code lies, and by which path in which mount namespace it
 * was seen.  For each of these namespaces: its mounts, again when they changed.  All is read while
 * the process that mapped the file is there, and written as objects of the capture.
 */
#ifndef EBPREC_RECORD_PROCESS_FILE_FILE_ORIGIN_H
#define EBPREC_RECORD_PROCESS_FILE_FILE_ORIGIN_H

#include "format/payload/file_facts.h"
#include "format/writer/writer.h"
#include "record/privsep/elf/elf_facts.h"
#include "record/process/file/file_origin_cache.h"
#include "record/base/u64map.h"
#include "format/base/outbuf.h"
#include "record/base/mapping.h"
#include "record/privsep/io_timeout.h"

struct stat;

#define FILE_ORIGIN_PEERS 8

/* A process of a mount namespace that is not the recorder's. */
struct file_origin_peer {
	uint64_t mount_namespace;
	uint32_t pid; /* 0: none */
};

struct file_origin {
	struct writer *writer; /* borrowed; NULL until there is one */
	struct io_timeout *io; /* borrowed; NULL: layers of fuse-overlayfs are not looked for */
	uint64_t own_namespace;
	struct u64map namespaces; /* the checksum of what was written of each */
	struct file_origin_peer peers[FILE_ORIGIN_PEERS]; /* of those seen last */
	unsigned next_peer;
	struct outbuf mounts; /* pending: u64 namespace, u32 size, text */
	struct outbuf files;  /* pending entries */
	bool begun;
	uint64_t begun_ns, mounts_ns; /* used for mounts of others */
	uint64_t next_object;
	bool in_window; /* captures begin later, too: the cache stores all for them */
	struct file_origin_cache cache;
	uint64_t layers_missing_count; /* mounts whose layers were not found: a look hangs */
};

void file_origin_done(struct file_origin *e);

/* A process by whose path a file was seen: its mount namespace, root, cgroup. */
struct file_origin_seen {
	uint32_t pid;             /* 0: the recorder itself, of a process that is gone */
	uint64_t own_namespace;   /* the recorder's */
	bool with_mounts;         /* mounts of another namespace are wanted */
	uint64_t mount_namespace; /* 0: not known */
	uint16_t root_bytes;
	char root[FILE_FACTS_TEXT_MAX];
	struct outbuf cgroup, mounts;
	uint64_t mounts_ns; /* it took to read them */
};

/* Prepares a look at a process, whose pid is still to be filled in. */
void file_origin_prepare(struct file_origin *e, struct file_origin_seen *out);
/* Reads /proc/PID; in any thread, while the process is there. */
void file_origin_look(struct file_origin_seen *s);
void file_origin_seen_done(struct file_origin_seen *s);
/*
 * Records the file: its stat (st) and its content.  Parts that could not be read are left out, and
 * so is all without memory.
 */
void file_origin_file(struct file_origin *e, const struct mapping *m, struct file_origin_seen *seen,
		      const struct stat *st, const struct elf_facts *facts);
/* Writes what has come together, first of all the recorder's own mounts. */
int file_origin_flush(struct file_origin *e);

/* Writes the cached origins to a capture that begins. */
int file_origin_copy(struct file_origin *e, struct writer *to);

#endif
