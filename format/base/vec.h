/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * vec - arrays that grow
 *
 * The array, its count and its capacity are plain fields of the owner; these functions only grow
 * them.  A large array grows by mremap inside realloc, so growing costs no second copy.
 */
#ifndef EBPREC_FORMAT_BASE_VEC_H
#define EBPREC_FORMAT_BASE_VEC_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

/*
 * Makes space for at least need elements: 0 or -ENOMEM, which leaves array and capacity as they
 * were.  array: the address of the owner's pointer.  Afterwards the pointer is not NULL.
 */
#define vec_reserve(array, capacity, need)                                                   \
	({                                                                                   \
		void *vec_grown = vec_grow(*(array), (capacity), (need), sizeof(**(array))); \
		if (vec_grown)                                                               \
			*(array) = vec_grown;                                                \
		vec_grown ? 0 : -ENOMEM;                                                     \
	})

/* The array, moved if need be; NULL: no memory, and old is as it was. */
static inline void *vec_grow(void *old, size_t *capacity, size_t need, size_t element_bytes)
{
	size_t want = *capacity + *capacity / 2;
	void *grown;

	if (old && need <= *capacity)
		return old;
	if (want < need)
		want = need;
	if (want < 16)
		want = 16;
	if (want > SIZE_MAX / 2 / element_bytes)
		return NULL;
	grown = realloc(old, want * element_bytes);
	if (grown)
		*capacity = want;
	return grown;
}

/* Gives back what count elements do not need; where that fails, nothing changes. */
#define vec_trim(array, capacity, count)                                                          \
	({                                                                                        \
		void *vec_less = (count) ? realloc(*(array), (count) * sizeof(**(array))) : NULL; \
		if (vec_less) {                                                                   \
			*(array) = vec_less;                                                      \
			*(capacity) = (count);                                                    \
		}                                                                                 \
	})

#endif
