/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * shares SECONDS - works until it has used so many seconds of CPU time, in three functions as 3:2:1, under a fixed chain of calls
 *
 *	main > outer > inner > share_three | share_two | share_one > burn_three | burn_two | burn_one
 *
 * The leaves have the same loop, and what differs is how often it goes round: the shares do not
 * depend on how fast the CPU is or how often the process is interrupted.  However busy the machine is,
 * there are as many samples.  The clock is looked at only once a round of all three (about 10 ms), so it costs nothing that shows.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NOINLINE __attribute__((noinline, noclone))

/* A chain of dependent multiplications that no compiler folds and no CPU overlaps. */
#define BURN(name)                                                           \
	static NOINLINE uint64_t name(uint64_t x, unsigned rounds)           \
	{                                                                    \
		for (unsigned i = 0; i < rounds * 100000; i++)               \
			x = x * 6364136223846793005u + 1442695040888963407u; \
		return x;                                                    \
	}

BURN(burn_three)
BURN(burn_two)
BURN(burn_one)

static NOINLINE uint64_t share_three(uint64_t x)
{
	return burn_three(x, 3 * 10) + 1;
}

static NOINLINE uint64_t share_two(uint64_t x)
{
	return burn_two(x, 2 * 10) + 1;
}

static NOINLINE uint64_t share_one(uint64_t x)
{
	return burn_one(x, 1 * 10) + 1;
}

static NOINLINE uint64_t inner(uint64_t x)
{
	x = share_three(x);
	x = share_two(x);
	return share_one(x) + 1;
}

static NOINLINE uint64_t outer(uint64_t x)
{
	return inner(x) + 1;
}

static double used_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? strtod(argv[1], NULL) : 1;
	uint64_t x = 1;

	while (used_s() < seconds)
		x = outer(x);
	/* So that the work is not for nothing. */
	return x == 0;
}
