/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * ends FILE - processes that end in known ways, and what the kernel counted of each
 *
 * Prints "ended NAME PID STATUS VOLUNTARY INVOLUNTARY MINOR MAJOR CPU_US" (from wait4) of:
 * work: sleeps SLEEPS times, touches FRESH fresh pages, and COLD pages of FILE that are not in
 * memory, in its second thread; exits with 7.  killed: nice 7, SCHED_BATCH, by SIGKILL.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SLEEPS = 29, FRESH = 1009, COLD = 53, PAGE = 4096 };

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* Takes the file's pages out of memory: one request is not always enough. */
static void forget(int fd)
{
	const struct timespec rest = { .tv_nsec = 10000000 };
	unsigned char here[COLD];
	void *p = mmap(NULL, (size_t)COLD * PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
	bool gone = false;
	int i, j;

	if (p == MAP_FAILED)
		die("mmap");
	for (i = 0; i < 50 && !gone; i++) {
		if (fsync(fd) || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) ||
		    mincore(p, (size_t)COLD * PAGE, here))
			die("posix_fadvise");
		gone = true;
		for (j = 0; j < COLD; j++)
			gone = gone && !(here[j] & 1);
		if (!gone)
			nanosleep(&rest, NULL);
	}
	munmap(p, (size_t)COLD * PAGE);
}

/* A file whose pages are on the disk alone. */
static int make_cold(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600), i;
	char page[PAGE];

	if (fd < 0)
		die(path);
	for (i = 0; i < COLD; i++) {
		memset(page, i, sizeof(page));
		if (write(fd, page, sizeof(page)) != (ssize_t)sizeof(page))
			die(path);
	}
	forget(fd);
	return fd;
}

static void *touch_cold(void *arg)
{
	volatile char *p = mmap(NULL, (size_t)COLD * PAGE, PROT_READ, MAP_PRIVATE, *(int *)arg, 0);
	int i, sum = 0;

	if (p == MAP_FAILED || madvise((void *)p, (size_t)COLD * PAGE, MADV_RANDOM))
		die("mmap");
	for (i = 0; i < COLD; i++)
		sum += p[i * PAGE];
	return sum ? arg : NULL;
}

/* One that this process may run on, each time the next. */
static void on_another_cpu(int n)
{
	static cpu_set_t all;
	cpu_set_t one;
	int cpu, skip;

	if (!n && sched_getaffinity(0, sizeof(all), &all))
		die("sched_getaffinity");
	skip = n % CPU_COUNT(&all);
	for (cpu = 0; cpu < CPU_SETSIZE && (!CPU_ISSET(cpu, &all) || skip--); cpu++)
		;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		die("sched_setaffinity");
}

static void work(int fd)
{
	struct timespec ms = { .tv_nsec = 1000000 };
	volatile char *p;
	pthread_t thread;
	int i;

	prctl(PR_SET_NAME, "work");
	for (i = 0; i < SLEEPS; i++) {
		on_another_cpu(i);
		nanosleep(&ms, NULL);
	}
	p = mmap(NULL, (size_t)FRESH * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		 -1, 0);
	if (p == MAP_FAILED || madvise((void *)p, (size_t)FRESH * PAGE, MADV_NOHUGEPAGE))
		die("mmap");
	for (i = 0; i < FRESH; i++)
		p[i * PAGE] = 1;
	if (pthread_create(&thread, NULL, touch_cold, &fd))
		die("pthread_create");
	pthread_join(thread, NULL);
	exit(7);
}

static void print_status(const char *name, pid_t pid)
{
	struct rusage used;
	int status;

	if (wait4(pid, &status, 0, &used) != pid)
		die("wait4");
	printf("ended %s %d %d %ld %ld %ld %ld %ld\n", name, (int)pid, status, used.ru_nvcsw,
	       used.ru_nivcsw, used.ru_minflt, used.ru_majflt,
	       (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000L + used.ru_utime.tv_usec +
		       used.ru_stime.tv_usec);
}

int main(int argc, char **argv)
{
	struct sched_param param = { 0 };
	pid_t pid;
	int fd;

	if (argc < 2)
		return 2;
	fd = make_cold(argv[1]);
	pid = fork();
	if (!pid)
		work(fd);
	print_status("work", pid);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_NAME, "killed");
		setpriority(PRIO_PROCESS, 0, 7);
		sched_setscheduler(0, SCHED_BATCH, &param);
		kill(getpid(), SIGKILL);
	}
	print_status("killed", pid);
	return 0;
}
