/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * calls - system calls in known numbers, from two threads of a process with a large id
 *
 * Prints "count PID TID NAME COUNT ERRORS" for each kind.  With an argument it prints "blocked PID"
 * and is in pause() for 20 seconds.
 */
#include <errno.h>
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PARENTS = 7919, OPENS = 101, SLEEPS = 53, IDS = 997, OLD = 23 };

static void print_count(const char *name, int count, int errors)
{
	printf("count %d %ld %s %d %d\n", (int)getpid(), syscall(SYS_gettid), name, count, errors);
}

static void *second(void *unused)
{
	int i;

	for (i = 0; i < IDS; i++)
		syscall(SYS_getuid);
	print_count("getuid", IDS, 0);
	return unused;
}

#ifdef __x86_64__
/* By the 32-bit door: number 20 is getpid there, and writev here. */
static void old_calls(void)
{
	int i, status, got;
	pid_t pid = fork();

	if (!pid) {
		__asm__ volatile("int $0x80" : "=a"(got) : "a"(20) : "memory");
		_exit(got <= 0);
	}
	waitpid(pid, &status, 0);
	if (!WIFEXITED(status) || WEXITSTATUS(status)) {
		puts("no 32-bit calls here");
		return;
	}
	for (i = 0; i < OLD; i++)
		__asm__ volatile("int $0x80" : "=a"(got) : "a"(20) : "memory");
	print_count("getpid_(32-bit)", OLD, 0);
}
#else
static void old_calls(void)
{
	puts("no 32-bit calls here");
}
#endif

static void work(void)
{
	struct timespec ms = { .tv_nsec = 1000000 };
	pthread_t thread;
	int i;

	pthread_create(&thread, NULL, second, NULL);
	for (i = 0; i < PARENTS; i++)
		syscall(SYS_getppid);
	for (i = 0; i < OPENS; i++)
		syscall(SYS_openat, -1, "/none/such", 0);
	for (i = 0; i < SLEEPS; i++)
		syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &ms, NULL);
	pthread_join(thread, NULL);
	print_count("getppid", PARENTS, 0);
	print_count("openat", OPENS, OPENS);
	print_count("clock_nanosleep", SLEEPS, 0);
	old_calls();
}

/* A child with an id of more than 16 bits; -1: not to be had. */
static pid_t fork_large(void)
{
	pid_t want = 70001 + getpid() % 1000, *id = &want;
	struct clone_args args = {
		.exit_signal = SIGCHLD,
		.set_tid = (uintptr_t)id,
		.set_tid_size = 1,
	};
	long pid;

	for (;; want++) {
		pid = syscall(SYS_clone3, &args, sizeof(args));
		if (pid >= 0 || errno != EEXIST)
			return (pid_t)pid;
	}
}

int main(int argc, char **argv)
{
	pid_t pid;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1) { /* calls pause */
		printf("blocked %d\n", (int)getpid());
		fclose(stdout);
		fclose(stderr);
		alarm(20);
		pause();
		return 0;
	}
	pid = fork_large();
	if (pid < 0) {
		perror("clone3");
		return 1;
	}
	if (!pid) {
		work();
		exit(0);
	}
	waitpid(pid, NULL, 0);
	return 0;
}
