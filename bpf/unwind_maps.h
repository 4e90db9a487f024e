/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * unwind_maps - the maps by which user stacks are walked: user space fills them,
 * bpf/lib/unwind.bpf.h reads
 *
 * A process (walk_proc, by tgid) has a run of mappings sorted by address; a mapping of a file with
 * unwind tables has a run of pages, one for each 64 KB of code; a page has a run of rows inside one
 * chunk; a row is the low 16 bits of the address where it begins and the id of a rule.
 *
 * A run of mappings is never changed while a walk may read it, but for the fields after `end`,
 * which turn from "pending" to "table" when a table is ready, and back when it is evicted: `kind`
 * is written last, or first.  A new run is written beside it, then walk_proc is replaced.
 */
#ifndef EBPREC_BPF_UNWIND_MAPS_H
#define EBPREC_BPF_UNWIND_MAPS_H

#include <linux/types.h>

enum {
	WALK_CHUNKS = 1024,      /* slots; how many are used is the recorder's cap */
	WALK_CHUNK_ROWS = 65536, /* 256 KB */
	WALK_PAGES = 262144,     /* 16 GB of code */
	WALK_RULES = 16384,
	WALK_MAPS = 131072,
	WALK_MAPS_A_PROCESS = 8192,
	WALK_PROCS = 32768,
	WALK_PAGE_BITS = 16,
};

enum walk_kind {
	WALK_PENDING = 0, /* there may be a table, and user space would know */
	WALK_NO_TABLE,    /* code of a file that has none */
	WALK_TABLE,
	WALK_NO_ROOM,   /* there is a table, but no room for it */
	WALK_MADE,      /* code without a file: a JIT compiler's */
	WALK_UNREACHED, /* its file could not be opened */
};

struct walk_map {
	__u64 start, end;
	__u64 base;       /* pc - base: bytes from the beginning of the first page */
	__u32 first_page; /* index in walk_pages */
	__u16 page_count;
	__u8 kind; /* enum walk_kind */
	__u8 used; /* set by walks, for eviction */
};

struct walk_page {
	__u16 chunk;
	__u16 first_row;
	__u32 row_count; /* 1..65536 */
};

struct walk_chunk {
	__u16 pc_low[WALK_CHUNK_ROWS];
	__u16 rule_id[WALK_CHUNK_ROWS];
};

struct walk_proc {
	__u32 first_map, map_count;
	__u64 as_of_ns;     /* the mappings of that time; an exec after that makes it void */
	__u64 runtime_base; /* what this process adds to the addresses of its runtime_desc */
	__u32 runtime;      /* its number (bpf/runtime_maps.h); 0: no interpreter is mapped */
	__u32 zero;
};

_Static_assert(sizeof(struct walk_map) == 32, "bpf/user contract");
_Static_assert(sizeof(struct walk_page) == 8, "bpf/user contract");
_Static_assert(sizeof(struct walk_chunk) == 4 * WALK_CHUNK_ROWS, "bpf/user contract");
_Static_assert(sizeof(struct walk_proc) == 32, "bpf/user contract");

#endif
