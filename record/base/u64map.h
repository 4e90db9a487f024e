/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * u64map - a hash table from a pair of numbers to a number
 *
 * For what the recorder has to recognise quickly: files by device and inode, processes by id.  A
 * zeroed struct is an empty map.
 */
#ifndef EBPREC_RECORD_BASE_U64MAP_H
#define EBPREC_RECORD_BASE_U64MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/base/hash.h"

struct u64map_slot {
	uint64_t a, b;
	uint32_t value;
	uint8_t state; /* empty, used, hole */
};

struct u64map {
	struct u64map_slot *slots;
	size_t slot_count;
	size_t taken_count; /* slots that are not empty: keys and holes */
	size_t key_count;
	struct hash_key key; /* drawn with the first slots */
};

void u64map_done(struct u64map *m);
/* The value's place, or NULL.  Borrowed until the next u64map_put(). */
uint32_t *u64map_get(const struct u64map *m, uint64_t a, uint64_t b);
/* Sets or replaces.  -ENOMEM; no random key. */
int u64map_put(struct u64map *m, uint64_t a, uint64_t b, uint32_t value);
/* The first key from place *at on, which is moved behind it; NULL: there is none.  Begin with 0.  In no order. */
const struct u64map_slot *u64map_next(const struct u64map *m, size_t *at);
void u64map_remove(struct u64map *m, uint64_t a, uint64_t b);

#endif
