/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/fold/groups.h"

#include <pthread.h>
#include <string.h>

#include "format/base/hash_index.h"
#include "format/base/vec.h"

struct groups {
	struct groups_key key;
	pthread_mutex_t lock;
	struct group *list;
	size_t count, capacity;
	struct hash_index index;
};

_Static_assert(sizeof(struct group) == 40, "compared as bytes: no holes");

int groups_new(unsigned fields, uint64_t quantum_ns, struct groups **out)
{
	struct groups *g = calloc(1, sizeof(*g));

	if (!g)
		return -ENOMEM;
	g->key = (struct groups_key){ fields, quantum_ns };
	pthread_mutex_init(&g->lock, NULL);
	*out = g;
	return 0;
}

void groups_free(struct groups *g)
{
	if (!g)
		return;
	pthread_mutex_destroy(&g->lock);
	hash_index_done(&g->index);
	free(g->list);
	free(g);
}

struct groups_key groups_key(const struct groups *g)
{
	return g->key;
}

static int add(struct groups *g, const struct group *group, uint32_t *out)
{
	uint64_t hash;
	uint32_t pos, id;
	int err;

	err = hash_index_reserve(&g->index);
	if (err)
		return err;
	hash = hash_index_bytes(&g->index, group, sizeof(*group));
	pos = hash_index_start(&g->index, hash);
	while ((id = hash_index_match(&g->index, hash, &pos)) != HASH_INDEX_NONE) {
		if (!memcmp(&g->list[id], group, sizeof(*group))) {
			*out = id;
			return 0;
		}
	}
	if (g->count >= UINT32_MAX - 1)
		return -EOVERFLOW;
	err = vec_reserve(&g->list, &g->capacity, g->count + 1);
	if (err)
		return err;
	id = (uint32_t)g->count++;
	g->list[id] = *group;
	hash_index_put(&g->index, hash, pos, id);
	*out = id;
	return 0;
}

int groups_add(struct groups *g, const struct group *group, uint32_t *out)
{
	struct group trimmed = *group;
	int err;

	groups_trim(&g->key, &trimmed);
	pthread_mutex_lock(&g->lock);
	err = add(g, &trimmed, out);
	pthread_mutex_unlock(&g->lock);
	return err;
}

struct group *groups_list(struct groups *g, size_t *count)
{
	*count = g->count;
	return g->list;
}
