/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sym/dwarf/range_index.h"

#include "format/base/lower_bound.h"
#include "format/base/vec.h"

#define WALK_BACK 64 /* ranges that a look-up passes on its way to one that covers */

int range_index_add(struct range_index *r, uint64_t low, uint64_t high, uint32_t owner)
{
	int err;

	if (low >= high)
		return 0;
	err = vec_reserve(&r->list, &r->capacity, r->count + 1);
	if (!err)
		r->list[r->count++] = (struct code_range){ low, high, 0, owner };
	return err;
}

static int by_low(const void *va, const void *vb)
{
	const struct code_range *a = va, *b = vb;

	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;
	return a->owner < b->owner ? -1 : a->owner > b->owner;
}

void range_index_seal(struct range_index *r)
{
	uint64_t reach = 0;

	if (r->count > 1)
		qsort(r->list, r->count, sizeof(*r->list), by_low);
	for (size_t i = 0; i < r->count; i++) {
		if (r->list[i].high > reach)
			reach = r->list[i].high;
		r->list[i].reach = reach;
	}
}

const struct code_range *range_index_find(const struct range_index *r, uint64_t addr)
{
	size_t low = lower_bound(i, 0, r->count, r->list[i].low <= addr);

	for (size_t n = 0; low && r->list[low - 1].reach > addr && n < WALK_BACK; low--, n++)
		if (r->list[low - 1].high > addr)
			return &r->list[low - 1];
	return NULL;
}
