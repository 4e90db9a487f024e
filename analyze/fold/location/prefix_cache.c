/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/fold/location/prefix_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/process/process_model.h"
#include "format/base/cursor.h"

#define SPACES 256u

struct prefix_cache {
	struct prefix list[SPACES];
};

int prefix_cache_new(struct prefix_cache **out)
{
	struct prefix_cache *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	*out = t;
	return 0;
}

void prefix_cache_free(struct prefix_cache *t)
{
	free(t);
}

struct prefix *prefix_cache_of(struct prefix_cache *t, const struct callchain_run *run,
			       uint32_t root)
{
	struct prefix *prefix = &t->list[run->space % SPACES];

	if (run->space == PROCESS_MODEL_NONE)
		return NULL;
	if (prefix->space != run->space || prefix->root != root || prefix->kind != run->kind) {
		prefix->space = run->space;
		prefix->root = root;
		prefix->kind = run->kind;
		prefix->count = 0;
	}
	return prefix;
}

static uint64_t word_before(const uint8_t *end, size_t i)
{
	return le64_load(end - 8 * (i + 1));
}

/* How many of the last count words before two ends are equal, from there on.  Mostly nearly all are. */
static size_t count_equal(const uint8_t *a, const uint8_t *b, size_t count)
{
	size_t i = 0;

	for (; i + 4 <= count; i += 4)
		if ((word_before(a, i) ^ word_before(b, i)) |
		    (word_before(a, i + 1) ^ word_before(b, i + 1)) |
		    (word_before(a, i + 2) ^ word_before(b, i + 2)) |
		    (word_before(a, i + 3) ^ word_before(b, i + 3)))
			break;
	while (i < count && word_before(a, i) == word_before(b, i))
		i++;
	return i;
}

/* How many of its callers a run leaves. */
static size_t retained_of(const struct callchain_run *run)
{
	size_t callers = run->count - 1;

	return callers < PREFIX_CACHE_FRAMES ? callers : PREFIX_CACHE_FRAMES;
}

size_t prefix_follow(struct prefix *prefix, const struct callchain_run *run)
{
	size_t retained = retained_of(run),
	       known = prefix->count < retained ? prefix->count : retained;

	known = count_equal((const uint8_t *)(prefix->addrs + PREFIX_CACHE_FRAMES),
			    run->frames + 8 * run->count, known);
	memcpy(prefix->addrs + PREFIX_CACHE_FRAMES - retained,
	       run->frames + 8 * (run->count - retained),
	       (retained - known) * sizeof(*prefix->addrs));
	prefix->count = (uint32_t)retained;
	return known;
}

void prefix_take(const struct prefix *prefix, size_t known, uint64_t *paths)
{
	memcpy(paths, prefix->paths, known * sizeof(*paths));
}

void prefix_leave(struct prefix *prefix, const struct callchain_run *run, const uint64_t *paths,
		  size_t known)
{
	memcpy(prefix->paths + known, paths + known, (retained_of(run) - known) * sizeof(*paths));
}
