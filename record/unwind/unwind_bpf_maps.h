/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * unwind_bpf_maps - the BPF maps of bpf/unwind_maps.h, and which places in them are free
 *
 * Made once and given to every skeleton that walks stacks.  All but the hash tables are written by
 * plain stores into shared memory.  Memory that a walk may still be reading must not be used again
 * at once: it is handed back by unwind_bpf_maps_retire_*(), and is free UNWIND_BPF_MAPS_QUIET_NS
 * later.  Chunks are made as they are needed, up to a cap, and only a few are mapped at a time, so
 * that tables cost the recorder no memory of its own.
 */
#ifndef EBPREC_RECORD_UNWIND_UNWIND_BPF_MAPS_H
#define EBPREC_RECORD_UNWIND_UNWIND_BPF_MAPS_H

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stdint.h>

#include "bpf/unwind_maps.h"
#include "format/unwind/unwind.h"
#include "record/base/rangealloc.h"

/* Longer than a walk, and than a fork's copy of a process waits for its FORK record to be read. */
#define UNWIND_BPF_MAPS_QUIET_NS 1000000000ULL

enum { UNWIND_BPF_MAPS_MAPPED = 16 }; /* chunks */

struct unwind_bpf_maps_retired {
	uint64_t at_ns;
	struct extent places;
	bool are_pages; /* with their rows; else mappings */
};

struct unwind_bpf_maps {
	int chunks_fd, pages_fd, rules_fd, maps_fd, procs_fd, execs_fd;
	struct walk_page *pages; /* mapped */
	struct unwind_rule *rules;
	struct walk_map *maps;
	struct rangealloc free_pages, free_maps;
	struct {
		int fd;
		struct walk_chunk *own; /* without BPF: all of them stay mapped */
		struct rangealloc free_rows;
	} chunk[WALK_CHUNKS];
	uint32_t chunk_count, chunk_max;
	uint32_t published_count; /* of them, that programs see */
	struct {
		uint32_t number;
		struct walk_chunk *data; /* NULL: unused */
	} mapped[UNWIND_BPF_MAPS_MAPPED];
	uint32_t next_mapped;
	bool own;                                /* memory of our own in the place of BPF maps */
	struct unwind_bpf_maps_retired *retired; /* oldest first */
	size_t retired_count, retired_room;
	uint64_t retired_rows;
};

/*
 * cap_bytes: of all chunks together; at least one is made.  bpf: as BPF maps, for programs; else in
 * memory of our own, which no other code reads.  errno.  Done also after a failure.
 */
int unwind_bpf_maps_init(struct unwind_bpf_maps *w, uint64_t cap_bytes, bool bpf);
void unwind_bpf_maps_done(struct unwind_bpf_maps *w);
/* Shows programs the chunks made so far, which takes long (map_of_maps.h): before rows are taken, or then.  errno. */
int unwind_bpf_maps_publish(struct unwind_bpf_maps *w);

/* Gives a skeleton the maps, before load. */
#define unwind_bpf_maps_share(w, skel)                                                     \
	({                                                                                 \
		int err__ = bpf_map__reuse_fd((skel)->maps.walk_chunks, (w)->chunks_fd);   \
		if (!err__)                                                                \
			err__ = bpf_map__reuse_fd((skel)->maps.walk_pages, (w)->pages_fd); \
		if (!err__)                                                                \
			err__ = bpf_map__reuse_fd((skel)->maps.walk_rules, (w)->rules_fd); \
		if (!err__)                                                                \
			err__ = bpf_map__reuse_fd((skel)->maps.walk_maps, (w)->maps_fd);   \
		if (!err__)                                                                \
			err__ = bpf_map__reuse_fd((skel)->maps.walk_procs, (w)->procs_fd); \
		if (!err__)                                                                \
			err__ = bpf_map__reuse_fd((skel)->maps.walk_execs, (w)->execs_fd); \
		err__;                                                                     \
	})

/* Room for row_count rows in one chunk; fills chunk, first_row and row_count of *out.  -ENOSPC:
 * the cap is reached; errno. */
int unwind_bpf_maps_take_rows(struct unwind_bpf_maps *w, uint32_t row_count, struct walk_page *out);
/* Frees them at once: no program can have read them. */
void unwind_bpf_maps_give_rows(struct unwind_bpf_maps *w, const struct walk_page *page);
/* A chunk's rows.  Borrowed until the next call for another chunk.  NULL: not to be mapped. */
struct walk_chunk *unwind_bpf_maps_chunk(struct unwind_bpf_maps *w, uint32_t number);
uint64_t unwind_bpf_maps_table_bytes(const struct unwind_bpf_maps *w); /* of rows in use */
/* Rows that are free, and that chunks not made yet would have; and those that soon will be. */
uint64_t unwind_bpf_maps_free_rows(const struct unwind_bpf_maps *w);
uint64_t unwind_bpf_maps_retired_rows(const struct unwind_bpf_maps *w);

int unwind_bpf_maps_take_maps(struct unwind_bpf_maps *w, uint32_t count, uint32_t *first);
/* A run of mappings, or of pages and their rows: nothing leads there any more. */
void unwind_bpf_maps_retire_maps(struct unwind_bpf_maps *w, uint32_t first, uint32_t count,
				 uint64_t now_ns);
void unwind_bpf_maps_retire_pages(struct unwind_bpf_maps *w, uint32_t first, uint32_t count,
				  uint64_t now_ns);
/* Frees the memory that was retired long enough ago. */
void unwind_bpf_maps_reclaim(struct unwind_bpf_maps *w, uint64_t now_ns);

#endif
