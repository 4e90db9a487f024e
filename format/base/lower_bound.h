/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * lower_bound - a binary search in what is sorted
 *
 * is_before is an expression of the index, which the macro declares: true for all elements before a place, false
 * for all behind it.  With "key <= wanted" the place is behind what is equal, and the element before it is the
 * last that does not exceed what is wanted.
 */
#ifndef EBPREC_FORMAT_BASE_LOWER_BOUND_H
#define EBPREC_FORMAT_BASE_LOWER_BOUND_H

#include <stddef.h>

/* The first index of [first, end) that is_before is false for; end: there is none; first: the range is empty. */
#define lower_bound(index, first, end, is_before)                                                  \
	({                                                                                         \
		size_t lower_bound_low = (first), lower_bound_high = (end);                        \
		while (lower_bound_low < lower_bound_high) {                                       \
			size_t index = lower_bound_low + (lower_bound_high - lower_bound_low) / 2; \
			if (is_before)                                                             \
				lower_bound_low = index + 1;                                       \
			else                                                                       \
				lower_bound_high = index;                                          \
		}                                                                                  \
		lower_bound_low;                                                                   \
	})

#endif
