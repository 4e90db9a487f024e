/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* resolve_priv - the results by place, for what is put into a bundle */
#ifndef EBPREC_ANALYZE_SYM_RESOLVE_PRIV_H
#define EBPREC_ANALYZE_SYM_RESOLVE_PRIV_H

#include "analyze/sym/bundle.h"
#include "analyze/sym/function_label.h"
#include "analyze/sym/kernel_symbols.h"
#include "analyze/sym/resolve.h"
#include "analyze/sym/symfile_cache.h"
#include "analyze/sym/symtab/demangle_cache.h"

#define RESOLVE_CHUNK_COUNT 512

/* A place and what is there. */
struct result {
	uint32_t file;
	bool return_address;
	uint64_t offset;
	struct resolved resolved;
};

/* A place that was asked for with resolver_variable(). */
struct variable {
	uint32_t file;
	struct resolved answer;
	char *name;    /* from a bundle, mangled; owned; NULL: it is the symbol table's */
	char *travels; /* "_ZN3app5mutexE+0x28"; owned; NULL: not found */
};

/* Results live in chunks, so that pointers to them stay. */
struct chunk {
	struct result items[RESOLVE_CHUNK_COUNT];
};

struct resolver {
	bool demangle;
	struct symfile_cache files;
	struct kernel_symbols *kernel; /* NULL: kernel addresses are hidden */
	struct chunk **chunks;
	size_t chunk_count, chunk_room, result_count;
	struct hash_index by_place;
	struct variable **variables; /* each owned: pointers to them stay */
	size_t variable_count, variable_room;
	struct hash_index variable_by_place;
	struct demangle_cache inlined; /* names from DWARF, from bundles, and of variables */
	struct function_labels labels;
	struct resolved no_memory;
};

static inline struct result *resolve_result(const struct resolver *r, size_t i)
{
	return &r->chunks[i / RESOLVE_CHUNK_COUNT]->items[i % RESOLVE_CHUNK_COUNT];
}

/* The bundle that has the place; NULL: none. */
const struct bundle *resolve_in_bundles(const struct known_file *f, uint64_t offset, bool is_return,
					struct bundle_place *out);
/* The function that begins at a return address though nothing was called before it, as __restore_rt; NULL: none. */
const char *resolve_returned_to(const struct known_file *f, uint64_t vaddr, bool demangle);
/* The source lines of a place, innermost inlined function first, with names as in the file, mangled. */
size_t resolve_raw_frames(struct resolver *r, struct known_file *f, uint64_t off_bytes,
			  bool is_return, struct source_frame *out, size_t max);

#endif
