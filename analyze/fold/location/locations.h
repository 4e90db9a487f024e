/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * locations - where code lies, without the process that ran it
 *
 * An address means something only in one process at one time; a place means the same in all:
 * an offset in a file, an address of the kernel.  Frames are counted by place, and each distinct
 * place is named once.
 */
#ifndef EBPREC_ANALYZE_FOLD_LOCATION_LOCATIONS_H
#define EBPREC_ANALYZE_FOLD_LOCATION_LOCATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/base/hash_index.h"

enum location_kind {
	LOCATION_FILE,       /* file, offset in it */
	LOCATION_KERNEL,     /* address */
	LOCATION_KSYMBOL,    /* file: code that the kernel made and named; no offset */
	LOCATION_UNMAPPED,   /* a user address where nothing was mapped: all such are one place */
	LOCATION_GUEST,      /* inside a virtual machine: one place */
	LOCATION_HYPERVISOR, /* one place */
};

struct location {
	uint64_t offset; /* bytes in the file, or the address */
	uint32_t file;   /* of the model */
	uint8_t kind;    /* enum location_kind */
	bool is_return;  /* a return address: the call is one byte earlier */
};

/* Read list freely; the number of a place is its index.  All zero but for the key: empty. */
struct locations {
	struct hash_key key; /* the caller's; of a merge, that of all */
	struct location *list;
	size_t count, capacity;
	struct hash_index index;
};

/* For many at once: fetch, then look, then add; what is in no cache by then comes meanwhile. */
static inline uint64_t locations_hash(const struct hash_key *key, const struct location *place)
{
	return hash_mix(key, place->offset,
			(uint64_t)place->file << 32 | (uint64_t)place->kind << 8 |
				place->is_return);
}

static inline void locations_fetch(const struct locations *p, uint64_t hash)
{
	hash_index_fetch(&p->index, hash);
}

static inline void locations_look(const struct locations *p, uint64_t hash)
{
	uint32_t id = hash_index_guess(&p->index, hash);

	if (id != HASH_INDEX_NONE)
		__builtin_prefetch(&p->list[id]);
}

int locations_add_hashed(struct locations *p, const struct location *place, uint64_t hash,
			 uint32_t *out);
/* Adds all of from; numbers[i]: what its place i is in p. */
int locations_merge(struct locations *p, const struct locations *from, uint32_t *numbers);
/*
 * Orders the locations by file and offset, so that callers that go through them look up neighbours
 * one after the other.  numbers[i]: what place i is afterwards.  Only of use once finished.
 * -ENOMEM: as it was.
 */
int locations_sort(struct locations *p, uint32_t *numbers);
/* Gives back what only adding needs. */
void locations_finish(struct locations *p);
void locations_done(struct locations *p);

#endif
