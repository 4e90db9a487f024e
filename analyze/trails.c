/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/trails.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/model.h"
#include "format/cursor.h"

#define SPACES 256u

struct trails {
	struct trail list[SPACES];
};

int trails_new(struct trails **out)
{
	struct trails *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	*out = t;
	return 0;
}

void trails_free(struct trails *t)
{
	free(t);
}

struct trail *trails_of(struct trails *t, const struct chaincut_run *run, uint32_t root)
{
	struct trail *trail = &t->list[run->space % SPACES];

	if (run->space == MODEL_NONE)
		return NULL;
	if (trail->space != run->space || trail->root != root || trail->kind != run->kind) {
		trail->space = run->space;
		trail->root = root;
		trail->kind = run->kind;
		trail->count = 0;
	}
	return trail;
}

static uint64_t from_outside(const struct chaincut_run *run, size_t i)
{
	return le64_load(run->frames + 8 * (run->count - 1 - i));
}

size_t trail_follow(const struct trail *trail, const struct chaincut_run *run, uint64_t *paths)
{
	size_t i = 0;

	for (; i < trail->count && i + 1 < run->count; i++) {
		if (trail->addrs[i] != from_outside(run, i))
			break;
		paths[i] = trail->paths[i];
	}
	return i;
}

void trail_leave(struct trail *trail, const struct chaincut_run *run, const uint64_t *paths,
		 size_t known)
{
	size_t i = known;

	for (; i < TRAILS_FRAMES && i + 1 < run->count; i++) {
		trail->addrs[i] = from_outside(run, i);
		trail->paths[i] = paths[i];
	}
	trail->count = (uint32_t)i;
}
