/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * factkeep - what evidence tells of files, for captures that begin later
 *
 * A file of `--rotate`, or a window's, has samples of processes that mapped their files long before.  So
 * what was told is kept: for files that are still mapped, for those that mapids knows (it would not
 * tell them again), and for those that were mapped in what may still be written.  The others are let go
 * by factkeep_prune(), so that memory depends on the machine and not on the time.
 * A zeroed struct is empty.
 */
#ifndef EBPREC_RECORD_PROCESS_FILE_ORIGIN_CACHE_H
#define EBPREC_RECORD_PROCESS_FILE_ORIGIN_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/base/buildid.h"
#include "format/writer/writer.h"
#include "record/base/u64map.h"

struct factkeep_file {
	uint64_t key[2]; /* mapids_key() */
	struct buildid build_id;
	uint64_t mount_namespace;
	uint64_t unknown_ns; /* mapids does not know it, as of then; 0: it does */
	uint8_t *bytes;      /* owned: an entry of EBX_FACTS */
	uint32_t size_bytes;
};

struct factkeep_mounts {
	uint64_t object; /* the namespace; 0: the recorder's */
	uint8_t *text;   /* owned */
	uint32_t size_bytes;
	bool used;
};

struct factkeep {
	struct factkeep_file *files;
	size_t count, room;
	struct keymap by_key;
	struct factkeep_mounts *mounts;
	size_t mounts_count, mounts_room;
	uint64_t pruned_ns;
};

void factkeep_done(struct factkeep *k);
/* Copies bytes and replaces what was known of the file; of f, key, build-id and namespace count.  -ENOMEM. */
int factkeep_add(struct factkeep *k, const struct factkeep_file *f, const uint8_t *bytes,
		 size_t size_bytes);
/* The same of a namespace's mounts. */
int factkeep_add_mounts(struct factkeep *k, uint64_t object, const uint8_t *text,
			size_t size_bytes);
/* Gives all to a writer that has just begun; *next_object: numbers of EBX_FACTS. */
int factkeep_put(const struct factkeep *k, struct writer *to, uint64_t *next_object);

/* What is still mapped: begin with a zeroed keymap, see each MMAP2 record, keymap_done(). */
int factkeep_see(struct keymap *mapped, const uint8_t *record, size_t size_bytes);
struct factkeep_rest {
	const struct keymap *mapped;
	bool (*is_known)(const void *arg, const uint64_t key[2]); /* to mapids */
	const void *arg;
	uint64_t from_ns, now_ns; /* what is older than from_ns will not be written any more */
};
/* Lets files go, and the mounts of namespaces (but own_namespace) that no file is left of. */
void factkeep_prune(struct factkeep *k, const struct factkeep_rest *rest, uint64_t own_namespace);

#endif
