/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * pingpong ROUNDS - two processes on one CPU that hand a byte to and fro, and count their switches
 *
 * Each hand-over makes its giver wait, so each process is switched out once a round, and no matter
 * how busy the machine is, at least that often.  At the end it prints, for both processes, the
 * pid and the voluntary and involuntary switches that the kernel counted:
 *
 *	PID VOLUNTARY INVOLUNTARY
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* A number from /proc/self/status; -1: not there. */
static long status_number(const char *key_format)
{
	FILE *f = fopen("/proc/self/status", "re");
	char line[256];
	long value = -1;

	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, key_format, &value) == 1)
			break;
	}
	fclose(f);
	return value;
}

static void print_switches(void)
{
	printf("%d %ld %ld\n", (int)getpid(), status_number("voluntary_ctxt_switches: %ld"),
	       status_number("nonvoluntary_ctxt_switches: %ld"));
	fflush(stdout);
}

static int pass_on(int from, int to, long rounds, int first)
{
	char byte = 'x';

	if (first && write(to, &byte, 1) != 1)
		return 1;
	for (long i = 0; i < rounds; i++) {
		if (read(from, &byte, 1) != 1)
			return 1;
		if (first && i + 1 == rounds)
			break;
		if (write(to, &byte, 1) != 1)
			return 1;
	}
	print_switches();
	return 0;
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 1000;
	int there[2], back[2], err, status = 0;
	cpu_set_t one;
	pid_t child;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	if (sched_setaffinity(0, sizeof(one), &one) || pipe(there) || pipe(back)) {
		perror("pingpong");
		return 1;
	}
	child = fork();
	if (child < 0) {
		perror("pingpong");
		return 1;
	}
	if (child == 0)
		return pass_on(there[0], back[1], rounds, 0);
	err = pass_on(back[0], there[1], rounds, 1);
	waitpid(child, &status, 0);
	return err || status;
}
