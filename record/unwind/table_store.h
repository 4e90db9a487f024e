/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * unwtables - the unwind tables of mapped files, in the BPF maps
 *
 * A file is known by device, inode and build-id, and has a number from the first time one of its
 * mappings is seen.  Its table is made by a thread of its own (tableworker), those that most
 * mappings wait for first, and laid into the walkspace when it is done; the rows are not kept
 * anywhere else.  At the cap a table finds no room; when walks want it, those that no walk used
 * for a while are evicted.  Not safe for more than one thread.
 *
 * A file that is not ELF, has no .eh_frame or cannot be read has no table: its code is walked by
 * frame pointers.  So is the code of one that could not be opened, as its process was gone or its file
 * system did not let us; it is tried again when somebody else maps it.
 */
#ifndef EBPREC_RECORD_UNWIND_TABLE_STORE_H
#define EBPREC_RECORD_UNWIND_TABLE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "record/events/side_record.h"
#include "record/unwind/table_cache.h"
#include "record/process/vdso.h"
#include "record/unwind/unwind_bpf_maps.h"

#define UNWTABLES_NONE UINT32_MAX /* of memory without a file */

struct unwtables; /* opaque */

struct unwtables_stats {
	uint64_t built_count, kept_count,
		row_count;             /* tables made, those read from the cache, rows */
	uint64_t build_ns, kept_ns;    /* the time it took, in the thread */
	uint64_t failed_count;         /* files whose table could not be read: not ELF, broken */
	uint64_t died_count;           /* of these, the reading process died over them */
	uint64_t reader_ns;            /* its CPU time */
	const char *died_path, *death; /* the last of them, and how; borrowed; NULL: none */
	uint64_t no_room_count;        /* tables that found no room below the cap */
	uint64_t evicted_count;
	uint64_t table_bytes; /* in use now */
};

/*
 * program: what reads files in a process of its own (elfworker.h); borrowed; NULL: a thread does.
 * Borrows *space and the vdso's image; *cache is taken, also on failure; NULL: none.  lazy: only
 * tables that somebody waits for are made.  errno.
 */
int unwtables_new(struct walkspace *space, const struct vdso *vdso, struct tablecache *cache,
		  const char *program, bool lazy, struct unwtables **out);
void unwtables_free(struct unwtables *t); /* NULL is fine */

/*
 * The number of the file that is mapped, or UNWTABLES_NONE.  *m is remembered as a way to the file
 * as long as the table is not built.
 */
uint32_t unwtables_of(struct unwtables *t, const struct siderec_map *m);

/* Whether it is not made yet, or may be tried again. */
bool unwtables_is_pending(const struct unwtables *t, uint32_t number);
/* Before all others: somebody waits for it. */
void unwtables_hurry(struct unwtables *t, uint32_t number);
bool unwtables_is_busy(const struct unwtables *t); /* some are still to be made */

/* Lays what the thread has made, and gives it more to do.  Takes no longer than copying. */
void unwtables_pass(struct unwtables *t);
/* Readable when there is something for unwtables_pass(). */
int unwtables_fd(const struct unwtables *t);
/* Waits for that, or for max_ns. */
void unwtables_wait(struct unwtables *t, uint64_t max_ns);

/*
 * What walks used since the last call is said by unwtables_touch() first; then this evicts what is
 * idle, if tables that have no room were used.  It has effect a little later.
 */
void unwtables_make_room(struct unwtables *t, uint64_t now_ns);
/* A table has just found no room. */
bool unwtables_wants_room(const struct unwtables *t);
/*
 * Files that nobody maps are forgotten after a while, so that what is kept depends on the machine and
 * not on the time: when there are many, unwtables_see() says what is mapped now, in every mapping that is
 * known, and unwtables_forget() lets the others go.  One that is mapped again has another number.
 */
bool unwtables_are_many(const struct unwtables *t);
void unwtables_see(struct unwtables *t, uint32_t number, uint64_t now_ns);
void unwtables_forget(struct unwtables *t, uint64_t now_ns);
/* How often unwtables_place() began to say something else; for one table, or all. */
uint32_t unwtables_version(const struct unwtables *t, uint32_t number);
uint64_t unwtables_versions(const struct unwtables *t);

/*
 * Fills base, first_page, page_count and kind of a mapping that shows the file from file_off_bytes
 * on.  number may be UNWTABLES_NONE.
 */
void unwtables_place(const struct unwtables *t, uint32_t number, uint64_t start,
		     uint64_t file_off_bytes, struct walk_map *out);
/* The rule at pc, from what unwtables_place() said; NULL without a table. */
const struct unwind_rule *unwtables_rule(struct unwtables *t, const struct walk_map *map,
					 uint64_t pc);
/* A walk came to the file's code not long before now_ns. */
void unwtables_touch(struct unwtables *t, uint32_t number, uint64_t now_ns);

void unwtables_get_stats(const struct unwtables *t, struct unwtables_stats *out);

#endif
