/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * symbol_buckets - which addresses of a file cannot but have the same name?
 *
 * Between one place where a symbol begins or ends and the next, all addresses are covered by the same
 * symbols.  A caller that only wants names may take them for one: the places of two million samples
 * of a mixed load are more than a hundred thousand, and lie in less than ten thousand parts.  Their
 * names are not known here.
 *
 * A file is read when the first address in it is asked for, by whichever thread that is.
 */
#ifndef EBPREC_ANALYZE_FOLD_LOCATION_SYMBOL_BUCKETS_H
#define EBPREC_ANALYZE_FOLD_LOCATION_SYMBOL_BUCKETS_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/fold/location/locations.h"

#define SYMBOL_BUCKETS_KERNEL    UINT32_MAX /* as a file: addresses of the kernel */
#define SYMBOL_BUCKETS_REGIONS   4u         /* of one file; the kernel's modules lie far from it */
#define SYMBOL_BUCKETS_GAP_BYTES (64u << 20)

/* Where a bucket begins. */
struct symbol_buckets_bucket {
	uint32_t start; /* of the part that it begins in */
	uint32_t part;  /* the number of that part: of the bound where it starts */
};

/*
 * Bounds that lie close together.  Buckets of equal size narrow the search; most need no search at
 * all, as they lie in one part.
 */
struct symbol_buckets_region {
	uint64_t first, size_bytes; /* from the first bound to the last: parts lie between */
	uint32_t *bounds;           /* from first on; sorted; some more, behind all addresses */
	struct symbol_buckets_bucket *buckets; /* and one more, behind all parts */
	unsigned shift;                        /* bytes of a bucket: 1 << shift */
};

struct symbol_buckets {
	struct symbol_buckets_region regions[SYMBOL_BUCKETS_REGIONS];
	uint32_t region_count;
};

/* bounds: sorted, no two equal.  -ENOMEM; -ERANGE: they are spread too far.  *out: symbol_buckets_done(). */
int symbol_buckets_make(const uint64_t *bounds, size_t count, struct symbol_buckets *out);
void symbol_buckets_done(struct symbol_buckets *c);

/* Where an address is looked for. */
struct symbol_buckets_range {
	const struct symbol_buckets_region *region; /* NULL: it is in no part */
	const struct symbol_buckets_bucket *bucket;
};

/* The address that counts: that of a call is before what it returns to. */
static inline uint64_t symbol_buckets_addr(const struct location *place)
{
	return place->offset - (place->is_return && place->offset);
}

/*
 * Returns the bucket of a location, and prefetches it: memory that is in no cache arrives
 * meanwhile.
 */
static inline struct symbol_buckets_range symbol_buckets_find(const struct symbol_buckets *c,
							      const struct location *place)
{
	uint64_t addr = symbol_buckets_addr(place);

	for (const struct symbol_buckets_region *r = c->regions; r < c->regions + c->region_count;
	     r++) {
		if (addr - r->first < r->size_bytes) {
			struct symbol_buckets_range range = {
				r, &r->buckets[(addr - r->first) >> r->shift]
			};

			__builtin_prefetch(range.bucket);
			return range;
		}
	}
	return (struct symbol_buckets_range){ NULL, NULL };
}

/* Announces what else is read where several parts begin in the bucket. */
static inline void symbol_buckets_look(const struct symbol_buckets_range *range)
{
	if (range->region && range->bucket[1].part - range->bucket[0].part > 1)
		__builtin_prefetch(&range->region->bounds[range->bucket[0].part]);
}

/* As symbol_buckets_fold(), where several parts begin in the bucket. */
void symbol_buckets_search(const struct symbol_buckets_range *range, struct location *place);

/*
 * Moves the place to the first address of its part, which is no return address any more.  One that returns
 * to where a part begins stays: its call lies in the part before.  So does one that is in no part.
 *
 * Where the next bucket begins in the same part, none begins at or before that; where it begins in the
 * following one, that part's start is the only one.
 */
static inline void symbol_buckets_fold(const struct symbol_buckets_range *range,
				       struct location *place)
{
	const struct symbol_buckets_bucket *bucket;
	uint64_t addr = symbol_buckets_addr(place);
	uint32_t rel, start;

	if (!range->region)
		return;
	bucket = range->bucket;
	if (bucket[1].part - bucket[0].part > 1) {
		symbol_buckets_search(range, place);
		return;
	}
	rel = (uint32_t)(addr - range->region->first);
	start = bucket[0].start;
	if (bucket[1].part != bucket[0].part) {
		if (addr != place->offset && rel + 1 == bucket[1].start)
			return;
		start = rel < bucket[1].start ? start : bucket[1].start;
	}
	place->offset = range->region->first + start;
	place->is_return = false;
}

/* ---- of all files of a model ---- */

struct symbol_buckets_set; /* opaque; may be used by several threads */

/* The bounds of a file, or SYMBOL_BUCKETS_KERNEL; *out is owned (free()).  An errno: it has none. */
typedef int (*symbol_buckets_read_fn)(void *arg, uint32_t file, uint64_t **out, size_t *count);

/* read is called by one thread at a time, once for a file.  -ENOMEM.  *out: symbol_buckets_set_free(). */
int symbol_buckets_set_new(uint32_t file_count, symbol_buckets_read_fn read, void *arg,
			   struct symbol_buckets_set **out);
void symbol_buckets_set_free(struct symbol_buckets_set *s); /* NULL is fine */
/* NULL: each of its addresses is a place of its own.  Valid until symbol_buckets_set_free(). */
const struct symbol_buckets *symbol_buckets_of(struct symbol_buckets_set *s, uint32_t file);

#endif
