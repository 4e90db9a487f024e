/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * linecache - texts of frames that were printed before
 *
 * By address and space, where a frame was seen lately; and by place, for the next process that maps
 * the same file elsewhere.  When the texts fill LINECACHE_MAX_BYTES all are forgotten, so a capture of
 * any size costs the same.
 */
#ifndef EBPREC_ANALYZE_REPORT_SCRIPT_CACHE_H
#define EBPREC_ANALYZE_REPORT_SCRIPT_CACHE_H

#include <stddef.h>
#include <stdint.h>

#define LINECACHE_MAX_BYTES (16u << 20)

/* What a text depends on, told as an address in a space ... */
struct linecache_key {
	uint64_t addr;
	uint32_t space;
	uint32_t how; /* of the caller's choice, as in the place */
};

/* ... and as what is there.  Numbers of the caller's choice. */
struct linecache_place {
	uint64_t what, where;
	uint32_t how;
};

struct linecache; /* opaque */

int linecache_new(struct linecache **out); /* -ENOMEM */
void linecache_free(struct linecache *c);  /* NULL is fine */

/* Texts are borrowed until the next linecache_add(); NULL: not here. */
const char *linecache_get(const struct linecache *c, const struct linecache_key *key,
			  size_t *size_bytes);
/* The same by place; it is then known by key, too. */
const char *linecache_find(struct linecache *c, const struct linecache_key *key,
			   const struct linecache_place *place, size_t *size_bytes);
/* Copies a text that is not here; without memory it is not kept. */
void linecache_add(struct linecache *c, const struct linecache_key *key,
		   const struct linecache_place *place, const char *text, size_t size_bytes);

#endif
