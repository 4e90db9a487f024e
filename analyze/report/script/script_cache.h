/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * script_cache - texts of frames that were printed before
 *
 * By address and space, where a frame was seen lately; and by place, for the next process that maps
 * the same file elsewhere.  When the texts fill SCRIPT_CACHE_MAX_BYTES all are forgotten, so a capture of
 * any size costs the same.
 */
#ifndef EBPREC_ANALYZE_REPORT_SCRIPT_SCRIPT_CACHE_H
#define EBPREC_ANALYZE_REPORT_SCRIPT_SCRIPT_CACHE_H

#include <stddef.h>
#include <stdint.h>

#define SCRIPT_CACHE_MAX_BYTES (16u << 20)

/* The key of a text, as an address in an address space ... */
struct script_cache_key {
	uint64_t addr;
	uint32_t space;
	uint32_t how; /* of the caller's choice, as in the place */
};

/* ... and as what is there.  Numbers of the caller's choice. */
struct script_cache_place {
	uint64_t what, where;
	uint32_t how;
};

struct script_cache; /* opaque */

int script_cache_new(struct script_cache **out); /* -ENOMEM */
void script_cache_free(struct script_cache *c);  /* NULL is fine */

/* Texts are borrowed until the next script_cache_add(); NULL: not here. */
const char *script_cache_get(const struct script_cache *c, const struct script_cache_key *key,
			     size_t *size_bytes);
/* The same by place; it is then known by key, too. */
const char *script_cache_find(struct script_cache *c, const struct script_cache_key *key,
			      const struct script_cache_place *place, size_t *size_bytes);
/* Copies a text that is not here; without memory it is not cached. */
void script_cache_add(struct script_cache *c, const struct script_cache_key *key,
		      const struct script_cache_place *place, const char *text, size_t size_bytes);

#endif
