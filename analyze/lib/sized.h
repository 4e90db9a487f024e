/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * sized - structures that begin with their size, as they come from programs of older and later headers
 *
 * The size of a structure's first release is the least that a caller may give.
 */
#ifndef EBPREC_ANALYZE_LIB_SIZED_H
#define EBPREC_ANALYZE_LIB_SIZED_H

#include <stddef.h>

/*
 * Copies what a caller gave into own, which has own_bytes and is zero behind what was given.  given NULL: all zero.
 * -EINVAL: it is smaller than least_bytes; -E2BIG: it has fields set that are not known here.
 */
int sized_take(void *own, size_t own_bytes, size_t least_bytes, const void *given);
/*
 * Copies own to a caller's structure, as much of it as that has, and leaves its size as it is.  -EINVAL: it is
 * smaller than least_bytes.
 */
int sized_give(void *to, const void *own, size_t own_bytes, size_t least_bytes);

#endif
