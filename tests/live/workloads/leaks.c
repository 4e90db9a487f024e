/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * leaks - gets memory of known sizes in functions of their own, gives some of it back, and forgets some
 *
 * Prints "leaked FUNCTION BLOCKS BYTES" for each, and "faults MINOR MAJOR", of itself: it touches FRESH
 * fresh pages, too.  All in one process that ends at once.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { FREED = 3001, FRESH = 1009, PAGE = 4096 };

/* The compiler cannot see that it is not used. */
static void *volatile sink;

static __attribute__((noinline)) void leak_malloc(void)
{
	sink = malloc(37);
}

static __attribute__((noinline)) void leak_calloc(void)
{
	sink = calloc(3, 101);
}

static __attribute__((noinline)) void leak_realloc(void)
{
	void *p = malloc(11);

	sink = realloc(p, 1013);
}

static __attribute__((noinline)) void leak_aligned(void)
{
	void *p = NULL;

	if (posix_memalign(&p, 64, 211))
		exit(1);
	sink = p;
}

static __attribute__((noinline)) void give_back(void)
{
	void *p = malloc(53), *q = aligned_alloc(32, 96), *r = realloc(NULL, 61);

	sink = p;
	free(p);
	free(q);
	sink = realloc(r, 6007);
	free(sink);
	sink = NULL;
}

static const struct {
	const char *name;
	void (*run)(void);
	int blocks, bytes;
} leaks[] = {
	{ "leak_malloc", leak_malloc, 1009, 37 },
	{ "leak_calloc", leak_calloc, 503, 303 },
	{ "leak_realloc", leak_realloc, 401, 1013 },
	{ "leak_aligned", leak_aligned, 307, 211 },
};

static __attribute__((noinline)) void touch_fresh(void)
{
	volatile char *p = mmap(NULL, (size_t)FRESH * PAGE, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || madvise((void *)p, (size_t)FRESH * PAGE, MADV_NOHUGEPAGE))
		exit(1);
	for (int i = 0; i < FRESH; i++)
		p[i * PAGE] = 1;
}

int main(void)
{
	struct rusage used;

	touch_fresh();
	for (int i = 0; i < FREED; i++)
		give_back();
	for (size_t k = 0; k < sizeof(leaks) / sizeof(leaks[0]); k++) {
		for (int i = 0; i < leaks[k].blocks; i++)
			leaks[k].run();
		printf("leaked %s %d %d\n", leaks[k].name, leaks[k].blocks,
		       leaks[k].blocks * leaks[k].bytes);
	}
	sink = NULL;
	getrusage(RUSAGE_SELF, &used);
	printf("faults %ld %ld\n", used.ru_minflt, used.ru_majflt);
	return 0;
}
