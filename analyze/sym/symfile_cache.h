/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * symfile_cache - the files of a capture, each once, and their symbols on demand
 *
 * A file is known by its build-id, or else by path and inode; every path under which it was mapped
 * is stored, since the first may be gone.  Nothing is read until a place in the file is wanted.
 * Where locations are announced before (symfile_cache_want), only the symbols for these are stored.
 */
#ifndef EBPREC_ANALYZE_SYM_SYMFILE_CACHE_H
#define EBPREC_ANALYZE_SYM_SYMFILE_CACHE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "format/base/hash_index.h"
#include "analyze/sym/locate/name_reason.h"
#include "analyze/sym/symfile.h"

#define SYMFILE_CACHE_MAX (UINT32_MAX - 3) /* ids are smaller */
/*
 * Bundles of one file, and all may be asked for a location: each part of a merged capture may have
 * one an event.
 */
#define SYMFILE_BUNDLES_MAX 1024
/* Paths of one file that are tried: each mapping is compared with all of them. */
#define SYMFILE_ALIASES_MAX 256

struct bundle;
struct perf_map;

/* Another path under which the same file was mapped. */
struct file_alias {
	struct file_alias *next;
	struct resolver_file as;
	char path[];
};

struct known_file {
	struct file_alias *aliases; /* in the order they were added; processes may show others */
	bool loaded;
	unsigned round;    /* symfile_cache.round when it was loaded, or was to be, last */
	atomic_bool taken; /* by one of the threads that load files */
	struct symfile sym;
	/*
	 * Locations that were announced before loading, and then sorted; sym then names only these.
	 */
	uint64_t *wanted;
	size_t wanted_count, wanted_room;
	size_t wanted_at; /* the one that was asked for last */
	struct symfile
		*partial; /* what named these, when all of the file had to be loaded after all */
	struct perf_map *jit;          /* in place of sym: names of code that a process made */
	const struct bundle **bundles; /* these are borrowed; asked before sym */
	size_t bundle_count, bundle_room;
};

/* All zero but the first five, which the owner sets; what they point to is borrowed. */
struct symfile_cache {
	struct name_roots roots;
	const struct resolver_jit *jits;
	size_t jit_count;
	struct resolver_hints hints;
	unsigned thread_count; /* that load at once; 0: as many as there are CPUs, at most 8 */
	struct known_file **files;
	size_t count, room;
	struct hash_index by_identity;
	unsigned round; /* how often symfile_cache_load() was called */
};

void symfile_cache_done(struct symfile_cache *s);

/* The id of the file, an old one where it is known already.  UINT32_MAX: no memory. */
uint32_t symfile_cache_add(struct symfile_cache *s, const struct resolver_file *file);

/* NULL: no such id. */
static inline struct known_file *symfile_cache_get(const struct symfile_cache *s, uint32_t id)
{
	return id < s->count ? s->files[id] : NULL;
}

/* Announces a location that will be asked for, before its file is loaded.  -ENOMEM. */
int symfile_cache_want(struct symfile_cache *s, uint32_t id, uint64_t off_bytes);

/*
 * Loads these files now, several at a time; where a fetcher may be asked, one after the other in
 * the order given.  A file that a bundle names is left for later: it may not be needed.
 */
void symfile_cache_load(struct symfile_cache *s, const uint32_t *ids, size_t count);

/*
 * Where the names of a file that is not loaded begin and end, as offsets in it: sorted, no two equal.  The
 * file stays as it was.  *out is owned (free()).  -ENOENT: it is not here, or its names are a bundle's or of
 * code that a process made; -EBADMSG: cannot be read.
 */
int symfile_cache_bounds(struct symfile_cache *s, uint32_t id, uint64_t **out, size_t *count);

/* Code that processes made is read anew when it is asked for; its names are gone. */
void symfile_cache_forget_jits(struct symfile_cache *s);

/* Forgets the symbols of files that the last so many calls of symfile_cache_load() did not name; their names are gone. */
void symfile_cache_trim(struct symfile_cache *s, unsigned rounds);

/* Loads what names this place; names that were given before stay valid. */
void symfile_cache_load_for(struct symfile_cache *s, struct known_file *f, uint64_t off_bytes);

#endif
