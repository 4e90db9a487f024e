/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * namecache - demangled names by the address of the mangled text
 *
 * DWARF gives the same pointer for the same name, and an inlined function comes up again and again.
 */
#ifndef EBPREC_ANALYZE_SYM_DEMANGLE_CACHE_H
#define EBPREC_ANALYZE_SYM_DEMANGLE_CACHE_H

#include <stddef.h>

#include "format/base/hash.h"

struct namecache_slot {
	const char *raw; /* NULL: free */
	char *printed;   /* owned; NULL: as it is */
};

/* Embedded by the owner; all zero is an empty one. */
struct namecache {
	struct namecache_slot *slots;
	size_t slot_count, count;
	struct hash_key key; /* drawn with the first slots */
};

void namecache_done(struct namecache *c);
/* raw must stay as it is until namecache_done(), like the result.  Without memory it is raw. */
const char *namecache_get(struct namecache *c, const char *raw);

#endif
