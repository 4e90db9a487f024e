/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/base/rangealloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/base/lower_bound.h"
#include "format/base/vec.h"

void rangealloc_done(struct rangealloc *e)
{
	free(e->free);
	*e = (struct rangealloc){ 0 };
}

static void drop(struct rangealloc *e, size_t i)
{
	memmove(e->free + i, e->free + i + 1, (--e->count - i) * sizeof(*e->free));
}

int rangealloc_take(struct rangealloc *e, uint32_t count, uint32_t *at)
{
	size_t i;

	if (!count)
		return -EINVAL;
	if (count > e->free_total)
		return -ENOSPC;
	for (i = 0; i < e->count && e->free[i].count < count; i++)
		;
	if (i == e->count)
		return -ENOSPC;
	*at = e->free[i].at;
	e->free[i].at += count;
	e->free[i].count -= count;
	e->free_total -= count;
	if (!e->free[i].count)
		drop(e, i);
	return 0;
}

/* The first extent behind `at`. */
static size_t place_of(const struct rangealloc *e, uint32_t at)
{
	return lower_bound(i, 0, e->count, e->free[i].at < at);
}

static int insert(struct rangealloc *e, size_t i, uint32_t at, uint32_t count)
{
	struct extent *p;

	if (vec_reserve(&e->free, &e->room, e->count + 1))
		return -ENOMEM;
	p = e->free;
	memmove(p + i + 1, p + i, (e->count++ - i) * sizeof(*p));
	p[i] = (struct extent){ .at = at, .count = count };
	return 0;
}

int rangealloc_give(struct rangealloc *e, uint32_t at, uint32_t count)
{
	size_t i = place_of(e, at);
	struct extent *before = i ? &e->free[i - 1] : NULL;
	struct extent *after = i < e->count ? &e->free[i] : NULL;
	int err = 0;

	if (!count || at + count < at || (before && before->at + before->count > at) ||
	    (after && at + count > after->at))
		return -EINVAL;
	if (before && before->at + before->count == at) {
		before->count += count;
		if (after && at + count == after->at) {
			before->count += after->count;
			drop(e, i);
		}
	} else if (after && at + count == after->at) {
		after->at = at;
		after->count += count;
	} else {
		err = insert(e, i, at, count);
	}
	if (!err)
		e->free_total += count;
	return err;
}
