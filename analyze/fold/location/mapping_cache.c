/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/fold/location/mapping_cache.h"

#include <stdlib.h>

#define SPACES 512u

struct mapping_cache {
	const struct process_model *model;
	struct symbol_buckets_set *parts; /* NULL: none */
	struct mapping_cache_space spaces[SPACES];
};

int mapping_cache_new(const struct process_model *model, struct symbol_buckets_set *parts,
		      struct mapping_cache **out)
{
	struct mapping_cache *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->model = model;
	c->parts = parts;
	*out = c;
	return 0;
}

void mapping_cache_free(struct mapping_cache *c)
{
	free(c);
}

struct mapping_cache_space *mapping_cache_of(struct mapping_cache *c, uint32_t space)
{
	struct mapping_cache_space *of = &c->spaces[space % SPACES];

	if (of->key != space + 1)
		*of = (struct mapping_cache_space){ .key = space + 1 };
	return of;
}

const struct mapping_cache_range *mapping_cache_find(struct mapping_cache *c,
						     struct mapping_cache_space *of,
						     const struct callchain_run *run, uint64_t addr)
{
	struct mapping_cache_range *range;
	const struct process_model_file *file;
	struct process_model_map map;

	for (size_t i = 0; i < MAPPING_CACHE_RANGES; i++)
		if (addr - of->ranges[i].start < of->ranges[i].size_bytes)
			return &of->ranges[i];
	if (!process_model_map_at(c->model, run->space, addr, &map))
		return NULL;
	file = process_model_file(c->model, map.file);
	range = &of->ranges[of->next++ % MAPPING_CACHE_RANGES];
	*range = (struct mapping_cache_range){
		.start = map.start,
		.size_bytes = map.end - map.start,
		.shift = map.file_off_bytes - map.start,
		.file = map.file,
		.is_ksymbol = file->is_ksymbol,
	};
	if (c->parts)
		range->parts = symbol_buckets_of(
			c->parts, run->kind == LOCATION_KERNEL ? SYMBOL_BUCKETS_KERNEL : map.file);
	return range;
}
