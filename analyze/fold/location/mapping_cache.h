/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * mapping_cache - the place of an address, by the mappings that were asked for last
 *
 * Most addresses of a process lie in a handful of mappings, and mostly in that of the address before.
 * So a few mappings of each address space are stored side by side: a place then takes a subtraction
 * or two, and no memory that is not in the cache anyway.  A table by address would have to learn
 * each address of each process; short-lived ones, each with its own layout, end before it has.
 *
 * Its size is fixed; it only saves time.  Used by one thread.
 */
#ifndef EBPREC_ANALYZE_FOLD_LOCATION_MAPPING_CACHE_H
#define EBPREC_ANALYZE_FOLD_LOCATION_MAPPING_CACHE_H

#include "analyze/fold/location/callchain.h"
#include "analyze/fold/location/symbol_buckets.h"
#include "analyze/process/process_model.h"
#include "analyze/fold/location/locations.h"

#define MAPPING_CACHE_RANGES 8 /* cached mappings of an address space */

struct mapping_cache_range {
	uint64_t start, size_bytes;
	uint64_t shift; /* from an address to the offset in the file */
	uint32_t file;
	bool is_ksymbol;
	const struct symbol_buckets *parts; /* places are folded to these; NULL: they are not */
};

struct mapping_cache_space {
	uint32_t key;  /* space + 1; 0: free */
	uint32_t next; /* to be replaced */
	struct mapping_cache_range ranges[MAPPING_CACHE_RANGES];
};

struct mapping_cache; /* opaque */

/*
 * model must be sealed, and outlive the cache.  parts: places that are bound to have one name become one;
 * NULL: each address is a place of its own.  -ENOMEM.
 */
int mapping_cache_new(const struct process_model *model, struct symbol_buckets_set *parts,
		      struct mapping_cache **out);
void mapping_cache_free(struct mapping_cache *c); /* NULL is fine */

/* The cached mappings of an address space; valid until another one is asked for. */
struct mapping_cache_space *mapping_cache_of(struct mapping_cache *c, uint32_t space);
/* The mapping that has addr in the run's space; NULL: none.  Valid until the next call. */
const struct mapping_cache_range *mapping_cache_find(struct mapping_cache *c,
						     struct mapping_cache_space *of,
						     const struct callchain_run *run,
						     uint64_t addr);

/* The way through the frames of a run: a mapping is mostly that of the frame before. */
struct mapping_cache_walk {
	struct mapping_cache *cache;
	struct mapping_cache_space *of;
	const struct mapping_cache_range *last; /* never NULL */
};

static inline void mapping_cache_begin(struct mapping_cache *c, const struct callchain_run *run,
				       struct mapping_cache_walk *out)
{
	out->cache = c;
	out->of = mapping_cache_of(c, run->space);
	out->last = &out->of->ranges[0];
}

static inline const struct mapping_cache_range *
mapping_cache_step(struct mapping_cache_walk *w, const struct callchain_run *run, uint64_t addr)
{
	const struct mapping_cache_range *range = w->last;

	if (addr - range->start < range->size_bytes)
		return range;
	range = mapping_cache_find(w->cache, w->of, run, addr);
	if (range)
		w->last = range;
	return range;
}

/*
 * The place of an address of the run, before it is folded; returns to what, NULL: it is not.  is_return: a
 * return address; the call is what counts.
 */
static inline const struct symbol_buckets *mapping_cache_locate(struct mapping_cache_walk *w,
								const struct callchain_run *run,
								uint64_t addr, bool is_return,
								struct location *out)
{
	uint64_t look = addr - (is_return && addr ? 1 : 0); /* a call may end its mapping */
	const struct mapping_cache_range *range;

	if (run->kind != LOCATION_FILE && run->kind != LOCATION_KERNEL) {
		*out = (struct location){ .kind = (uint8_t)run->kind };
		return NULL;
	}
	range = mapping_cache_step(w, run, look);
	if (run->kind == LOCATION_FILE && range) {
		*out = (struct location){ addr + range->shift, range->file, LOCATION_FILE,
					  is_return };
		return range->parts;
	}
	if (run->kind == LOCATION_FILE) {
		*out = (struct location){ .kind = LOCATION_UNMAPPED };
		return NULL;
	}
	if (range && range->is_ksymbol) {
		*out = (struct location){ .kind = LOCATION_KSYMBOL, .file = range->file };
		return NULL;
	}
	*out = (struct location){ addr, 0, LOCATION_KERNEL, is_return };
	return range ? range->parts : NULL;
}

/* The place, folded. */
static inline void mapping_cache_place(struct mapping_cache_walk *w,
				       const struct callchain_run *run, uint64_t addr,
				       bool is_return, struct location *out)
{
	const struct symbol_buckets *parts = mapping_cache_locate(w, run, addr, is_return, out);

	struct symbol_buckets_range range;

	if (!parts)
		return;
	range = symbol_buckets_find(parts, out);
	symbol_buckets_fold(&range, out);
}

#endif
