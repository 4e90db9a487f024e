/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/base/string_table.h"

#include <assert.h>

#include "analyze/base/arena.h"
#include "format/base/hash_index.h"
#include "format/base/vec.h"

struct entry {
	const char *text;
	size_t size_bytes;
};

struct string_table {
	struct arena arena;
	struct hash_index index;
	struct entry *entries;
	size_t count, capacity;
};

int string_table_new(struct string_table **out)
{
	struct string_table *s = calloc(1, sizeof(*s));
	uint32_t empty;
	int err;

	if (!s)
		return -ENOMEM;
	err = string_table_add(s, "", 0, &empty);
	if (err) {
		string_table_free(s);
		return err;
	}
	*out = s;
	return 0;
}

void string_table_free(struct string_table *s)
{
	if (!s)
		return;
	arena_done(&s->arena);
	hash_index_done(&s->index);
	free(s->entries);
	free(s);
}

static uint32_t find(const struct string_table *s, const char *text, size_t size_bytes,
		     uint64_t hash, uint32_t *pos)
{
	uint32_t id;

	while ((id = hash_index_match(&s->index, hash, pos)) != HASH_INDEX_NONE)
		if (s->entries[id].size_bytes == size_bytes &&
		    !memcmp(s->entries[id].text, text, size_bytes))
			return id;
	return HASH_INDEX_NONE;
}

int string_table_add(struct string_table *s, const char *text, size_t size_bytes, uint32_t *out)
{
	uint32_t pos, id;
	uint64_t hash;
	char *copy;
	int err;

	err = hash_index_reserve(&s->index);
	if (err)
		return err;
	hash = hash_index_bytes(&s->index, text, size_bytes);
	pos = hash_index_start(&s->index, hash);
	id = find(s, text, size_bytes, hash, &pos);
	if (id != HASH_INDEX_NONE) {
		*out = id;
		return 0;
	}
	if (s->count >= UINT32_MAX - 1)
		return -EOVERFLOW;
	err = vec_reserve(&s->entries, &s->capacity, s->count + 1);
	if (err)
		return err;
	copy = arena_bytes(&s->arena, size_bytes + 1);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, text, size_bytes);
	copy[size_bytes] = '\0';
	id = (uint32_t)s->count++;
	s->entries[id] = (struct entry){ .text = copy, .size_bytes = size_bytes };
	hash_index_put(&s->index, hash, pos, id);
	*out = id;
	return 0;
}

uint32_t string_table_find(const struct string_table *s, const char *text)
{
	size_t size_bytes = strlen(text);
	uint64_t hash = hash_index_bytes(&s->index, text, size_bytes);
	uint32_t pos = hash_index_start(&s->index, hash);

	return find(s, text, size_bytes, hash, &pos);
}

const char *string_table_text(const struct string_table *s, uint32_t id)
{
	assert(id < s->count);
	return s->entries[id].text;
}

size_t string_table_bytes(const struct string_table *s, uint32_t id)
{
	assert(id < s->count);
	return s->entries[id].size_bytes;
}

uint32_t string_table_count(const struct string_table *s)
{
	return (uint32_t)s->count;
}
