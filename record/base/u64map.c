/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/base/u64map.h"

#include <errno.h>
#include <stdlib.h>

enum { SLOT_EMPTY, SLOT_USED, SLOT_HOLE };

void u64map_done(struct u64map *m)
{
	free(m->slots);
	*m = (struct u64map){ 0 };
}

static size_t start_of(const struct u64map *m, uint64_t a, uint64_t b)
{
	return hash_pair(&m->key, a, b) & (m->slot_count - 1);
}

static struct u64map_slot *find(const struct u64map *m, uint64_t a, uint64_t b)
{
	size_t i;

	if (!m->slot_count)
		return NULL;
	for (i = start_of(m, a, b); m->slots[i].state != SLOT_EMPTY;
	     i = (i + 1) & (m->slot_count - 1)) {
		if (m->slots[i].state == SLOT_USED && m->slots[i].a == a && m->slots[i].b == b)
			return &m->slots[i];
	}
	return NULL;
}

uint32_t *u64map_get(const struct u64map *m, uint64_t a, uint64_t b)
{
	struct u64map_slot *slot = find(m, a, b);

	return slot ? &slot->value : NULL;
}

/* There is always an empty slot, and (a, b) is not in the map. */
static void insert(struct u64map *m, uint64_t a, uint64_t b, uint32_t value)
{
	size_t i = start_of(m, a, b);

	while (m->slots[i].state == SLOT_USED)
		i = (i + 1) & (m->slot_count - 1);
	if (m->slots[i].state == SLOT_EMPTY)
		m->taken_count++;
	m->key_count++;
	m->slots[i] = (struct u64map_slot){ .a = a, .b = b, .value = value, .state = SLOT_USED };
}

/* Moves the keys into a fresh table: a larger one, unless it is the holes that fill this one. */
static int make_room(struct u64map *m)
{
	struct u64map bigger = { .slot_count = m->key_count * 2 < m->slot_count ? m->slot_count
					       : m->slot_count                  ? m->slot_count * 2
										: 64,
				 .key = m->key };
	int err = m->slot_count ? 0 : hash_key_new(&bigger.key);
	size_t i;

	if (err)
		return err;
	bigger.slots = calloc(bigger.slot_count, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (i = 0; i < m->slot_count; i++) {
		if (m->slots[i].state == SLOT_USED)
			insert(&bigger, m->slots[i].a, m->slots[i].b, m->slots[i].value);
	}
	free(m->slots);
	*m = bigger;
	return 0;
}

int u64map_put(struct u64map *m, uint64_t a, uint64_t b, uint32_t value)
{
	struct u64map_slot *slot = find(m, a, b);
	int err;

	if (slot) {
		slot->value = value;
		return 0;
	}
	if (m->taken_count * 4 >= m->slot_count * 3) {
		err = make_room(m);
		if (err)
			return err;
	}
	insert(m, a, b, value);
	return 0;
}

const struct u64map_slot *u64map_next(const struct u64map *m, size_t *at)
{
	while (*at < m->slot_count) {
		const struct u64map_slot *slot = &m->slots[(*at)++];

		if (slot->state == SLOT_USED)
			return slot;
	}
	return NULL;
}

void u64map_remove(struct u64map *m, uint64_t a, uint64_t b)
{
	struct u64map_slot *slot = find(m, a, b);

	if (!slot)
		return;
	slot->state = SLOT_HOLE;
	m->key_count--;
}
