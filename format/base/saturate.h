/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * saturate - arithmetic with a capture's numbers, which may have any value
 *
 * Shares are computed in doubles: 2^64 - 1 as a double is 2^64, which is no uint64_t, and
 * converting it back is undefined.  Nothing else in analyze/ converts a double to an integer.  A
 * sum of numbers that may each be 2^64 - 1 stays at that value, in whatever order they are added.
 */
#ifndef EBPREC_FORMAT_BASE_SATURATE_H
#define EBPREC_FORMAT_BASE_SATURATE_H

#include <stdint.h>

/* Truncates a double to 0..most; NaN is 0. */
static inline uint64_t saturate_part(double value, uint64_t most)
{
	if (!(value >= 1))
		return 0;
	/* Doubles are that far apart: the next one below most is at most `most`. */
	return value < (double)most ? (uint64_t)value : most;
}

static inline uint64_t saturate_add(uint64_t a, uint64_t b)
{
	uint64_t sum = a + b;

	return sum < a ? UINT64_MAX : sum;
}

/* The number of pieces of that size, the last one maybe smaller; rounding up does not wrap. */
static inline uint64_t bounded_pieces(uint64_t count, uint64_t each)
{
	return count / each + (count % each != 0);
}

/* Adds two int64_t that are stored as uint64_t. */
static inline uint64_t saturate_add_signed(uint64_t a, uint64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow((int64_t)a, (int64_t)b, &sum))
		sum = (int64_t)b < 0 ? INT64_MIN : INT64_MAX;
	return (uint64_t)sum;
}

#endif
