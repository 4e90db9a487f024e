/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * mapcache - the place of an address, by the mappings that were asked for last
 *
 * Most addresses of a process lie in a handful of mappings, and mostly in that of the address before.
 * So a few mappings of each space are kept side by side: a place then takes a subtraction or two, and no
 * memory that is not in the cache anyway.  A table by address would have to learn each address of each
 * process; short-lived ones, each with its own layout, end before it has.
 *
 * Of fixed size; only saves time.  Used by one thread.
 */
#ifndef EBPREC_ANALYZE_FOLD_MAPPING_CACHE_H
#define EBPREC_ANALYZE_FOLD_MAPPING_CACHE_H

#include "analyze/fold/callchain.h"
#include "analyze/fold/symbol_buckets.h"
#include "analyze/process/process_model.h"
#include "analyze/fold/locations.h"

#define MAPCACHE_RANGES 8 /* mappings that are kept of a space */

struct mapcache_range {
	uint64_t start, size_bytes;
	uint64_t shift; /* from an address to the offset in the file */
	uint32_t file;
	bool is_ksymbol;
	const struct codeparts *parts; /* places are folded to these; NULL: they are not */
};

struct mapcache_space {
	uint32_t key;  /* space + 1; 0: free */
	uint32_t next; /* to be replaced */
	struct mapcache_range ranges[MAPCACHE_RANGES];
};

struct mapcache; /* opaque */

/*
 * model must be sealed, and outlive the cache.  parts: places that are bound to have one name become one;
 * NULL: each address is a place of its own.  -ENOMEM.
 */
int mapcache_new(const struct model *model, struct codeparts_set *parts, struct mapcache **out);
void mapcache_free(struct mapcache *c); /* NULL is fine */

/* Where the mappings of a space are kept: until another space is asked for. */
struct mapcache_space *mapcache_of(struct mapcache *c, uint32_t space);
/* The mapping that has addr in the run's space; NULL: none.  Valid until the next call. */
const struct mapcache_range *mapcache_find(struct mapcache *c, struct mapcache_space *of,
					   const struct chaincut_run *run, uint64_t addr);

/* The way through the frames of a run: a mapping is mostly that of the frame before. */
struct mapcache_walk {
	struct mapcache *cache;
	struct mapcache_space *of;
	const struct mapcache_range *last; /* never NULL */
};

static inline void mapcache_begin(struct mapcache *c, const struct chaincut_run *run,
				  struct mapcache_walk *out)
{
	out->cache = c;
	out->of = mapcache_of(c, run->space);
	out->last = &out->of->ranges[0];
}

static inline const struct mapcache_range *
mapcache_step(struct mapcache_walk *w, const struct chaincut_run *run, uint64_t addr)
{
	const struct mapcache_range *range = w->last;

	if (addr - range->start < range->size_bytes)
		return range;
	range = mapcache_find(w->cache, w->of, run, addr);
	if (range)
		w->last = range;
	return range;
}

/*
 * The place of an address of the run, before it is folded; returns to what, NULL: it is not.  is_return: a
 * return address; the call is what counts.
 */
static inline const struct codeparts *mapcache_locate(struct mapcache_walk *w,
						      const struct chaincut_run *run, uint64_t addr,
						      bool is_return, struct place *out)
{
	uint64_t look = addr - (is_return && addr ? 1 : 0); /* a call may end its mapping */
	const struct mapcache_range *range;

	if (run->kind != PLACE_FILE && run->kind != PLACE_KERNEL) {
		*out = (struct place){ .kind = (uint8_t)run->kind };
		return NULL;
	}
	range = mapcache_step(w, run, look);
	if (run->kind == PLACE_FILE && range) {
		*out = (struct place){ addr + range->shift, range->file, PLACE_FILE, is_return };
		return range->parts;
	}
	if (run->kind == PLACE_FILE) {
		*out = (struct place){ .kind = PLACE_UNMAPPED };
		return NULL;
	}
	if (range && range->is_ksymbol) {
		*out = (struct place){ .kind = PLACE_KSYMBOL, .file = range->file };
		return NULL;
	}
	*out = (struct place){ addr, 0, PLACE_KERNEL, is_return };
	return range ? range->parts : NULL;
}

/* The place, folded. */
static inline void mapcache_place(struct mapcache_walk *w, const struct chaincut_run *run,
				  uint64_t addr, bool is_return, struct place *out)
{
	const struct codeparts *parts = mapcache_locate(w, run, addr, is_return, out);

	struct codeparts_spot spot;

	if (!parts)
		return;
	spot = codeparts_find(parts, out);
	codeparts_fold(&spot, out);
}

#endif
