/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * storm RATE SECONDS - starts RATE programs a second, evenly, and prints how many there were
 *
 * Each is this program again, which computes for a moment and ends.  On a machine that is too busy
 * there are fewer: they are started one after the other's time has come, and never twice as fast.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void sleep_until(double at_s)
{
	double left_s = at_s - now_s();
	struct timespec t;

	if (left_s <= 0)
		return;
	t.tv_sec = (time_t)left_s;
	t.tv_nsec = (long)((left_s - (double)t.tv_sec) * 1e9);
	nanosleep(&t, NULL);
}

static unsigned work(unsigned depth)
{
	volatile unsigned sum = depth;

	for (unsigned i = 0; i < 1000; i++)
		sum += i;
	return depth ? work(depth - 1) + sum : sum;
}

static void start(char **argv)
{
	char *leaf[] = { argv[0], NULL };
	pid_t pid = fork();

	if (pid)
		return;
	execve("/proc/self/exe", leaf, environ);
	_exit(127);
}

int main(int argc, char **argv)
{
	double began_s = now_s(), rate, seconds;
	unsigned long count = 0;

	if (argc < 3)
		return work(100) == 1;
	rate = atof(argv[1]);
	seconds = atof(argv[2]);
	while (now_s() - began_s < seconds) {
		sleep_until(began_s + (double)count / rate);
		start(argv);
		count++;
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
	while (waitpid(-1, NULL, 0) > 0)
		;
	printf("%lu\n", count);
	return 0;
}
