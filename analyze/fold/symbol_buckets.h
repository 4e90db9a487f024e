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
#ifndef EBPREC_ANALYZE_FOLD_SYMBOL_BUCKETS_H
#define EBPREC_ANALYZE_FOLD_SYMBOL_BUCKETS_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/fold/locations.h"

#define CODEPARTS_KERNEL    UINT32_MAX /* as a file: addresses of the kernel */
#define CODEPARTS_REGIONS   4u         /* of one file; the kernel's modules lie far from it */
#define CODEPARTS_GAP_BYTES (64u << 20)

/* Where a bucket begins. */
struct codeparts_bucket {
	uint32_t start; /* of the part that it begins in */
	uint32_t part;  /* the number of that part: of the bound where it starts */
};

/*
 * Bounds that lie close together.  Buckets of equal size tell where among them to look; of most no more has
 * to be looked at, as they lie in one part.
 */
struct codeparts_region {
	uint64_t first, size_bytes; /* from the first bound to the last: parts lie between */
	uint32_t *bounds;           /* from first on; sorted; some more, behind all addresses */
	struct codeparts_bucket *buckets; /* and one more, behind all parts */
	unsigned shift;                   /* bytes of a bucket: 1 << shift */
};

struct codeparts {
	struct codeparts_region regions[CODEPARTS_REGIONS];
	uint32_t region_count;
};

/* bounds: sorted, no two equal.  -ENOMEM; -ERANGE: they are spread too far.  *out: codeparts_done(). */
int codeparts_make(const uint64_t *bounds, size_t count, struct codeparts *out);
void codeparts_done(struct codeparts *c);

/* Where an address is looked for. */
struct codeparts_spot {
	const struct codeparts_region *region; /* NULL: it is in no part */
	const struct codeparts_bucket *bucket;
};

/* The address that counts: that of a call is before what it returns to. */
static inline uint64_t codeparts_addr(const struct place *place)
{
	return place->offset - (place->is_return && place->offset);
}

/* The spot of a place, and announces what is read there: memory that is in no cache comes meanwhile. */
static inline struct codeparts_spot codeparts_find(const struct codeparts *c,
						   const struct place *place)
{
	uint64_t addr = codeparts_addr(place);

	for (const struct codeparts_region *r = c->regions; r < c->regions + c->region_count; r++) {
		if (addr - r->first < r->size_bytes) {
			struct codeparts_spot spot = { r,
						       &r->buckets[(addr - r->first) >> r->shift] };

			__builtin_prefetch(spot.bucket);
			return spot;
		}
	}
	return (struct codeparts_spot){ NULL, NULL };
}

/* Announces what else is read where several parts begin in the bucket. */
static inline void codeparts_look(const struct codeparts_spot *spot)
{
	if (spot->region && spot->bucket[1].part - spot->bucket[0].part > 1)
		__builtin_prefetch(&spot->region->bounds[spot->bucket[0].part]);
}

/* As codeparts_fold(), where several parts begin in the bucket. */
void codeparts_search(const struct codeparts_spot *spot, struct place *place);

/*
 * Moves the place to the first address of its part, which is no return address any more.  One that returns
 * to where a part begins stays: its call lies in the part before.  So does one that is in no part.
 *
 * Where the next bucket begins in the same part, none begins at or before that; where it begins in the
 * following one, that part's start is the only one.
 */
static inline void codeparts_fold(const struct codeparts_spot *spot, struct place *place)
{
	const struct codeparts_bucket *bucket;
	uint64_t addr = codeparts_addr(place);
	uint32_t rel, start;

	if (!spot->region)
		return;
	bucket = spot->bucket;
	if (bucket[1].part - bucket[0].part > 1) {
		codeparts_search(spot, place);
		return;
	}
	rel = (uint32_t)(addr - spot->region->first);
	start = bucket[0].start;
	if (bucket[1].part != bucket[0].part) {
		if (addr != place->offset && rel + 1 == bucket[1].start)
			return;
		start = rel < bucket[1].start ? start : bucket[1].start;
	}
	place->offset = spot->region->first + start;
	place->is_return = false;
}

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
