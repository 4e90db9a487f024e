/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * situations HOW SECONDS [FILE] - is slow for one known reason
 *
 *	convoy		8 threads that hold one lock for 2 ms at a time, one after the other
 *	spin		8 threads that compute
 *	disk FILE	writes 64 KiB to FILE and has them on the disk, again and again
 *	collect		builds a graph of objects, and collects it more often than it should
 *	touch MIB	touches pages of so much memory, in an order that no cache foresees
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

enum { THREADS = 8, BLOCK_BYTES = 65536, OBJECTS = 20000, PAGE_BYTES = 4096 };

static double end_s;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static double now_s(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool is_over(void)
{
	return now_s(CLOCK_MONOTONIC) >= end_s;
}

static NOINLINE uint64_t compute(double seconds)
{
	double until_s = now_s(CLOCK_THREAD_CPUTIME_ID) + seconds;
	uint64_t x = 1;

	while (now_s(CLOCK_THREAD_CPUTIME_ID) < until_s)
		for (unsigned i = 0; i < 10000; i++)
			x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

/* ---- threads ---- */

static NOINLINE uint64_t take_turn(void)
{
	uint64_t x;

	pthread_mutex_lock(&lock);
	x = compute(0.002);
	pthread_mutex_unlock(&lock);
	return x;
}

static void *convoy(void *sum)
{
	while (!is_over())
		*(uint64_t *)sum += take_turn();
	return NULL;
}

static void *spin(void *sum)
{
	while (!is_over())
		*(uint64_t *)sum += compute(0.01);
	return NULL;
}

static int run_threads(void *(*run)(void *sum))
{
	static uint64_t sums[THREADS];
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, run, &sums[i]))
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

/* ---- a disk ---- */

static NOINLINE int save_block(int fd, const void *block)
{
	return pwrite(fd, block, BLOCK_BYTES, 0) != BLOCK_BYTES || fsync(fd);
}

static int write_disk(const char *path)
{
	static char block[BLOCK_BYTES];
	int fd = open(path, O_CREAT | O_WRONLY, 0600), err = fd < 0;

	while (!err && !is_over()) {
		memset(block, block[0] + 1, sizeof(block));
		err = save_block(fd, block);
	}
	return err;
}

/* ---- a collector ---- */

struct object {
	struct object *left, *right;
	bool marked;
};

static struct object objects[OBJECTS];

static NOINLINE void gc_mark(struct object *o)
{
	if (!o || o->marked)
		return;
	o->marked = true;
	gc_mark(o->left);
	gc_mark(o->right);
}

static NOINLINE unsigned gc_sweep(void)
{
	unsigned freed = 0;

	for (unsigned i = 0; i < OBJECTS; i++) {
		freed += !objects[i].marked;
		objects[i].marked = false;
	}
	return freed;
}

static NOINLINE unsigned gc_collect(void)
{
	gc_mark(&objects[0]);
	return gc_sweep();
}

static int collect(void)
{
	uint64_t freed = 0;

	for (unsigned i = 0; i < OBJECTS; i++) {
		objects[i].left = 2 * i + 1 < OBJECTS ? &objects[2 * i + 1] : NULL;
		objects[i].right = 2 * i + 2 < OBJECTS ? &objects[2 * i + 2] : NULL;
	}
	while (!is_over()) {
		freed += gc_collect();
		freed += compute(0.00001) & 1;
	}
	return freed == 1;
}

/* ---- memory ---- */

static NOINLINE void touch_page(volatile char *page)
{
	++*page;
}

static int touch(const char *mib)
{
	size_t bytes = (size_t)strtoul(mib, NULL, 10) << 20, pages = bytes / PAGE_BYTES;
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			    0);
	uint64_t x = 1;

	if (memory == MAP_FAILED || !pages)
		return 1;
	for (size_t i = 0; !is_over(); i++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		touch_page(memory + (i < pages ? i : (x >> 33) % pages) * PAGE_BYTES);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *how = argc > 2 ? argv[1] : "", *last = argc > 3 ? argv[3] : NULL;

	if (argc > 2)
		end_s = now_s(CLOCK_MONOTONIC) + strtod(argv[2], NULL);
	if (!strcmp(how, "convoy"))
		return run_threads(convoy);
	if (!strcmp(how, "spin"))
		return run_threads(spin);
	if (!strcmp(how, "collect"))
		return collect();
	if (!strcmp(how, "disk") && last)
		return write_disk(last);
	if (!strcmp(how, "touch") && last)
		return touch(last);
	fputs("usage: situations convoy|spin|disk|collect|touch SECONDS [FILE|MIB]\n", stderr);
	return 2;
}
