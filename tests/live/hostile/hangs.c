/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * hangs HOW FILE - a process that can make others wait which look at it, when its file does not answer
 *
 * It computes for ever in a thread called "computes" and prints "ready".  At SIGUSR1 another thread
 *	map	maps FILE, which was opened before, as code
 *	code	ends; it has made memory for code, as JIT compilers do
 *	lock	maps memory over FILE, to which it wrote: the kernel writes that back first, with the mmap lock held
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "format/include/ebprec-mark.h"

#define PAGE 4096

static void *compute(void *unused)
{
	volatile unsigned n = 0;

	prctl(PR_SET_NAME, "computes");
	for (;;)
		n++;
	return unused;
}

static bool map_code(int fd)
{
	return mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) != MAP_FAILED;
}

static bool map_over(void *page)
{
	return mmap(page, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == page;
}

int main(int argc, char **argv)
{
	bool lock = argc > 2 && !strcmp(argv[1], "lock"),
	     code = argc > 2 && !strcmp(argv[1], "code");
	int fd = argc > 2 ? open(argv[2], lock ? O_RDWR : O_RDONLY) : -1, number;
	pthread_t thread;
	sigset_t go;
	char *page = NULL;

	if (fd < 0)
		return 2;
	if (lock) {
		page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (page == MAP_FAILED)
			return 2;
		page[100] = 1;
	}
	if (code && mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
		return 2;
	sigemptyset(&go);
	sigaddset(&go, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &go, NULL);
	if (pthread_create(&thread, NULL, compute, NULL))
		return 2;
	ebprec_mark("hangs", "ready", "");
	puts("ready");
	fflush(stdout);
	sigwait(&go, &number);
	if (code)
		return 0;
	if (!(lock ? map_over(page) : map_code(fd)))
		return 1;
	pause();
	return 0;
}
