/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * bench_hurt KIND N [FILE] - does one thing N times and prints the CPU time of each, in ns
 *
 * Loads built to hurt an instrument: calls (system calls), faults (minor page faults), connects (TCP
 * connections to itself, 127.0.0.1), ios (O_DIRECT reads of 4 KiB from FILE), ends (processes),
 * pings (switches to another process and back), wakes (futex calls that wake no thread), reads (of a
 * page of FILE that is in memory), mallocs (and frees).
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void calls(long n, const char *file)
{
	while (n--)
		syscall(SYS_getppid);
}

static void wakes(long n, const char *file)
{
	uint32_t futex = 0;

	while (n--)
		syscall(SYS_futex, &futex, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void faults(long n, const char *file)
{
	const size_t chunk = 4096 * 4096;
	volatile char *p = mmap(NULL, chunk, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				-1, 0);

	if (p == MAP_FAILED || madvise((void *)p, chunk, MADV_NOHUGEPAGE))
		die("mmap");
	for (long i = 0; i < n; i++) {
		p[i % 4096 * 4096] = 1;
		if (i % 4096 == 4095 && madvise((void *)p, chunk, MADV_DONTNEED))
			die("madvise");
	}
}

static void connects(long n, const char *file)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct linger at_once = { .l_onoff = 1 };
	socklen_t bytes = sizeof(to);
	int listener = socket(AF_INET, SOCK_STREAM, 0), a, b;

	if (listener < 0 || bind(listener, (void *)&to, sizeof(to)) || listen(listener, 5) ||
	    getsockname(listener, (void *)&to, &bytes))
		die("listen");
	while (n--) {
		a = socket(AF_INET, SOCK_STREAM, 0);
		if (a < 0 || connect(a, (void *)&to, sizeof(to)))
			die("connect");
		b = accept(listener, NULL, NULL);
		/* No TIME_WAIT: there are not as many ports. */
		setsockopt(a, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
		close(a);
		close(b);
	}
}

static void ios(long n, const char *file)
{
	int fd = open(file, O_RDONLY | O_DIRECT);
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (fd < 0 || page == MAP_FAILED)
		die(file);
	while (n--) {
		if (pread(fd, page, 4096, n % 256 * 4096) != 4096)
			die(file);
	}
}

static void reads(long n, const char *file)
{
	int fd = open(file, O_RDONLY);
	char page[4096];

	while (n--) {
		if (pread(fd, page, sizeof(page), n % 256 * 4096) != (ssize_t)sizeof(page))
			die(file);
	}
}

static void mallocs(long n, const char *file)
{
	void *volatile p;

	while (n--) {
		p = malloc(64);
		free(p);
	}
}

static void ends(long n, const char *file)
{
	pid_t pid;

	while (n--) {
		pid = vfork(); /* NOLINT: the cheapest end there is */
		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
}

static void pings(long n, const char *file)
{
	int there[2], back[2];
	char byte = 0;

	if (pipe(there) || pipe(back))
		die("pipe");
	if (!fork()) {
		while (read(there[0], &byte, 1) == 1 && byte != 'e')
			(void)!write(back[1], &byte, 1);
		_exit(0);
	}
	while (n--) {
		byte = n ? 'x' : 'e';
		(void)!write(there[1], &byte, 1);
		if (n)
			(void)!read(back[0], &byte, 1);
	}
	wait(NULL);
}

static double cpu_ns(int target)
{
	struct rusage u;

	getrusage(target, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e9 +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e3;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(long n, const char *file);
	} kinds[] = { { "calls", calls }, { "faults", faults }, { "connects", connects },
		      { "ios", ios },     { "ends", ends },     { "pings", pings },
		      { "wakes", wakes }, { "reads", reads },   { "mallocs", mallocs } };
	long n = argc > 2 ? atol(argv[2]) : 0;

	for (size_t i = 0; n > 0 && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(argv[1], kinds[i].name) != 0)
			continue;
		kinds[i].run(n, argc > 3 ? argv[3] : "");
		printf("%.1f\n", (cpu_ns(RUSAGE_SELF) + cpu_ns(RUSAGE_CHILDREN)) / (double)n);
		return 0;
	}
	fputs("usage: bench_hurt calls|faults|connects|ios|ends|pings|wakes|reads|mallocs N [FILE]\n",
	      stderr);
	return 2;
}
