/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * ownheap - a program that brings its own malloc(), as one that is linked statically or with jemalloc does
 *
 * Prints "held PID FUNCTION BLOCKS BYTES"; starts itself once more for other numbers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DROPPED = 3001, ROOM = 4 << 20 };

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): libc's headers have __size */

/* Memory is taken from one end and never used again: this program needs no more. */
static _Alignas(16) char room[ROOM];
static size_t used;
static void *volatile sink;

__attribute__((noinline)) void *malloc(size_t bytes)
{
	char *at = room + used;

	bytes = (bytes + 31) & ~(size_t)15;
	if (bytes > ROOM - used)
		return NULL;
	used += bytes;
	return at;
}

__attribute__((noinline)) void free(void *p)
{
	sink = p;
}

void *calloc(size_t count, size_t bytes)
{
	return malloc(count * bytes); /* the room is zero */
}

void *realloc(void *p, size_t bytes)
{
	char *fresh = malloc(bytes);

	if (p && fresh)
		memmove(fresh, p, bytes);
	return fresh;
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */

static __attribute__((noinline)) void keep_small(void)
{
	sink = malloc(23);
}

static __attribute__((noinline)) void keep_large(void)
{
	sink = malloc(1021);
}

static __attribute__((noinline)) void drop(void)
{
	void *p = malloc(59);

	sink = p;
	free(p);
}

static void keep(const char *name, void (*function)(void), int blocks, int bytes)
{
	for (int i = 0; i < blocks; i++)
		function();
	printf("held %d %s %d %d\n", (int)getpid(), name, blocks, blocks * bytes);
}

int main(int argc, char **argv)
{
	static char buffer[4096];
	pid_t child;

	setvbuf(stdout, buffer, _IOLBF, sizeof(buffer));
	if (argc > 1) {
		keep("keep_small", keep_small, 47, 23);
		return 0;
	}
	for (int i = 0; i < DROPPED; i++)
		drop();
	keep("keep_small", keep_small, 211, 23);
	keep("keep_large", keep_large, 101, 1021);
	child = fork();
	if (!child) {
		execv("/proc/self/exe", (char *[]){ argv[0], "child", NULL });
		_exit(1);
	}
	waitpid(child, NULL, 0);
	return 0;
}
