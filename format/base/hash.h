/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * hash - keyed hashes of words and bytes
 *
 * Names, paths and addresses of a capture are chosen by others.  A hash function without a secret can be
 * inverted, so that a file of 20,000 names makes every look-up of a table walk over all of them.
 * Each table therefore draws a random key, and without the key no two inputs can be chosen that
 * collide: every word of the input is xored with 64 bits of the key before two words are multiplied
 * to 128 bits, of which both halves are mixed (the folded multiplication of wyhash, here with
 * secret constants).
 *
 * Hashes are never shown: the key may be computed from many of them.  The output of a program must
 * not depend on them either, so no table is written out in the order of its slots.
 */
#ifndef EBPREC_FORMAT_BASE_HASH_H
#define EBPREC_FORMAT_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct hash_key {
	uint64_t a, b;
};

/* Random bytes of the kernel.  A negative errno, as of getrandom(2). */
int hash_key_new(struct hash_key *out);

/* The two halves of the product: 0 when a factor is, so each must be secret or an uneven constant. */
static inline uint64_t hash_multiply(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* For caches with a fixed slot for each hash, where a collision costs one look-up: no secret is in it. */
static inline uint64_t hash_fold(uint64_t a, uint64_t b)
{
	return hash_multiply(a ^ 0x9e3779b97f4a7c15ULL, b ^ 0xc2b2ae3d27d4eb4fULL);
}

/* The hash of two words by one multiplication: hashes of successive a and b may be near each other. */
static inline uint64_t hash_mix(const struct hash_key *key, uint64_t a, uint64_t b)
{
	return hash_multiply(a ^ key->a, b ^ key->b);
}

/* The hash of two words; every bit of the result depends on every bit of both. */
static inline uint64_t hash_pair(const struct hash_key *key, uint64_t a, uint64_t b)
{
	return hash_multiply(hash_mix(key, a, b) ^ key->b, 0x9e3779b97f4a7c15ULL);
}

static inline uint64_t hash_bytes(const struct hash_key *key, const void *data, size_t size_bytes)
{
	uint64_t h = 0, words[2];
	const uint8_t *at = data;
	size_t left = size_bytes;

	for (; left >= sizeof(words); left -= sizeof(words), at += sizeof(words)) {
		memcpy(words, at, sizeof(words));
		h = hash_mix(key, h ^ words[0], words[1]);
	}
	words[0] = 0;
	words[1] = (uint64_t)size_bytes << 60; /* the bytes left do not fill it */
	if (left)
		memcpy(words, at, left);
	return hash_pair(key, h ^ words[0], words[1]);
}

#endif
