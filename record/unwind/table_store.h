/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * table_store - the unwind tables of mapped files, in the BPF maps
 *
 * A file is known by device, inode and build-id, and has a number from the first time one of its
 * mappings is seen.  Its table is made by a thread of its own (table_builder), those that most
 * mappings wait for first, and laid into unwind_bpf_maps when it is done; the rows are not stored
 * anywhere else.  At the cap a table finds no room; when walks want it, those that no walk used for
 * a while are evicted.  Not safe for more than one thread.
 *
 * A file that is not ELF, has no .eh_frame or cannot be read has no table: its code is walked by
 * frame pointers.  So is the code of one that could not be opened, as its process was gone or its file
 * system did not let us; it is tried again when another process maps it.
 */
#ifndef EBPREC_RECORD_UNWIND_TABLE_STORE_H
#define EBPREC_RECORD_UNWIND_TABLE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "record/base/mapping.h"
#include "record/unwind/table_cache.h"
#include "record/process/vdso.h"
#include "record/unwind/unwind_bpf_maps.h"

#define TABLE_STORE_NONE UINT32_MAX /* of memory without a file */

struct io_timeout;
struct table_store; /* opaque */

struct table_store_stats {
	uint64_t built_count, cached_count,
		row_count;             /* tables made, those read from the cache, rows */
	uint64_t build_ns, cached_ns;  /* the time it took, in the thread */
	uint64_t failed_count;         /* files whose table could not be read: not ELF, broken */
	uint64_t died_count;           /* of these, the reading process died over them */
	uint64_t reader_ns;            /* its CPU time */
	const char *died_path, *death; /* the last of them, and how; borrowed; NULL: none */
	uint64_t no_room_count;        /* tables that found no room below the cap */
	uint64_t evicted_count;
	uint64_t table_bytes; /* in use now */
};

/*
 * program: it reads files in a process of its own (elf_reader.h); borrowed; NULL: a thread does.
 * Borrows *space and the vdso's image; *cache is taken, also on failure; NULL: none.  lazy: only
 * tables that stacks wait for are made.  errno.
 */
int table_store_new(struct io_timeout *io, struct unwind_bpf_maps *space, const struct vdso *vdso,
		    struct table_cache *cache, const char *program, bool lazy,
		    struct table_store **out);
void table_store_free(struct table_store *t); /* NULL is fine */

/*
 * The number of the file that is mapped, or TABLE_STORE_NONE.  *m is remembered as a way to the file
 * as long as the table is not built.
 */
uint32_t table_store_of(struct table_store *t, const struct mapping *m);

/* Whether it is not made yet, or may be tried again. */
bool table_store_is_pending(const struct table_store *t, uint32_t number);
/* Builds this table before all others: a stack waits for it. */
void table_store_prioritize(struct table_store *t, uint32_t number);
bool table_store_is_busy(const struct table_store *t); /* some are still to be made */

/* Lays what the thread has made, and gives it more to do.  Takes no longer than copying. */
void table_store_pass(struct table_store *t);
/* Readable when there is something for table_store_pass(). */
int table_store_fd(const struct table_store *t);
/* Waits for that, or for max_ns. */
void table_store_wait(struct table_store *t, uint64_t max_ns);

/*
 * The caller first marks the tables that walks used since the last call (table_store_touch()); then
 * this evicts idle tables, if tables without space were used.  It has effect a little later.
 */
void table_store_make_room(struct table_store *t, uint64_t now_ns);
/* A table has just found no room. */
bool table_store_wants_room(const struct table_store *t);
/*
 * Files that no process maps are forgotten after a while, so that the memory depends on the machine
 * and not on the time: when there are many, the caller passes each known mapping to
 * table_store_see(), and table_store_forget() drops the other files.  One that is mapped again has
 * another number.
 */
bool table_store_are_many(const struct table_store *t);
void table_store_see(struct table_store *t, uint32_t number, uint64_t now_ns);
void table_store_forget(struct table_store *t, uint64_t now_ns);
/* How often the result of table_store_place() changed; for one table, or all. */
uint32_t table_store_version(const struct table_store *t, uint32_t number);
uint64_t table_store_versions(const struct table_store *t);

/*
 * Fills base, first_page, page_count and kind of a mapping that shows the file from file_off_bytes
 * on.  number may be TABLE_STORE_NONE.
 */
void table_store_place(const struct table_store *t, uint32_t number, uint64_t start,
		       uint64_t file_off_bytes, struct walk_map *out);
/* The rule at pc, from the result of table_store_place(); NULL without a table. */
const struct unwind_rule *table_store_rule(struct table_store *t, const struct walk_map *map,
					   uint64_t pc);
/* A walk came to the file's code not long before now_ns. */
void table_store_touch(struct table_store *t, uint32_t number, uint64_t now_ns);

void table_store_get_stats(const struct table_store *t, struct table_store_stats *out);

#endif
