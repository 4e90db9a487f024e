/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/metric/containers.h"

#include "format/base/vec.h"

static int name_of(const struct containers *c, const struct process_model *model,
		   struct string_table *names, uint64_t cgroup, uint32_t *out)
{
	uint32_t path = model ? process_model_cgroup(model, cgroup) : PROCESS_MODEL_NONE;
	char container[CONTAINER_NAMES_TEXT_MAX];

	*out = PROCESS_MODEL_NONE;
	if (path == PROCESS_MODEL_NONE)
		return 0;
	container_names_text(c->known, string_table_text(names, path), container);
	if (!*container)
		strcpy(container, CONTAINERS_HOST);
	return string_table_add(names, container, strlen(container), out);
}

/* The first entry of that name, or the new one itself. */
static int join(struct containers *c, uint32_t name, uint32_t fresh, uint64_t *first)
{
	uint32_t pos, id;
	uint64_t hash;

	if (name == PROCESS_MODEL_NONE)
		return 0;
	if (hash_index_reserve(&c->by_name))
		return -ENOMEM;
	hash = hash_index_pair(&c->by_name, name, 0);
	pos = hash_index_start(&c->by_name, hash);
	while ((id = hash_index_match(&c->by_name, hash, &pos)) != HASH_INDEX_NONE) {
		if (c->entries[id].name == name) {
			*first = c->entries[id].cgroup;
			return 0;
		}
	}
	hash_index_put(&c->by_name, hash, pos, fresh);
	return 0;
}

int containers_first(struct containers *c, const struct process_model *model,
		     struct string_table *names, uint64_t cgroup, uint64_t *out)
{
	struct containers_entry fresh = { .cgroup = cgroup, .first = cgroup };
	uint32_t pos, id;
	uint64_t hash;
	int err;

	if (hash_index_reserve(&c->by_cgroup))
		return -ENOMEM;
	hash = hash_index_pair(&c->by_cgroup, cgroup, 0);
	pos = hash_index_start(&c->by_cgroup, hash);
	while ((id = hash_index_match(&c->by_cgroup, hash, &pos)) != HASH_INDEX_NONE) {
		if (c->entries[id].cgroup == cgroup) {
			*out = c->entries[id].first;
			return 0;
		}
	}
	if (c->count >= HASH_INDEX_NONE - 1)
		return -EOVERFLOW;
	if (vec_reserve(&c->entries, &c->capacity, c->count + 1))
		return -ENOMEM;
	err = name_of(c, model, names, cgroup, &fresh.name);
	if (!err)
		err = join(c, fresh.name, (uint32_t)c->count, &fresh.first);
	if (err)
		return err;
	hash_index_put(&c->by_cgroup, hash, pos, (uint32_t)c->count);
	c->entries[c->count++] = fresh;
	*out = fresh.first;
	return 0;
}

void containers_done(struct containers *c)
{
	free(c->entries);
	hash_index_done(&c->by_cgroup);
	hash_index_done(&c->by_name);
	*c = (struct containers){ 0 };
}
