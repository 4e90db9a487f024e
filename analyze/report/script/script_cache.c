/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/report/script/script_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/base/arena.h"
#include "format/base/hash_index.h"
#include "format/base/vec.h"

#define SLOT_COUNT (1u << 15)

struct text {
	struct script_cache_place place;
	const char *text; /* in the arena */
	size_t size_bytes;
};

struct slot {
	struct script_cache_key key;
	uint32_t size_bytes;
	const char *text; /* NULL: free */
};

struct script_cache {
	struct slot slots[SLOT_COUNT];
	struct text *texts;
	size_t count, capacity, used_bytes;
	struct hash_index index;
	struct arena arena;
};

int script_cache_new(struct script_cache **out)
{
	struct script_cache *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	*out = c;
	return 0;
}

void script_cache_free(struct script_cache *c)
{
	if (!c)
		return;
	free(c->texts);
	hash_index_done(&c->index);
	arena_done(&c->arena);
	free(c);
}

static size_t slot_of(const struct script_cache_key *key)
{
	return hash_fold(key->addr, (uint64_t)key->space << 32 | key->how) % SLOT_COUNT;
}

const char *script_cache_get(const struct script_cache *c, const struct script_cache_key *key,
			     size_t *size_bytes)
{
	const struct slot *s = &c->slots[slot_of(key)];

	if (!s->text || s->key.addr != key->addr || s->key.space != key->space ||
	    s->key.how != key->how)
		return NULL;
	*size_bytes = s->size_bytes;
	return s->text;
}

static uint64_t hash_of(const struct script_cache *c, const struct script_cache_place *p)
{
	return hash_index_pair(&c->index, hash_index_pair(&c->index, p->what, p->where), p->how);
}

static void remember(struct script_cache *c, const struct script_cache_key *key,
		     const struct text *t)
{
	c->slots[slot_of(key)] = (struct slot){ *key, (uint32_t)t->size_bytes, t->text };
}

const char *script_cache_find(struct script_cache *c, const struct script_cache_key *key,
			      const struct script_cache_place *place, size_t *size_bytes)
{
	uint64_t hash = hash_of(c, place);
	uint32_t id, pos = hash_index_start(&c->index, hash);

	while ((id = hash_index_match(&c->index, hash, &pos)) != HASH_INDEX_NONE) {
		const struct text *t = &c->texts[id];

		if (t->place.what != place->what || t->place.where != place->where ||
		    t->place.how != place->how)
			continue;
		remember(c, key, t);
		*size_bytes = t->size_bytes;
		return t->text;
	}
	return NULL;
}

static void forget(struct script_cache *c)
{
	memset(c->slots, 0, sizeof(c->slots));
	c->count = c->used_bytes = 0;
	hash_index_done(&c->index);
	arena_done(&c->arena);
}

void script_cache_add(struct script_cache *c, const struct script_cache_key *key,
		      const struct script_cache_place *place, const char *text, size_t size_bytes)
{
	size_t need_bytes = size_bytes + sizeof(struct text);
	uint64_t hash;
	uint32_t pos;
	char *copy;

	if (need_bytes > SCRIPT_CACHE_MAX_BYTES / 16)
		return;
	if (need_bytes > SCRIPT_CACHE_MAX_BYTES - c->used_bytes)
		forget(c);
	if (hash_index_reserve(&c->index) || vec_reserve(&c->texts, &c->capacity, c->count + 1))
		return;
	copy = arena_alloc(&c->arena, size_bytes + 1);
	if (!copy)
		return;
	memcpy(copy, text, size_bytes);
	hash = hash_of(c, place);
	pos = hash_index_start(&c->index, hash);
	while (hash_index_match(&c->index, hash, &pos) != HASH_INDEX_NONE)
		;
	hash_index_put(&c->index, hash, pos, (uint32_t)c->count);
	c->texts[c->count] = (struct text){ *place, copy, size_bytes };
	remember(c, key, &c->texts[c->count++]);
	c->used_bytes += need_bytes;
}
