/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/fold/mapping_cache.h"

#include <stdlib.h>

#define SPACES 512u

struct mapcache {
	const struct model *model;
	struct codeparts_set *parts; /* NULL: none */
	struct mapcache_space spaces[SPACES];
};

int mapcache_new(const struct model *model, struct codeparts_set *parts, struct mapcache **out)
{
	struct mapcache *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->model = model;
	c->parts = parts;
	*out = c;
	return 0;
}

void mapcache_free(struct mapcache *c)
{
	free(c);
}

struct mapcache_space *mapcache_of(struct mapcache *c, uint32_t space)
{
	struct mapcache_space *of = &c->spaces[space % SPACES];

	if (of->key != space + 1)
		*of = (struct mapcache_space){ .key = space + 1 };
	return of;
}

const struct mapcache_range *mapcache_find(struct mapcache *c, struct mapcache_space *of,
					   const struct chaincut_run *run, uint64_t addr)
{
	struct mapcache_range *range;
	const struct model_file *file;
	struct model_map map;

	for (size_t i = 0; i < MAPCACHE_RANGES; i++)
		if (addr - of->ranges[i].start < of->ranges[i].size_bytes)
			return &of->ranges[i];
	if (!model_map_at(c->model, run->space, addr, &map))
		return NULL;
	file = model_file(c->model, map.file);
	range = &of->ranges[of->next++ % MAPCACHE_RANGES];
	*range = (struct mapcache_range){
		.start = map.start,
		.size_bytes = map.end - map.start,
		.shift = map.file_off_bytes - map.start,
		.file = map.file,
		.is_ksymbol = file->is_ksymbol,
	};
	if (c->parts)
		range->parts = codeparts_of(c->parts, run->kind == PLACE_KERNEL ? CODEPARTS_KERNEL
										: map.file);
	return range;
}
