/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/input/event/block_cache.h"

#include <string.h>

#include "format/base/lower_bound.h"
#include "format/base/mmap_array.h"
#include "format/base/vec.h"

int block_cache_reserve(struct block_cache *k, size_t size_bytes)
{
	/* Half of what keeping costs is that pages come one by one. */
	size_bytes = mmap_array_round(size_bytes);
	k->words = mmap_array_raw(size_bytes);
	if (!k->words)
		return -ENOMEM;
	k->word_capacity = size_bytes / sizeof(*k->words);
	return 0;
}

int block_cache_add(struct block_cache *k, const struct record *rec)
{
	size_t words = block_cache_words(rec->header);
	int err = vec_reserve(&k->words, &k->word_capacity, k->word_count + words);

	if (err)
		return err;
	if (!k->count || k->list[k->count - 1].block != rec->block) {
		err = vec_reserve(&k->list, &k->capacity, k->count + 1);
		if (err)
			return err;
		k->list[k->count++] = (struct cached_block){ rec->block, k->word_count,
							     k->word_count };
	}
	memcpy(k->words + k->word_count, rec->header, rec->header->size);
	k->word_count += words;
	k->list[k->count - 1].end_word = k->word_count;
	return 0;
}

size_t block_cache_from(const struct block_cache *k, size_t block)
{
	return lower_bound(i, 0, k->count, k->list[i].block < block);
}

void block_cache_done(struct block_cache *k)
{
	free(k->words);
	free(k->list);
	*k = (struct block_cache){ 0 };
}
