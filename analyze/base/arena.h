/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* arena - memory that is given back all at once */
#ifndef EBPREC_ANALYZE_BASE_ARENA_H
#define EBPREC_ANALYZE_BASE_ARENA_H

#include <stddef.h>

struct arena_block; /* opaque */

/* Embedded by the owner; all zero is an empty arena. */
struct arena {
	struct arena_block *last;
	size_t left_bytes;
};

/* size_bytes bytes, not cleared, aligned for any object; NULL: no memory. */
void *arena_alloc(struct arena *a, size_t size_bytes);
/* For bytes that need no alignment: strings. */
void *arena_bytes(struct arena *a, size_t size_bytes);
void arena_done(struct arena *a); /* frees everything; the arena is empty again */

#endif
