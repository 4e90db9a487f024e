/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/metric/containers.h"

#include "format/base/vec.h"

static int name_of(const struct containers *c, const struct model *model, struct strings *names,
		   uint64_t cgroup, uint32_t *out)
{
	uint32_t path = model ? model_cgroup(model, cgroup) : MODEL_NONE;
	char container[CONTAINERNAMES_TEXT_MAX];

	*out = MODEL_NONE;
	if (path == MODEL_NONE)
		return 0;
	containernames_text(c->known, strings_text(names, path), container);
	if (!*container)
		strcpy(container, CONTAINERS_HOST);
	return strings_add(names, container, strlen(container), out);
}

/* The first entry of that name, or the new one itself. */
static int join(struct containers *c, uint32_t name, uint32_t fresh, uint64_t *first)
{
	uint32_t pos, id;
	uint64_t hash;

	if (name == MODEL_NONE)
		return 0;
	if (hashidx_reserve(&c->by_name))
		return -ENOMEM;
	hash = hashidx_pair(&c->by_name, name, 0);
	pos = hashidx_start(&c->by_name, hash);
	while ((id = hashidx_match(&c->by_name, hash, &pos)) != HASHIDX_NONE) {
		if (c->entries[id].name == name) {
			*first = c->entries[id].cgroup;
			return 0;
		}
	}
	hashidx_put(&c->by_name, hash, pos, fresh);
	return 0;
}

int containers_first(struct containers *c, const struct model *model, struct strings *names,
		     uint64_t cgroup, uint64_t *out)
{
	struct containers_entry fresh = { .cgroup = cgroup, .first = cgroup };
	uint32_t pos, id;
	uint64_t hash;
	int err;

	if (hashidx_reserve(&c->by_cgroup))
		return -ENOMEM;
	hash = hashidx_pair(&c->by_cgroup, cgroup, 0);
	pos = hashidx_start(&c->by_cgroup, hash);
	while ((id = hashidx_match(&c->by_cgroup, hash, &pos)) != HASHIDX_NONE) {
		if (c->entries[id].cgroup == cgroup) {
			*out = c->entries[id].first;
			return 0;
		}
	}
	if (c->count >= HASHIDX_NONE - 1)
		return -EOVERFLOW;
	if (vec_reserve(&c->entries, &c->capacity, c->count + 1))
		return -ENOMEM;
	err = name_of(c, model, names, cgroup, &fresh.name);
	if (!err)
		err = join(c, fresh.name, (uint32_t)c->count, &fresh.first);
	if (err)
		return err;
	hashidx_put(&c->by_cgroup, hash, pos, (uint32_t)c->count);
	c->entries[c->count++] = fresh;
	*out = fresh.first;
	return 0;
}

void containers_done(struct containers *c)
{
	free(c->entries);
	hashidx_done(&c->by_cgroup);
	hashidx_done(&c->by_name);
	*c = (struct containers){ 0 };
}
