/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * vec - arrays that grow
 *
 * The array, its count and its capacity are plain fields of the owner; this room only makes them
 * larger.  A large array grows by mremap inside realloc, so growing costs no second copy.
 */
#ifndef EBPREC_ANALYZE_VEC_H
#define EBPREC_ANALYZE_VEC_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * Makes room for at least need elements.  array points to the owner's pointer (any object type).
 * -ENOMEM leaves array and capacity as they were.
 */
static inline int vec_reserve(void *array, size_t *capacity, size_t need, size_t element_bytes)
{
	size_t want = *capacity + *capacity / 2;
	void *old, *new;

	if (need <= *capacity)
		return 0;
	if (want < need)
		want = need;
	if (want < 16)
		want = 16;
	if (want > SIZE_MAX / 2 / element_bytes)
		return -ENOMEM;
	memcpy(&old, array, sizeof(old));
	new = realloc(old, want * element_bytes);
	if (!new)
		return -ENOMEM;
	memcpy(array, &new, sizeof(new));
	*capacity = want;
	return 0;
}

#endif
