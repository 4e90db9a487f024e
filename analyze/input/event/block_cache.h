/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * block_cache - blocks of samples that were decompressed once and are wanted again
 *
 * The threads on CPUs in a slice are needed before its samples can be counted, so that the
 * side-band is read for these alone.  A slice is small, so its records stay in memory in between.
 */
#ifndef EBPREC_ANALYZE_INPUT_EVENT_BLOCK_CACHE_H
#define EBPREC_ANALYZE_INPUT_EVENT_BLOCK_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "format/reader/capture.h"

struct cached_block {
	size_t block;
	size_t first_word, end_word; /* its records, one behind the other */
};

/* Embedded by the owner; all zero is an empty one.  Read freely. */
struct block_cache {
	uint64_t *words;
	size_t word_count, word_capacity;
	struct cached_block *list; /* by block */
	size_t count, capacity;
	uint32_t damaged; /* blocks that could not be read, or not all of them */
};

/* Room for as many bytes of records, which may turn out to be too little.  -ENOMEM. */
int block_cache_reserve(struct block_cache *k, size_t size_bytes);
/* Takes a copy; records come in the order of their blocks.  -ENOMEM. */
int block_cache_add(struct block_cache *k, const struct record *rec);
/* The number of the first in the list that is not before the block; count: none. */
size_t block_cache_from(const struct block_cache *k, size_t block);
void block_cache_done(struct block_cache *k);

/* The words that a record takes. */
static inline size_t block_cache_words(const struct perf_event_header *header)
{
	return (header->size + 7u) / 8;
}

#endif
