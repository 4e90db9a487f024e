/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * heap - an array whose first element comes before all others
 *
 * The array and its count are the owner's.  is_before is a function of two addresses of elements; what is equal
 * to it has no order.
 */
#ifndef EBPREC_FORMAT_BASE_HEAP_H
#define EBPREC_FORMAT_BASE_HEAP_H

#include <stddef.h>

/* The element at `at` is new, as the last one: moves it to its place. */
#define heap_up(list, at, is_before)                                      \
	({                                                                \
		size_t heap_at = (at);                                    \
		const typeof(*(list)) heap_moved = (list)[heap_at];       \
		while (heap_at) {                                         \
			size_t heap_above = (heap_at - 1) / 2;            \
			if (!is_before(&heap_moved, &(list)[heap_above])) \
				break;                                    \
			(list)[heap_at] = (list)[heap_above];             \
			heap_at = heap_above;                             \
		}                                                         \
		(list)[heap_at] = heap_moved;                             \
	})

/* The first of count elements was changed or replaced: moves it to its place.  Nothing where there are none. */
#define heap_down(list, count, is_before)                                                    \
	({                                                                                   \
		const size_t heap_count = (count);                                           \
		size_t heap_at = 0, heap_below;                                              \
		if (heap_count) {                                                            \
			const typeof(*(list)) heap_moved = (list)[0];                        \
			while ((heap_below = 2 * heap_at + 1) < heap_count) {                \
				if (heap_below + 1 < heap_count &&                           \
				    is_before(&(list)[heap_below + 1], &(list)[heap_below])) \
					heap_below++;                                        \
				if (!is_before(&(list)[heap_below], &heap_moved))            \
					break;                                               \
				(list)[heap_at] = (list)[heap_below];                        \
				heap_at = heap_below;                                        \
			}                                                                    \
			(list)[heap_at] = heap_moved;                                        \
		}                                                                            \
	})

#endif
