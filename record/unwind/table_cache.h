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
 * Where it is when nobody says: $EBPREC_TABLE_CACHE, or for root /var/cache/ebprec, else
 * $XDG_CACHE_HOME/ebprec or ~/.cache/ebprec; "" when there is none of these, or it is too long.
 */
void tablecache_default_path(char *path, size_t room_bytes);

#define TABLECACHE_TEMP_PREFIX ".new-" /* of files that are being written: removed when they stay */

/*
 * A descriptor of the folder alone, for others who keep something there; or as tablecache_open().
 */
int tablecache_folder(const char *path);

/*
 * Opens the folder, which is made when it is not there.  -EPERM: it is not ours, or others may
 * write into it; -EINVAL: no absolute path; else errno.
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
