/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * movetext - puts its own code on memory without a file, as programs do that want it on large pages
 *
 * movetext WHAT MILLISECONDS	of CPU time; copy: the same code, protected afterwards; write: the same, left writable;
 *				other: the same where it runs, and other code around it
 *
 * Prints its process id when that is done, and spends three parts of the time in spin_long(), one in spin_short().
 * It moves the large pages that are complete, between two that are filled with nothing.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define LARGE ((uintptr_t)2 << 20)

extern char movetext_first[], movetext_last[];

__asm__(".pushsection .text.a,\"ax\"\n"
	".globl movetext_first\n"
	"movetext_first: .fill 2 << 20, 1, 0x90\n"
	".popsection\n"
	".pushsection .text.b,\"ax\"\n" /* sections stay in the order they were begun in */
	".popsection\n"
	".pushsection .text.c,\"ax\"\n"
	".fill 2 << 20, 1, 0x90\n"
	".globl movetext_last\n"
	"movetext_last:\n"
	".popsection\n");

static volatile unsigned long sink;

#define MOVED static __attribute__((noinline, section(".text.b")))

MOVED void spin_long(void)
{
	for (int i = 0; i < 3000000; i++)
		sink += (unsigned long)i;
}

MOVED void spin_short(void)
{
	for (int i = 0; i < 1000000; i++)
		sink += (unsigned long)i;
}

MOVED void both(void)
{
	spin_long();
	spin_short();
	sink++; /* no tail call */
}

/* Changes all pages but those of our functions, which still have to run. */
static void spoil(char *copy, size_t size, size_t keep)
{
	for (size_t i = 0; i < size; i += 4096)
		if (i + 4096 <= keep || i > keep + 4096)
			copy[i]++;
}

/* Lies outside what is moved. */
static int move_text(const char *what)
{
	uintptr_t begin = ((uintptr_t)movetext_first + LARGE - 1) & ~(LARGE - 1);
	uintptr_t end = (uintptr_t)movetext_last & ~(LARGE - 1);
	size_t size = end - begin;
	char *to = (char *)begin, *copy = malloc(size);

	if (!copy)
		return -1;
	memcpy(copy, to, size);
	if (!strcmp(what, "other"))
		spoil(copy, size, (uintptr_t)spin_long - begin);
	if (mmap(to, size, PROT_READ | PROT_WRITE | PROT_EXEC,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != to) {
		free(copy);
		return -1;
	}
	memcpy(to, copy, size);
	free(copy);
	return strcmp(what, "write") ? mprotect(to, size, PROT_READ | PROT_EXEC) : 0;
}

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int main(int argc, char **argv)
{
	long until_ms;

	if (argc != 3 || move_text(argv[1]))
		return 2;
	printf("%d\n", (int)getpid());
	fflush(stdout);
	until_ms = now_ms() + atol(argv[2]);
	while (now_ms() < until_ms)
		both();
	return 0;
}
