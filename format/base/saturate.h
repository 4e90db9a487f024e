/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * saturate - reckoning with what a capture says, which may be any number
 *
 * Shares are reckoned in doubles: of all of 2^64 - 1 a double makes 2^64, which is no uint64_t any more, and the
 * language does not say what becomes of it.  Nothing else in analyze/ makes an integer of a double.  A sum of numbers
 * that may each be 2^64 - 1 stays there, in whatever order it is made.
 */
#ifndef EBPREC_FORMAT_BASE_SATURATE_H
#define EBPREC_FORMAT_BASE_SATURATE_H

#include <stdint.h>

/* A double without its decimals; 0 to most, whatever it is: of what is no number it is 0. */
static inline uint64_t saturate_part(double value, uint64_t most)
{
	if (!(value >= 1))
		return 0;
	/* What is below the double next to most is at most that: doubles lie that far apart. */
	return value < (double)most ? (uint64_t)value : most;
}

static inline uint64_t saturate_add(uint64_t a, uint64_t b)
{
	uint64_t sum = a + b;

	return sum < a ? UINT64_MAX : sum;
}

/* How many pieces of so many, the last one maybe smaller; rounding up does not wrap. */
static inline uint64_t bounded_pieces(uint64_t count, uint64_t each)
{
	return count / each + (count % each != 0);
}

/* Of two int64_t, as they are kept. */
static inline uint64_t saturate_add_signed(uint64_t a, uint64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow((int64_t)a, (int64_t)b, &sum))
		sum = (int64_t)b < 0 ? INT64_MIN : INT64_MAX;
	return (uint64_t)sum;
}

#endif
