/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * table_cache - unwind tables of earlier recordings, on disk
 *
 * A folder of one file for each table, named by build-id, size of the ELF file and MODULE_TABLE_VERSION.
 * A table is read back in a hundredth of the time that building it takes.
 *
 * A user can write any build-id into a file, so the cache only has tables of files that root or the
 * user of the recorder alone may write; and the folder must be ours.  Its files are checked all the
 * same, and broken ones are removed.  Its size is bounded: tables that were not used for the
 * longest time go first.  Several recorders may share a folder.  Not safe for more than one thread.
 */
#ifndef EBPREC_RECORD_UNWIND_TABLE_CACHE_H
#define EBPREC_RECORD_UNWIND_TABLE_CACHE_H

#include <stdint.h>

#include "format/unwind/table/module_table.h"

#define TABLE_CACHE_DEFAULT_BYTES (128ULL << 20) /* all files of a distribution need 40 MB */

struct table_cache; /* opaque */

/*
 * Opens the cache in that folder (cache_dir.h); the errors are those of cache_dir_open().
 */
int table_cache_open(const char *path, uint64_t max_bytes, struct table_cache **out);
void table_cache_close(struct table_cache *c); /* NULL is fine */

/* The key of an open ELF file's table.  -EACCES: others may write it; -ENOENT: no build-id. */
int table_cache_key(int fd, struct module_table_key *key);

/*
 * Fills *out; free it with module_table_free().  -ENOENT, or the error of
 * module_table_from_cache().
 */
int table_cache_get(struct table_cache *c, const struct module_table_key *key,
		    struct rule_table *set, struct module_table **out);
/* errno; the table is as it was. */
int table_cache_put(struct table_cache *c, const struct module_table_key *key,
		    const struct module_table *t);

#endif
