/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * hash_index - which element of an array has this key?
 *
 * An index beside an array: it holds element numbers, the owner holds the elements and compares
 * the keys.  Open addressing, linear probing; a slot keeps 32 bits of the hash beside the number,
 * so that a probe seldom touches the array and growing never does.
 *
 *	err = hash_index_reserve(&x);			space for one more, and the key
 *	hash = hash_index_pair(&x, a, b);			only now: an empty index has no key
 *	pos = hash_index_start(&x, hash);
 *	while ((id = hash_index_match(&x, hash, &pos)) != HASH_INDEX_NONE)
 *		if (key of element id is the one)
 *			return id;
 *	hash_index_put(&x, hash, pos, new_id);
 *
 * Each key is put once.  Look-ups are short: a table never fills, its key is secret (hash.h), and one in
 * which an element still comes to lie HASH_INDEX_FAR slots away grows until it does not, or is refused.
 */
#ifndef EBPREC_FORMAT_BASE_HASH_INDEX_H
#define EBPREC_FORMAT_BASE_HASH_INDEX_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/hash.h"
#include "format/base/mmap_array.h"

#define HASH_INDEX_NONE UINT32_MAX

/* A table grows when three quarters are used; a large one, of which memory has to be saved, later. */
#define HASH_INDEX_FULL  8
#define HASH_INDEX_LARGE ((size_t)1 << 20)

/* Chance brings an element of a billion half as far; a table that is crowded is at most so empty. */
#define HASH_INDEX_FAR    4096
#define HASH_INDEX_SPARSE 32

struct hash_index {
	uint64_t *slots; /* 0: free; else hash bits << 32 | number + 1 */
	uint32_t mask;   /* slot count - 1; the count is a power of two */
	uint32_t used;
	struct hash_key key; /* drawn with the first slots */
	bool crowded;        /* an element was put too far from where its look-up starts */
};

static inline uint64_t hash_index_pair(const struct hash_index *x, uint64_t a, uint64_t b)
{
	return hash_pair(&x->key, a, b);
}

static inline uint64_t hash_index_bytes(const struct hash_index *x, const void *data,
					size_t size_bytes)
{
	return hash_bytes(&x->key, data, size_bytes);
}

static inline uint32_t hash_index_start(const struct hash_index *x, uint64_t hash)
{
	return (uint32_t)(hash >> 32) & x->mask;
}

/* The next element number whose hash bits agree, or HASH_INDEX_NONE with *pos at a free slot. */
static inline uint32_t hash_index_match(const struct hash_index *x, uint64_t hash, uint32_t *pos)
{
	uint64_t slot;

	if (!x->slots)
		return HASH_INDEX_NONE;
	while ((slot = x->slots[*pos])) {
		if (slot >> 32 == hash >> 32) {
			*pos = (*pos + 1) & x->mask;
			return (uint32_t)slot - 1;
		}
		*pos = (*pos + 1) & x->mask;
	}
	return HASH_INDEX_NONE;
}

static inline void hash_index_put(struct hash_index *x, uint64_t hash, uint32_t pos, uint32_t id)
{
	x->slots[pos] = hash >> 32 << 32 | ((uint64_t)id + 1);
	x->used++;
	if (((pos - hash_index_start(x, hash)) & x->mask) >= HASH_INDEX_FAR)
		x->crowded = true;
}

/* Replaces the element that hash_index_match() found, and left *pos behind, by id. */
static inline void hash_index_replace(struct hash_index *x, uint32_t pos, uint32_t id)
{
	uint64_t *slot = &x->slots[(pos - 1) & x->mask];

	*slot = *slot >> 32 << 32 | ((uint64_t)id + 1);
}

/*
 * A look-up that waits for memory can be announced: first its slot, and when that has had time to come,
 * the element that the slot names, whose number this returns (HASH_INDEX_NONE: nothing to fetch).
 */
static inline void hash_index_fetch(const struct hash_index *x, uint64_t hash)
{
	if (x->slots)
		__builtin_prefetch(&x->slots[hash_index_start(x, hash)]);
}

static inline uint32_t hash_index_guess(const struct hash_index *x, uint64_t hash)
{
	uint32_t pos = hash_index_start(x, hash);

	return hash_index_match(x, hash, &pos);
}

/* Gives it count slots, a power of two and more than are used.  -ENOMEM; no random key. */
static inline int hash_index_resize(struct hash_index *x, size_t count)
{
	uint64_t *slots;
	uint32_t pos;
	int err;

	if (count > UINT32_MAX)
		return -ENOMEM;
	err = x->slots ? 0 : hash_key_new(&x->key);
	if (err)
		return err;
	slots = mmap_array_zeroed(count * sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; x->slots && i <= x->mask; i++) {
		if (!x->slots[i])
			continue;
		pos = (uint32_t)(x->slots[i] >> 32) & (uint32_t)(count - 1);
		while (slots[pos])
			pos = (pos + 1) & (uint32_t)(count - 1);
		slots[pos] = x->slots[i];
	}
	free(x->slots);
	x->slots = slots;
	x->mask = (uint32_t)(count - 1);
	x->crowded = false;
	return 0;
}

/* Makes space for one more; call before hashing.  -ENOMEM; -EOVERFLOW: too many are alike; no
 * random key. */
static inline int hash_index_reserve(struct hash_index *x)
{
	size_t count = x->slots ? (size_t)x->mask + 1 : 0;

	if (count && !x->crowded &&
	    x->used < count / HASH_INDEX_FULL *
			      (HASH_INDEX_FULL - (count < HASH_INDEX_LARGE ? 2 : 1)))
		return 0;
	if (x->crowded && x->used < count / HASH_INDEX_SPARSE)
		return -EOVERFLOW;
	return hash_index_resize(x, count ? count * 2 : 64);
}

/* Saves an empty one from growing step by step, where about so many elements will come.  -ENOMEM. */
static inline int hash_index_expect(struct hash_index *x, size_t elements)
{
	size_t count = 64;

	while (count < elements)
		count *= 2;
	return x->slots ? 0 : hash_index_resize(x, count);
}

static inline void hash_index_done(struct hash_index *x)
{
	free(x->slots);
	*x = (struct hash_index){ 0 };
}

#endif
