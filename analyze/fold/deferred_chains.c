/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/fold/deferred_chains.h"

#include <errno.h>
#include <linux/perf_event.h>

#include "analyze/fold/location/callchain.h"
#include "format/base/vec.h"
#include "format/base/cursor.h"

#define DEFER_OUTPUT_BIT 39 /* of the flags of an attr: its event gets the records */
#define ATTR_FLAGS_BYTES 40 /* where they are */

struct deferred_chains_part {
	size_t first_word;
	uint32_t count;
};

struct deferred_chains_key {
	uint64_t cookie;
	uint32_t tid, part;
};

bool deferred_chains_any(const struct capture *c)
{
	size_t count;
	const struct capture_attr *attrs = capture_attrs(c, &count);

	for (size_t i = 0; i < count; i++)
		if (le64_load((const uint8_t *)&attrs[i].attr + ATTR_FLAGS_BYTES) >>
			    DEFER_OUTPUT_BIT &
		    1)
			return true;
	return false;
}

static int add_part(struct deferred_chains *l, const uint8_t *frames, size_t count, uint32_t *out)
{
	uint32_t pos, id;
	uint64_t hash;
	int err = hash_index_reserve(&l->part_index);

	if (err)
		return err;
	hash = hash_index_bytes(&l->part_index, frames, 8 * count);
	pos = hash_index_start(&l->part_index, hash);
	while ((id = hash_index_match(&l->part_index, hash, &pos)) != HASH_INDEX_NONE) {
		if (l->parts[id].count == count &&
		    !memcmp(l->words + l->parts[id].first_word, frames, 8 * count)) {
			*out = id;
			return 0;
		}
	}
	if (l->part_count >= UINT32_MAX - 1)
		return -EOVERFLOW;
	err = vec_reserve(&l->parts, &l->part_capacity, l->part_count + 1);
	if (!err)
		err = vec_reserve(&l->words, &l->word_capacity, l->word_count + count);
	if (err)
		return err;
	memcpy(l->words + l->word_count, frames, 8 * count);
	id = (uint32_t)l->part_count++;
	l->parts[id] = (struct deferred_chains_part){ l->word_count, (uint32_t)count };
	l->word_count += count;
	hash_index_put(&l->part_index, hash, pos, id);
	*out = id;
	return 0;
}

static uint64_t hash_of(const struct deferred_chains *l, uint32_t tid, uint64_t cookie)
{
	return hash_index_pair(&l->key_index, cookie, tid);
}

/* The number of the key, or HASH_INDEX_NONE with *pos at its place. */
static uint32_t find(const struct deferred_chains *l, uint32_t tid, uint64_t cookie, uint32_t *pos)
{
	uint64_t hash = hash_of(l, tid, cookie);
	uint32_t id;

	*pos = hash_index_start(&l->key_index, hash);
	while ((id = hash_index_match(&l->key_index, hash, pos)) != HASH_INDEX_NONE)
		if (l->keys[id].cookie == cookie && l->keys[id].tid == tid)
			break;
	return id;
}

int deferred_chains_add(struct deferred_chains *l, uint32_t tid, const struct perfrec_later *later)
{
	struct deferred_chains_key key = { .cookie = later->cookie, .tid = tid };
	int err = hash_index_reserve(&l->key_index);
	uint32_t pos;

	if (err)
		return err;
	if (find(l, tid, later->cookie, &pos) != HASH_INDEX_NONE)
		return 0;
	if (l->key_count >= UINT32_MAX - 1)
		return -EOVERFLOW;
	err = vec_reserve(&l->keys, &l->key_capacity, l->key_count + 1);
	if (!err)
		err = add_part(l, later->frames, later->count, &key.part);
	if (err)
		return err;
	hash_index_put(&l->key_index, hash_of(l, tid, later->cookie), pos, (uint32_t)l->key_count);
	l->keys[l->key_count++] = key;
	return 0;
}

void deferred_chains_done(struct deferred_chains *l)
{
	free(l->words);
	free(l->parts);
	free(l->keys);
	hash_index_done(&l->part_index);
	hash_index_done(&l->key_index);
	*l = (struct deferred_chains){ 0 };
}

/* Where the marker is, if a cookie follows; chain_count: nowhere. */
static size_t find_marker(const struct perf_sample *s)
{
	for (size_t i = 0; i + 1 < s->chain_count; i++)
		if (le64_load(s->chain + 8 * i) == CALLCHAIN_USER_DEFERRED)
			return i;
	return s->chain_count;
}

int deferred_chains_join(const struct deferred_chains *l, struct perf_sample *sample,
			 struct deferred_chains_room *room)
{
	size_t at = find_marker(sample), rest;
	const struct deferred_chains_part *part;
	uint32_t key, pos;
	uint64_t *out;

	if (at == sample->chain_count || !l->key_count)
		return 0;
	key = find(l, sample->tid, le64_load(sample->chain + 8 * at + 8), &pos);
	if (key == HASH_INDEX_NONE)
		return 0;
	part = &l->parts[l->keys[key].part];
	rest = sample->chain_count - at - 2;
	if (vec_reserve(&room->words, &room->capacity, at + 1 + part->count + rest))
		return -ENOMEM;
	out = room->words;
	memcpy(out, sample->chain, 8 * at);
	out[at] = PERF_CONTEXT_USER;
	memcpy(out + at + 1, l->words + part->first_word, 8 * (size_t)part->count);
	memcpy(out + at + 1 + part->count, sample->chain + 8 * (at + 2), 8 * rest);
	sample->chain = (const uint8_t *)out;
	sample->chain_count = at + 1 + part->count + rest;
	return 0;
}
