/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* twolines SECONDS - spends its time in few lines, of which one inlined function has some */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static volatile uint64_t sink;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static inline __attribute__((always_inline)) void turn(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		sink = sink * 31 + i;
}

static __attribute__((noinline)) void work(void)
{
	for (int i = 0; i < 100000; i++)
		sink += (uint64_t)i;
	for (int i = 0; i < 200000; i++)
		sink ^= (uint64_t)i;
	turn(100000);
}

int main(int argc, char **argv)
{
	double end = now() + (argc > 1 ? atof(argv[1]) : 1);

	while (now() < end)
		work();
	return 0;
}
