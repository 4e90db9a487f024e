/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * unwtables - the unwind tables of mapped files, in the BPF maps
 *
 * A file is known by device, inode and build-id, and has a number from the first time one of its
 * mappings is seen.  Its table is built when somebody asks for that, once, and
 * laid into the walkspace; the rows are not kept anywhere else.  When the cap is reached, the table
 * that was longest unused makes room.  Not safe for more than one thread.
 *
 * A file that is not ELF, has no .eh_frame or cannot be read has no table: its code is walked by
 * frame pointers.
 */
#ifndef EBPREC_RECORD_UNWTABLES_H
#define EBPREC_RECORD_UNWTABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "record/siderec.h"
#include "record/vdso.h"
#include "record/walkspace.h"

#define UNWTABLES_NONE UINT32_MAX /* of memory without a file */

struct unwtables; /* opaque */

struct unwtables_stats {
	uint64_t built_count, row_count,
		build_ns;       /* tables built, their rows, and the time it took */
	uint64_t failed_count;  /* files whose table could not be read: not ELF, broken */
	uint64_t no_room_count; /* tables that found no room below the cap */
	uint64_t evicted_count;
	uint64_t table_bytes; /* in use now */
};

/* Borrows *space and the vdso's image.  errno. */
int unwtables_new(struct walkspace *space, const struct vdso *vdso, struct unwtables **out);
void unwtables_free(struct unwtables *t); /* NULL is fine */

/*
 * The number of the file that is mapped, or UNWTABLES_NONE.  *m is remembered as a way to the file
 * as long as the table is not built.
 */
uint32_t unwtables_of(struct unwtables *t, const struct siderec_map *m);

/* Whether building was not tried yet, or may be tried again. */
bool unwtables_is_pending(const struct unwtables *t, uint32_t number);
/* The pending table that the most mappings wait for; UNWTABLES_NONE: none is pending. */
uint32_t unwtables_next_pending(const struct unwtables *t);
/* Builds it, if it is pending; may take 0.2 s.  True when it is in place now. */
bool unwtables_build(struct unwtables *t, uint32_t number);
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
/* A walk used the table not long before now_ns. */
void unwtables_touch(struct unwtables *t, uint32_t number, uint64_t now_ns);

void unwtables_get_stats(const struct unwtables *t, struct unwtables_stats *out);

#endif
