/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* table_store_priv - shared by table_store.c and table_store_space.c alone */
#ifndef EBPREC_RECORD_UNWIND_TABLE_STORE_PRIV_H
#define EBPREC_RECORD_UNWIND_TABLE_STORE_PRIV_H

#include "format/unwind/table/module_table.h"
#include "record/base/u64map.h"
#include "record/unwind/table_store.h"

enum state {
	STATE_FREE, /* a number without a file */
	STATE_PENDING,
	STATE_WORK, /* the thread has it */
	STATE_READY,
	STATE_NONE,        /* no table in it, or it cannot be read */
	STATE_UNREACHABLE, /* not to be opened by the ways we know: another mapping may do */
	STATE_NO_ROOM,
};

struct table {
	enum state state;
	uint32_t version;
	struct module_table *elf; /* without rows: knows where mappings begin; NULL before READY */
	uint64_t vaddr;           /* of the first page */
	uint32_t first_page, page_count;
	uint32_t row_count;     /* of all of it, when it was laid or found no room */
	uint32_t mapping_count; /* seen while it was not built: the table with most goes first */
	bool prioritized;       /* or one that a stack waits for */
	bool used;              /* by walks, since table_store_make_room() */
	uint64_t used_ns;       /* the last time; 0: never */
	uint64_t tried_ns;      /* to find room */
	uint64_t key[2];        /* in by_file */
	uint64_t mapped_ns;     /* a process has it mapped, as of then */
	uint32_t next_free;     /* of STATE_FREE */
	struct mapping source;  /* path is owned; NULL: the vdso */
};

struct table_store {
	struct unwind_bpf_maps *space; /* borrowed */
	struct table_cache *cache;
	struct table_builder *worker;
	struct rule_table *rules;
	struct table *table;
	size_t count, room;
	uint32_t first_free; /* a number; TABLE_STORE_NONE */
	struct u64map by_file;
	uint32_t vdso; /* its number; TABLE_STORE_NONE */
	const struct vdso *vdso_facts;
	uint32_t rules_copied;
	uint32_t pending_count;
	uint64_t versions;
	bool wants_room, lazy;
	char *died_path, death[80];
	struct table_store_stats stats;
};

/* Counts what is pending, and that the answer is another one. */
void table_store_set_state(struct table_store *t, struct table *f, enum state state);
/* The number is for the next file; what the table owns has been freed. */
void table_store_free_number(struct table_store *t, uint32_t number);

#endif
