/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sym/symtab/demangle_cache.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "analyze/sym/symtab/demangle.h"

void demangle_cache_done(struct demangle_cache *c)
{
	for (size_t i = 0; i < c->slot_count; i++)
		free(c->slots[i].printed);
	free(c->slots);
	*c = (struct demangle_cache){ 0 };
}

static struct demangle_cache_slot *find(const struct demangle_cache *c, const char *raw)
{
	size_t i = hash_pair(&c->key, (uintptr_t)raw, 0) & (c->slot_count - 1);

	while (c->slots[i].raw && c->slots[i].raw != raw)
		i = (i + 1) & (c->slot_count - 1);
	return &c->slots[i];
}

static int grow(struct demangle_cache *c)
{
	struct demangle_cache bigger = { .slot_count = c->slot_count ? 2 * c->slot_count : 256 };
	int err = c->slot_count ? 0 : hash_key_new(&c->key);

	if (err)
		return err;
	bigger.key = c->key;
	bigger.slots = calloc(bigger.slot_count, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < c->slot_count; i++)
		if (c->slots[i].raw)
			*find(&bigger, c->slots[i].raw) = c->slots[i];
	free(c->slots);
	c->slots = bigger.slots;
	c->slot_count = bigger.slot_count;
	return 0;
}

const char *demangle_cache_get(struct demangle_cache *c, const char *raw)
{
	struct demangle_cache_slot *s;

	if (c->count >= c->slot_count / 2 && grow(c))
		return raw;
	s = find(c, raw);
	if (!s->raw) {
		*s = (struct demangle_cache_slot){ raw, demangle(raw) };
		c->count++;
	}
	return s->printed ? s->printed : raw;
}
