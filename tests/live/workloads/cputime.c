/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * cputime MS - works until it has used MS ms of CPU time, resting between, in two threads
 *
 * Each thread does half of it, in turns of 5 ms and a rest of 2 ms, so that it is switched out and in
 * many times.  However busy the machine is, the CPU time is the same.  Prints for each thread, as the
 * kernel counted it when its work was done:
 *
 *	TID CPU_TIME_NS
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define TURN_NS 5000000ULL
#define REST_NS 2000000ULL

struct worker {
	uint64_t want_ns;
	uint64_t cpu_ns;
	long tid;
};

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

static void *work(void *arg)
{
	const struct timespec rest = { .tv_nsec = REST_NS };
	uint64_t turn_ns = TURN_NS;
	struct worker *w = arg;

	w->tid = syscall(SYS_gettid);
	while ((w->cpu_ns = cpu_ns()) < w->want_ns) {
		if (w->cpu_ns < turn_ns)
			continue;
		turn_ns = w->cpu_ns + TURN_NS;
		nanosleep(&rest, NULL);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t ms = argc > 1 ? strtoull(argv[1], NULL, 10) : 100;
	struct worker w[2] = { { .want_ns = ms * 500000 }, { .want_ns = ms * 500000 } };
	pthread_t second;

	if (pthread_create(&second, NULL, work, &w[1])) {
		perror("cputime");
		return 1;
	}
	work(&w[0]);
	pthread_join(second, NULL);
	for (int i = 0; i < 2; i++)
		printf("%ld %llu\n", w[i].tid, (unsigned long long)w[i].cpu_ns);
	return 0;
}
