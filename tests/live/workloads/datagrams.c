/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * datagrams [ADDRESS] - sends and receives in known numbers and sizes, some of them to closed ports
 *
 * Prints, a line each: "closed PID IPV4 IPV6" datagrams to ports that are closed; "full PID SENT GOT" to a
 * socket with little room; "unix PID SENDS BYTES"; "slow PID ATLEAST_NS ATMOST_NS", a receive that waited;
 * and with ADDRESS "queued PID COUNT NS", datagrams of 1000 bytes sent there, and how long sending took.
 */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/live/workloads/threadstate.h"

enum { CLOSED4 = 23, CLOSED6 = 7, FULL = 31, UNIX = 13, UNIX_BYTES = 10007, MANY = 3, QUEUED = 19 };

static const long nap_ns = 150000000;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* A socket with a port of its own; once it is closed, no socket has the port. */
static int bound(int family, struct sockaddr_storage *at, socklen_t *bytes)
{
	struct sockaddr_in *four = (void *)at;
	struct sockaddr_in6 *six = (void *)at;
	int fd = socket(family, SOCK_DGRAM, 0);

	memset(at, 0, sizeof(*at));
	at->ss_family = (sa_family_t)family;
	if (family == AF_INET)
		four->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	else
		six->sin6_addr = in6addr_loopback;
	*bytes = family == AF_INET ? sizeof(*four) : sizeof(*six);
	if (fd < 0 || bind(fd, (void *)at, *bytes) || getsockname(fd, (void *)at, bytes))
		die("bind");
	return fd;
}

static void to_closed(int family, int count)
{
	struct sockaddr_storage at;
	socklen_t bytes;
	int fd;

	close(bound(family, &at, &bytes));
	fd = socket(family, SOCK_DGRAM, 0);
	for (int i = 0; i < count; i++)
		sendto(fd, "closed", 6, 0, (void *)&at, bytes);
	close(fd);
}

static void to_full(void)
{
	char text[1000] = "";
	struct sockaddr_storage at;
	int small = 4096, got = 0, from, to;
	socklen_t bytes;

	to = bound(AF_INET, &at, &bytes);
	setsockopt(to, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	/* It is ours once we have used it. */
	recv(to, text, sizeof(text), MSG_DONTWAIT);
	from = socket(AF_INET, SOCK_DGRAM, 0);
	for (int i = 0; i < FULL; i++)
		sendto(from, text, sizeof(text), 0, (void *)&at, bytes);
	while (recv(to, text, sizeof(text), MSG_DONTWAIT) > 0)
		got++;
	printf("full %d %d %d\n", (int)getpid(), FULL, got);
	close(from);
	close(to);
}

static void by_unix(void)
{
	static char text[UNIX_BYTES];
	struct iovec v = { text, 11 };
	struct mmsghdr many[MANY] = { 0 };
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair))
		die("socketpair");
	for (int i = 0; i < UNIX; i++) {
		if (write(pair[0], text, sizeof(text)) != UNIX_BYTES ||
		    recv(pair[1], text, 1, MSG_PEEK) != 1 ||
		    read(pair[1], text, sizeof(text)) != UNIX_BYTES)
			die("unix");
	}
	for (int i = 0; i < MANY; i++)
		many[i].msg_hdr = (struct msghdr){ .msg_iov = &v, .msg_iovlen = 1 };
	if (sendmmsg(pair[0], many, MANY, 0) != MANY ||
	    recvmmsg(pair[1], many, MANY, 0, NULL) != MANY)
		die("mmsg");
	printf("unix %d %d %d\n", (int)getpid(), UNIX + MANY, UNIX * UNIX_BYTES + MANY * 11);
	close(pair[0]);
	close(pair[1]);
}

/* ---- a receive that waits ---- */

struct waiting {
	int fd;
	pid_t tid;
};

static void *answer(void *arg)
{
	const struct waiting *w = arg;
	const struct timespec nap = { .tv_nsec = nap_ns }, bit = { .tv_nsec = 1000000 };

	while (threadstate_of(w->tid) != 'S')
		nanosleep(&bit, NULL);
	nanosleep(&nap, NULL);
	if (write(w->fd, "at last", 7) != 7)
		die("answer");
	return NULL;
}

__attribute__((noinline)) static void receive_slowly(int fd)
{
	char text[64];

	if (read(fd, text, sizeof(text)) != 7)
		die("receive");
	__asm__ volatile("");
}

static void wait_for_it(void)
{
	struct waiting w = { .tid = (pid_t)syscall(SYS_gettid) };
	uint64_t since_ns;
	pthread_t thread;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair))
		die("socketpair");
	w.fd = pair[0];
	since_ns = now_ns();
	if (pthread_create(&thread, NULL, answer, &w))
		die("pthread_create");
	receive_slowly(pair[1]);
	printf("slow %d %ld %llu\n", (int)getpid(), nap_ns,
	       (unsigned long long)(now_ns() - since_ns));
	pthread_join(thread, NULL);
}

static void to_queue(const char *address)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(9) };
	char text[1000] = "";
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	uint64_t since_ns = now_ns();

	if (inet_pton(AF_INET, address, &at.sin_addr) != 1)
		die(address);
	for (int i = 0; i < QUEUED; i++)
		sendto(fd, text, sizeof(text), 0, (void *)&at, sizeof(at));
	printf("queued %d %d %llu\n", (int)getpid(), QUEUED,
	       (unsigned long long)(now_ns() - since_ns));
	close(fd);
}

int main(int argc, char **argv)
{
	to_closed(AF_INET, CLOSED4);
	to_closed(AF_INET6, CLOSED6);
	printf("closed %d %d %d\n", (int)getpid(), CLOSED4, CLOSED6);
	to_full();
	by_unix();
	if (argc > 1)
		to_queue(argv[1]);
	wait_for_it();
	return 0;
}
