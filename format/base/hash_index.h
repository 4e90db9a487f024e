/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * hashidx - which element of an array has this key?
 *
 * An index beside an array: it holds element numbers, the owner holds the elements and compares
 * the keys.  Open addressing, linear probing; a slot keeps 32 bits of the hash beside the number,
 * so that a probe seldom touches the array and growing never does.
 *
 *	err = hashidx_reserve(&x);			room for one more
 *	pos = hashidx_start(&x, hash);
 *	while ((id = hashidx_match(&x, hash, &pos)) != HASHIDX_NONE)
 *		if (key of element id is the one)
 *			return id;
 *	hashidx_put(&x, hash, pos, new_id);
 */
#ifndef EBPREC_FORMAT_BASE_HASH_INDEX_H
#define EBPREC_FORMAT_BASE_HASH_INDEX_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/mmap_array.h"

#define HASHIDX_NONE UINT32_MAX

/* A table grows when three quarters are used; a large one, of which memory has to be saved, later. */
#define HASHIDX_FULL  8
#define HASHIDX_LARGE ((size_t)1 << 20)

struct hashidx {
	uint64_t *slots; /* 0: free; else hash bits << 32 | number + 1 */
	uint32_t mask;   /* slot count - 1; the count is a power of two */
	uint32_t used;
};

/* Mixes all bits of two words into all bits of one (the multiply of MurmurHash3's finalizer). */
static inline uint64_t hash_pair(uint64_t a, uint64_t b)
{
	uint64_t h = a * 0x9e3779b97f4a7c15ULL ^ b;

	h ^= h >> 32;
	h *= 0xff51afd7ed558ccdULL;
	h ^= h >> 29;
	h *= 0xc4ceb9fe1a85ec53ULL;
	return h ^ h >> 32;
}

/* The same by one multiplication: less good in single bits, good enough to go on with. */
static inline uint64_t hash_fold(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)(a ^ 0x9e3779b97f4a7c15ULL) *
				    (b ^ 0xc2b2ae3d27d4eb4fULL);

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t hash_bytes(const void *data, size_t size_bytes)
{
	const uint8_t *p = data;
	uint64_t h = size_bytes, word;

	for (; size_bytes >= 8; size_bytes -= 8, p += 8) {
		memcpy(&word, p, 8);
		h = hash_pair(h, word);
	}
	word = 0;
	if (size_bytes)
		memcpy(&word, p, size_bytes);
	return hash_pair(h, word);
}

static inline uint32_t hashidx_start(const struct hashidx *x, uint64_t hash)
{
	return (uint32_t)(hash >> 32) & x->mask;
}

/* The next element number whose hash bits agree, or HASHIDX_NONE with *pos at a free slot. */
static inline uint32_t hashidx_match(const struct hashidx *x, uint64_t hash, uint32_t *pos)
{
	uint64_t slot;

	if (!x->slots)
		return HASHIDX_NONE;
	while ((slot = x->slots[*pos])) {
		if (slot >> 32 == hash >> 32) {
			*pos = (*pos + 1) & x->mask;
			return (uint32_t)slot - 1;
		}
		*pos = (*pos + 1) & x->mask;
	}
	return HASHIDX_NONE;
}

static inline void hashidx_put(struct hashidx *x, uint64_t hash, uint32_t pos, uint32_t id)
{
	x->slots[pos] = hash >> 32 << 32 | ((uint64_t)id + 1);
	x->used++;
}

/*
 * A look-up that waits for memory can be announced: first its slot, and when that has had time to come,
 * the element that the slot names, whose number this returns (HASHIDX_NONE: nothing to fetch).
 */
static inline void hashidx_fetch(const struct hashidx *x, uint64_t hash)
{
	if (x->slots)
		__builtin_prefetch(&x->slots[hashidx_start(x, hash)]);
}

static inline uint32_t hashidx_guess(const struct hashidx *x, uint64_t hash)
{
	uint32_t pos = hashidx_start(x, hash);

	return hashidx_match(x, hash, &pos);
}

/* Gives it count slots, a power of two and more than are used.  -ENOMEM. */
static inline int hashidx_resize(struct hashidx *x, size_t count)
{
	uint64_t *slots;
	uint32_t pos;

	if (count > UINT32_MAX)
		return -ENOMEM;
	slots = bigmem_zeroed(count * sizeof(*slots));
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
	return 0;
}

/* Makes room for one more; call before hashidx_start().  -ENOMEM. */
static inline int hashidx_reserve(struct hashidx *x)
{
	size_t count = x->slots ? (size_t)x->mask + 1 : 0;

	if (count &&
	    x->used < count / HASHIDX_FULL * (HASHIDX_FULL - (count < HASHIDX_LARGE ? 2 : 1)))
		return 0;
	return hashidx_resize(x, count ? count * 2 : 64);
}

/* Saves an empty one from growing step by step, where about so many elements will come.  -ENOMEM. */
static inline int hashidx_expect(struct hashidx *x, size_t elements)
{
	size_t count = 64;

	while (count < elements)
		count *= 2;
	return x->slots ? 0 : hashidx_resize(x, count);
}

static inline void hashidx_done(struct hashidx *x)
{
	free(x->slots);
	*x = (struct hashidx){ 0 };
}

#endif
