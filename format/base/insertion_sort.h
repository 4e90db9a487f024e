/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * insertion_sort - addresses in order, which they mostly are already
 *
 * Locations are in order of file and offset before they are named, so hardly any has to move.
 */
#ifndef EBPREC_FORMAT_BASE_INSERTION_SORT_H
#define EBPREC_FORMAT_BASE_INSERTION_SORT_H

#include <stdint.h>
#include <stdlib.h>

#define INSERTION_SORT_MOVES 4 /* for each address; more, and they were in no order */

static inline int insertion_sort_compare(const void *pa, const void *pb)
{
	const uint64_t *a = pa, *b = pb;

	return *a < *b ? -1 : *a > *b;
}

static inline void addrsort(uint64_t *addrs, size_t count)
{
	size_t moves = 0;

	for (size_t i = 1; i < count; i++) {
		uint64_t addr = addrs[i];
		size_t at = i;

		for (; at && addrs[at - 1] > addr; at--, moves++)
			addrs[at] = addrs[at - 1];
		addrs[at] = addr;
		if (moves > INSERTION_SORT_MOVES * count) {
			qsort(addrs, count, sizeof(*addrs), insertion_sort_compare);
			return;
		}
	}
}

/* Sorts them and removes duplicates.  Returns how many are left. */
static inline size_t insertion_sort_unique(uint64_t *addrs, size_t count)
{
	size_t count_left = 0;

	addrsort(addrs, count);
	for (size_t i = 0; i < count; i++)
		if (!count_left || addrs[count_left - 1] != addrs[i])
			addrs[count_left++] = addrs[i];
	return count_left;
}

#endif
