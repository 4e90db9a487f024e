/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/fold/location/symbol_buckets.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define FEW_PARTS    4u /* of a bucket: all are looked at, which takes no branch to be guessed */
#define BUCKETS_EACH 4u /* for each bound, at most: mostly a bucket then lies in one part */

/* ---- one file ---- */

/* Buckets so large that there are not many more of them than bounds. */
static int make_buckets(struct symbol_buckets_region *r, size_t count)
{
	uint32_t part = 0;
	size_t buckets;

	while (r->size_bytes >> r->shift >= BUCKETS_EACH * count)
		r->shift++;
	buckets = (size_t)((r->size_bytes - 1) >> r->shift) + 1;
	r->buckets = calloc(buckets + 1, sizeof(*r->buckets));
	if (!r->buckets)
		return -ENOMEM;
	for (size_t i = 0; i < buckets; i++) {
		while (r->bounds[part + 1] <= (uint64_t)i << r->shift)
			part++;
		r->buckets[i] = (struct symbol_buckets_bucket){ r->bounds[part], part };
	}
	r->buckets[buckets] = (struct symbol_buckets_bucket){ r->bounds[count - 1],
							      (uint32_t)count - 1 };
	return 0;
}

static int make_region(const uint64_t *bounds, size_t count, struct symbol_buckets_region *r)
{
	r->first = bounds[0];
	r->size_bytes = bounds[count - 1] - bounds[0];
	if (r->size_bytes > UINT32_MAX || count > UINT32_MAX)
		return -ERANGE;
	r->bounds = reallocarray(NULL, count + FEW_PARTS, sizeof(*r->bounds));
	if (!r->bounds)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		r->bounds[i] = (uint32_t)(bounds[i] - r->first);
	for (size_t i = count; i < count + FEW_PARTS; i++)
		r->bounds[i] = UINT32_MAX;
	return make_buckets(r, count);
}

int symbol_buckets_make(const uint64_t *bounds, size_t count, struct symbol_buckets *out)
{
	struct symbol_buckets c = { .region_count = 0 };
	size_t end;
	int err = 0;

	for (size_t i = 0; !err && i < count; i = end) {
		for (end = i + 1; end < count; end++)
			if (bounds[end] - bounds[end - 1] > SYMBOL_BUCKETS_GAP_BYTES)
				break;
		if (end - i < 2)
			continue;
		if (c.region_count == SYMBOL_BUCKETS_REGIONS)
			err = -ERANGE;
		else
			err = make_region(bounds + i, end - i, &c.regions[c.region_count++]);
	}
	if (err) {
		symbol_buckets_done(&c);
		return err;
	}
	*out = c;
	return 0;
}

void symbol_buckets_done(struct symbol_buckets *c)
{
	for (size_t i = 0; i < c->region_count; i++) {
		free(c->regions[i].bounds);
		free(c->regions[i].buckets);
	}
	*c = (struct symbol_buckets){ .region_count = 0 };
}

/* The part of the bucket that has the address. */
static uint32_t part_at(const struct symbol_buckets_range *range, uint32_t rel)
{
	const uint32_t *bounds = range->region->bounds;
	uint32_t low = range->bucket[0].part, high = range->bucket[1].part;

	while (high - low > FEW_PARTS) {
		uint32_t mid = low + (high - low) / 2;

		if (bounds[mid] <= rel)
			low = mid;
		else
			high = mid - 1;
	}
	/* No part behind high begins at or before rel, so it does not matter that there may be fewer. */
	_Static_assert(FEW_PARTS == 4, "this is all of them");
	return low + (bounds[low + 1] <= rel) + (bounds[low + 2] <= rel) +
	       (bounds[low + 3] <= rel) + (bounds[low + 4] <= rel);
}

void symbol_buckets_search(const struct symbol_buckets_range *range, struct location *place)
{
	const struct symbol_buckets_region *r = range->region;
	uint64_t addr = symbol_buckets_addr(place);
	uint32_t part = part_at(range, (uint32_t)(addr - r->first));

	if (addr != place->offset && r->first + r->bounds[part + 1] == place->offset)
		return;
	place->offset = r->first + r->bounds[part];
	place->is_return = false;
}

/* ---- all files ---- */

enum { NOT_READ, HAS_PARTS, HAS_NONE };

struct symbol_buckets_set {
	symbol_buckets_read_fn read;
	void *arg;
	uint32_t file_count;
	struct symbol_buckets *files; /* the last one is the kernel */
	uint8_t *states;
	pthread_mutex_t lock;
};

int symbol_buckets_set_new(uint32_t file_count, symbol_buckets_read_fn read, void *arg,
			   struct symbol_buckets_set **out)
{
	struct symbol_buckets_set *s = calloc(1, sizeof(*s));
	size_t count = (size_t)file_count + 1;

	if (!s)
		return -ENOMEM;
	*s = (struct symbol_buckets_set){ .read = read, .arg = arg, .file_count = file_count };
	s->files = calloc(count, sizeof(*s->files));
	s->states = calloc(count, sizeof(*s->states));
	if (!s->files || !s->states || pthread_mutex_init(&s->lock, NULL)) {
		free(s->files);
		free(s->states);
		free(s);
		return -ENOMEM;
	}
	*out = s;
	return 0;
}

void symbol_buckets_set_free(struct symbol_buckets_set *s)
{
	if (!s)
		return;
	for (size_t i = 0; i <= s->file_count; i++)
		symbol_buckets_done(&s->files[i]);
	pthread_mutex_destroy(&s->lock);
	free(s->files);
	free(s->states);
	free(s);
}

static uint8_t read_file(struct symbol_buckets_set *s, uint32_t file, struct symbol_buckets *out)
{
	uint64_t *bounds = NULL;
	size_t count = 0;
	int err = s->read(s->arg, file, &bounds, &count);

	if (!err)
		err = symbol_buckets_make(bounds, count, out);
	free(bounds);
	return err ? HAS_NONE : HAS_PARTS;
}

const struct symbol_buckets *symbol_buckets_of(struct symbol_buckets_set *s, uint32_t file)
{
	uint32_t at = file == SYMBOL_BUCKETS_KERNEL ? s->file_count : file;
	uint8_t state;

	if (file >= s->file_count && file != SYMBOL_BUCKETS_KERNEL)
		return NULL;
	pthread_mutex_lock(&s->lock);
	if (s->states[at] == NOT_READ)
		s->states[at] = read_file(s, file, &s->files[at]);
	state = s->states[at];
	pthread_mutex_unlock(&s->lock);
	return state == HAS_PARTS ? &s->files[at] : NULL;
}
