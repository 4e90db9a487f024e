/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * counted ROUNDS HOT - spends its CPU time in nine functions by counts of one loop
 * COUNTED='ROUNDS HOT' counted - the same, of an unchanged command line; prints the CPU time of burn_hot, in ns
 *
 * In a round, a span counted/round, burn_hot takes HOT steps, burn_b to burn_i take 1000, 800, 600, 400,
 * 300, 200, 100 and 50.  All steps are alike, so that shares and ratios are known whatever the CPU.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

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

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t run_round(uint64_t x, unsigned hot, uint64_t *hot_ns)
{
	uint64_t span = ebprec_span_begin("counted", "round", ""), from_ns = cpu_ns();

	x = burn_hot(x, hot);
	*hot_ns += cpu_ns() - from_ns;
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
	const char *counts = getenv("COUNTED");
	unsigned rounds = 0, hot = 0;
	uint64_t x = 1, hot_ns = 0;

	if (argc == 3) {
		rounds = (unsigned)atoi(argv[1]);
		hot = (unsigned)atoi(argv[2]);
	} else if (argc != 1 || !counts || sscanf(counts, "%u %u", &rounds, &hot) != 2) {
		fprintf(stderr, "usage: counted ROUNDS HOT\n");
		return 2;
	}
	for (unsigned i = 0; i < rounds; i++)
		x = run_round(x, hot, &hot_ns);
	if (argc == 1)
		printf("%llu\n", (unsigned long long)hot_ns);
	return x == 0; /* it never is, but the compiler does not know */
}
