/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * demangle_cache - demangled names by the address of the mangled text
 *
 * DWARF gives the same pointer for the same name, and an inlined function comes up again and again.
 */
#ifndef EBPREC_ANALYZE_SYM_SYMTAB_DEMANGLE_CACHE_H
#define EBPREC_ANALYZE_SYM_SYMTAB_DEMANGLE_CACHE_H

#include <stddef.h>

#include "format/base/hash.h"

struct demangle_cache_slot {
	const char *raw; /* NULL: free */
	char *printed;   /* owned; NULL: as it is */
};

/* Embedded by the owner; all zero is an empty one. */
struct demangle_cache {
	struct demangle_cache_slot *slots;
	size_t slot_count, count;
	struct hash_key key; /* drawn with the first slots */
};

void demangle_cache_done(struct demangle_cache *c);
/* raw must stay as it is until demangle_cache_done(), like the result.  Without memory it is raw. */
const char *demangle_cache_get(struct demangle_cache *c, const char *raw);

#endif
