/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * tablecache - unwind tables of earlier recordings, on disk
 *
 * A folder of one file for each table, named by build-id, size of the ELF file and UNWTABLE_VERSION.
 * A table is read back in a hundredth of the time that building it takes.
 *
 * Anyone can write any build-id into a file of his own, so only tables of files that root or the
 * user of the recorder alone may write are kept and looked up; and the folder must be ours.  What
 * is in it is checked all the same, and what is broken is removed.  All of it together is bounded:
 * what was not used for the longest time goes first.  Several recorders may share a folder.  Not
 * safe for more than one thread.
 */
#ifndef EBPREC_RECORD_UNWIND_TABLE_CACHE_H
#define EBPREC_RECORD_UNWIND_TABLE_CACHE_H

#include <stdint.h>

#include "format/unwind/module_table.h"

#define TABLECACHE_DEFAULT_BYTES (128ULL << 20) /* all files of a distribution need 40 MB */

struct tablecache; /* opaque */

/*
 * Opens the cache in that folder (cache_dir.h); the errors are those of cache_dir_open().
 */
int tablecache_open(const char *path, uint64_t max_bytes, struct tablecache **out);
void tablecache_close(struct tablecache *c); /* NULL is fine */

/* What an open ELF file's table is kept under.  -EACCES: others may write it; -ENOENT: no build-id. */
int tablecache_key(int fd, struct unwtable_key *key);

/* Fills *out; free it with unwtable_free().  -ENOENT, or what unwtable_from_kept() said. */
int tablecache_get(struct tablecache *c, const struct unwtable_key *key, struct ruleset *set,
		   struct unwtable **out);
/* errno; the table is as it was. */
int tablecache_put(struct tablecache *c, const struct unwtable_key *key, const struct unwtable *t);

#endif
