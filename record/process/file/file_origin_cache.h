/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * file_origin_cache - the recorded origins of files, for captures that begin later
 *
 * A file of `--rotate`, or of the backlog, has samples of processes that mapped their files long
 * before.  So origins are cached: for files that are still mapped, for those that mapped_files
 * knows (it would not report them again), and for those that records have mapped that may still be
 * written.  The others are dropped by file_origin_cache_prune(), so that memory depends on the
 * machine and not on the time.  A zeroed struct is empty.
 */
#ifndef EBPREC_RECORD_PROCESS_FILE_FILE_ORIGIN_CACHE_H
#define EBPREC_RECORD_PROCESS_FILE_FILE_ORIGIN_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/base/buildid.h"
#include "format/writer/writer.h"
#include "record/base/u64map.h"

struct file_origin_cache_file {
	uint64_t key[2]; /* mapped_files_key() */
	struct buildid build_id;
	uint64_t mount_namespace;
	uint64_t unknown_ns; /* mapids does not know it, as of then; 0: it does */
	uint8_t *bytes;      /* owned: an entry of EBX_FACTS */
	uint32_t size_bytes;
};

struct file_origin_cache_mounts {
	uint64_t object; /* the namespace; 0: the recorder's */
	uint8_t *text;   /* owned */
	uint32_t size_bytes;
	bool used;
};

struct file_origin_cache {
	struct file_origin_cache_file *files;
	size_t count, room;
	struct u64map by_key;
	struct file_origin_cache_mounts *mounts;
	size_t mounts_count, mounts_room;
	uint64_t pruned_ns; /* the caller's: when it was last */
};

void file_origin_cache_done(struct file_origin_cache *k);
/* Copies bytes and replaces what was known of the file; of f, key, build-id and namespace count.  -ENOMEM. */
int file_origin_cache_add(struct file_origin_cache *k, const struct file_origin_cache_file *f,
			  const uint8_t *bytes, size_t size_bytes);
/* The same of a namespace's mounts. */
int file_origin_cache_add_mounts(struct file_origin_cache *k, uint64_t object, const uint8_t *text,
				 size_t size_bytes);
/* Gives all to a writer that has just begun; *next_object: numbers of EBX_FACTS. */
int file_origin_cache_put(const struct file_origin_cache *k, struct writer *to,
			  uint64_t *next_object);

/*
 * Collects the files that are still mapped: begin with a zeroed u64map, pass each MMAP2 record,
 * u64map_done().
 */
int file_origin_cache_see(struct u64map *mapped, const uint8_t *record, size_t size_bytes);
struct file_origin_cache_rest {
	const struct u64map *mapped;
	bool (*is_known)(const void *arg, const uint64_t key[2]); /* to mapids */
	const void *arg;
	uint64_t from_ns, now_ns; /* what is older than from_ns will not be written any more */
};
/* Lets files go, and the mounts of namespaces (but own_namespace) that no file is left of. */
void file_origin_cache_prune(struct file_origin_cache *k, const struct file_origin_cache_rest *rest,
			     uint64_t own_namespace);

#endif
