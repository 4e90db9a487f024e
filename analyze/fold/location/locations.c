/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/fold/location/locations.h"

#include "format/base/radix_sort.h"
#include "format/base/vec.h"

static bool equal(const struct location *a, const struct location *b)
{
	return a->offset == b->offset && a->file == b->file && a->kind == b->kind &&
	       a->is_return == b->is_return;
}

int locations_add_hashed(struct locations *p, const struct location *place, uint64_t hash,
			 uint32_t *out)
{
	uint32_t pos, id;
	int err;

	err = hash_index_reserve(&p->index);
	if (err)
		return err;
	pos = hash_index_start(&p->index, hash);
	while ((id = hash_index_match(&p->index, hash, &pos)) != HASH_INDEX_NONE) {
		if (equal(&p->list[id], place)) {
			*out = id;
			return 0;
		}
	}
	if (p->count >= UINT32_MAX - 1)
		return -EOVERFLOW;
	err = vec_reserve(&p->list, &p->capacity, p->count + 1);
	if (err)
		return err;
	id = (uint32_t)p->count++;
	p->list[id] = *place;
	hash_index_put(&p->index, hash, pos, id);
	*out = id;
	return 0;
}

#define FETCH_AHEAD 16
#define LOOK_AHEAD  8

int locations_merge(struct locations *p, const struct locations *from, uint32_t *numbers)
{
	uint64_t hashes[FETCH_AHEAD] = { 0 };
	int err = 0;

	for (size_t i = 0; !err && i < from->count + FETCH_AHEAD; i++) {
		size_t add = i - FETCH_AHEAD, look = i - LOOK_AHEAD;

		if (i >= FETCH_AHEAD)
			err = locations_add_hashed(p, &from->list[add], hashes[add % FETCH_AHEAD],
						   &numbers[add]);
		if (i < from->count) {
			hashes[i % FETCH_AHEAD] = locations_hash(&p->key, &from->list[i]);
			locations_fetch(p, hashes[i % FETCH_AHEAD]);
		}
		if (look < from->count)
			locations_look(p, hashes[look % FETCH_AHEAD]);
	}
	return err;
}

#define OFFSET_BITS 40 /* where offsets have more, the order is less perfect */

/*
 * Locations without file and offset come first, by kind; then the kernel; then files, and code that
 * it made.
 */
static uint64_t order_of(const struct location *p)
{
	bool in_file = p->kind == LOCATION_FILE || p->kind == LOCATION_KSYMBOL;
	uint64_t offset = in_file || p->kind == LOCATION_KERNEL ? p->offset : p->kind;

	offset &= ((uint64_t)1 << OFFSET_BITS) - 1;
	return (in_file ? (uint64_t)p->file + 1 : 0) << (OFFSET_BITS + 1) | offset << 1 |
	       p->is_return;
}

int locations_sort(struct locations *p, uint32_t *numbers)
{
	struct radix_item *order = calloc(p->count + 1, sizeof(*order));
	struct location *list = calloc(p->count + 1, sizeof(*list));
	int err = order && list ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < p->count; i++)
		order[i] = (struct radix_item){ order_of(&p->list[i]), (uint32_t)i };
	if (!err)
		err = radix_sort(&order, p->count);
	for (size_t i = 0; !err && i < p->count; i++) {
		list[i] = p->list[order[i].value];
		numbers[order[i].value] = (uint32_t)i;
	}
	if (!err) {
		free(p->list);
		p->list = list;
		p->capacity = p->count + 1;
		list = NULL;
	}
	free(list);
	free(order);
	return err;
}

void locations_finish(struct locations *p)
{
	hash_index_done(&p->index);
}

void locations_done(struct locations *p)
{
	free(p->list);
	hash_index_done(&p->index);
	*p = (struct locations){ 0 };
}
