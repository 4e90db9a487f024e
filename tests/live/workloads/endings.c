/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * endings COUNT - COUNT processes, one after the other, of THREADS threads: half of them end by
 * themselves, half with the process
 *
 * Prints "PID CPU_US" of each: the CPU time that wait4 reports, rounded down.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 8, TURNS = 300000 };

static void *work(void *arg)
{
	volatile int turns;

	for (turns = 0; turns < TURNS; turns++)
		;
	if (arg)
		pause();
	return NULL;
}

static void run_child(void)
{
	pthread_t thread;
	int i;

	for (i = 0; i < THREADS; i++) {
		if (pthread_create(&thread, NULL, work, i & 1 ? &thread : NULL))
			_exit(1);
	}
	usleep(3000);
	exit(0);
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 0, status;
	struct rusage used;
	pid_t pid;

	for (; count > 0; count--) {
		pid = fork();
		if (!pid)
			run_child();
		if (pid < 0 || wait4(pid, &status, 0, &used) != pid || status) {
			perror("endings");
			return 1;
		}
		printf("%d %lld\n", pid,
		       (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000LL +
			       used.ru_utime.tv_usec + used.ru_stime.tv_usec);
		fflush(stdout);
	}
	return 0;
}
