/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * counted ROUNDS HOT - spends its CPU time in nine functions by counts of one loop
 *
 * In a round, a span counted/round, burn_hot takes HOT steps, burn_b to burn_i take 1000, 800, 600, 400,
 * 300, 200, 100 and 50.  All steps are alike, so that shares and ratios are known whatever the CPU.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/include/ebprec-mark.h"

#define STEP 1000

/* A chain of dependent multiplications that no compiler folds and no CPU overlaps. */
#define BURN(name)                                                                          \
	static __attribute__((noinline, noclone)) uint64_t name(uint64_t x, unsigned steps) \
	{                                                                                   \
		for (unsigned i = 0; i < steps * STEP; i++)                                 \
			x = x * 6364136223846793005u + 1442695040888963407u;                \
		return x;                                                                   \
	}

BURN(burn_hot)
BURN(burn_b)
BURN(burn_c)
BURN(burn_d)
BURN(burn_e)
BURN(burn_f)
BURN(burn_g)
BURN(burn_h)
BURN(burn_i)

static uint64_t run_round(uint64_t x, unsigned hot)
{
	uint64_t span = ebprec_span_begin("counted", "round", "");

	x = burn_hot(x, hot);
	x = burn_b(x, 1000);
	x = burn_c(x, 800);
	x = burn_d(x, 600);
	x = burn_e(x, 400);
	x = burn_f(x, 300);
	x = burn_g(x, 200);
	x = burn_h(x, 100);
	x = burn_i(x, 50);
	ebprec_span_end(span);
	return x;
}

int main(int argc, char **argv)
{
	uint64_t x = 1;

	if (argc != 3) {
		fprintf(stderr, "usage: counted ROUNDS HOT\n");
		return 2;
	}
	for (int i = 0; i < atoi(argv[1]); i++)
		x = run_round(x, (unsigned)atoi(argv[2]));
	return x == 0; /* it never is, but the compiler does not know */
}
