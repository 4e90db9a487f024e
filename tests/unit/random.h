/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* random - numbers for tests that try many cases, the same ones in each run (Marsaglia's xorshift64) */
#ifndef EBPREC_TESTS_UNIT_RANDOM_H
#define EBPREC_TESTS_UNIT_RANDOM_H

#include <stdint.h>

/* seed: not 0. */
static inline uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

#endif
