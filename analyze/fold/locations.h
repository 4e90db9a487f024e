/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * places - where code lies, without the process that ran it
 *
 * An address means something only in one process at one time; a place means the same in all:
 * an offset in a file, an address of the kernel.  Frames are counted by place, and each distinct
 * place is named once.
 */
#ifndef EBPREC_ANALYZE_FOLD_LOCATIONS_H
#define EBPREC_ANALYZE_FOLD_LOCATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/base/hash_index.h"

enum place_kind {
	PLACE_FILE,       /* file, offset in it */
	PLACE_KERNEL,     /* address */
	PLACE_KSYMBOL,    /* file: code that the kernel made and named; no offset */
	PLACE_UNMAPPED,   /* a user address where nothing was mapped: all such are one place */
	PLACE_GUEST,      /* inside a virtual machine: one place */
	PLACE_HYPERVISOR, /* one place */
};

struct place {
	uint64_t offset; /* bytes in the file, or the address */
	uint32_t file;   /* of the model */
	uint8_t kind;    /* enum place_kind */
	bool is_return;  /* a return address: the call is one byte earlier */
};

/* Read list freely; the number of a place is its index.  All zero but for the key: empty. */
struct places {
	struct hash_key key; /* the caller's; of who merges, that of all */
	struct place *list;
	size_t count, capacity;
	struct hashidx index;
};

int places_add(struct places *p, const struct place *place,
	       uint32_t *out); /* -ENOMEM, -EOVERFLOW */

/* For many at once: fetch, then look, then add; what is in no cache by then comes meanwhile. */
static inline uint64_t places_hash(const struct hash_key *key, const struct place *place)
{
	return hash_mix(key, place->offset,
			(uint64_t)place->file << 32 | (uint64_t)place->kind << 8 |
				place->is_return);
}

static inline void places_fetch(const struct places *p, uint64_t hash)
{
	hashidx_fetch(&p->index, hash);
}

static inline void places_look(const struct places *p, uint64_t hash)
{
	uint32_t id = hashidx_guess(&p->index, hash);

	if (id != HASHIDX_NONE)
		__builtin_prefetch(&p->list[id]);
}

int places_add_hashed(struct places *p, const struct place *place, uint64_t hash, uint32_t *out);
/* Adds all of from; numbers[i]: what its place i is in p. */
int places_merge(struct places *p, const struct places *from, uint32_t *numbers);
/*
 * Orders the places by file and offset, so that those who go through them find what they look up where
 * they looked before.  numbers[i]: what place i is afterwards.  Only of use once finished.  -ENOMEM: as it
 * was.
 */
int places_sort(struct places *p, uint32_t *numbers);
/* Gives back what only adding needs. */
void places_finish(struct places *p);
void places_done(struct places *p);

#endif
