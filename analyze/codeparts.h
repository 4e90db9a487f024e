/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * codeparts - which addresses of a file cannot but have the same name?
 *
 * Between one place where a symbol begins or ends and the next, all addresses are covered by the same
 * symbols.  Who only wants names may take them for one: the places of two million samples of a mixed load are
 * more than a hundred thousand, and lie in less than ten thousand parts.  What each is called is not known here,
 * nor asked.
 *
 * A file is read when the first address in it is asked for, by whichever thread that is.
 */
#ifndef EBPREC_ANALYZE_CODEPARTS_H
#define EBPREC_ANALYZE_CODEPARTS_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/places.h"

#define CODEPARTS_KERNEL    UINT32_MAX /* as a file: addresses of the kernel */
#define CODEPARTS_REGIONS   4u         /* of one file; the kernel's modules lie far from it */
#define CODEPARTS_GAP_BYTES (64u << 20)

/* Bounds that lie close together.  Buckets of equal size tell where among them to look. */
struct codeparts_region {
	uint64_t first, size_bytes; /* from the first bound to the last: parts lie between */
	uint32_t *bounds;           /* from first on; sorted */
	uint32_t *buckets;          /* the part in which each bucket begins, and one more */
	unsigned shift;             /* bytes of a bucket: 1 << shift */
};

struct codeparts {
	struct codeparts_region regions[CODEPARTS_REGIONS];
	uint32_t region_count;
};

/* bounds: sorted, no two equal.  -ENOMEM; -ERANGE: they are spread too far.  *out: codeparts_done(). */
int codeparts_make(const uint64_t *bounds, size_t count, struct codeparts *out);
void codeparts_done(struct codeparts *c);

/* Announces what codeparts_fold() will read: memory that is in no cache comes meanwhile. */
void codeparts_fetch(const struct codeparts *c, const struct place *place);
/*
 * Moves the place to the first address of its part, which is no return address any more.  One that returns
 * to where a part begins stays: its call lies in the part before.  So does one that is in no part.
 */
void codeparts_fold(const struct codeparts *c, struct place *place);

/* ---- of all files of a model ---- */

struct codeparts_set; /* opaque; may be used by several threads */

/* The bounds of a file, or CODEPARTS_KERNEL; *out is owned (free()).  An errno: it has none. */
typedef int (*codeparts_read_fn)(void *arg, uint32_t file, uint64_t **out, size_t *count);

/* read is called by one thread at a time, once for a file.  -ENOMEM.  *out: codeparts_set_free(). */
int codeparts_set_new(uint32_t file_count, codeparts_read_fn read, void *arg,
		      struct codeparts_set **out);
void codeparts_set_free(struct codeparts_set *s); /* NULL is fine */
/* NULL: each of its addresses is a place of its own.  Valid until codeparts_set_free(). */
const struct codeparts *codeparts_of(struct codeparts_set *s, uint32_t file);

#endif
