/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * holders - a thread holds what another wants, so many times for so long
 *
 * Prints, a line each: "mutex" and "pi" (with priority inheritance): PID HOLDER ADDRESS TIMES NS, NS
 * being the least that each wait takes; "kernel PID TIMES NS" and the ids of the threads that held it: the mutex
 * of a pipe, which is held while a page of the text that is written is missing.
 */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/live/workloads/threadstate.h"

enum { ROUNDS = 3, NAP_NS = 60000000 };

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void nap(long ns)
{
	const struct timespec t = { .tv_nsec = ns };

	nanosleep(&t, NULL);
}

static void until_state(const _Atomic pid_t *tid, char state)
{
	while (!*tid || threadstate_of(*tid) != state)
		nap(1000000);
}

/* ---- a mutex ---- */

struct wanted {
	pthread_mutex_t mutex;
	_Atomic pid_t tid; /* of the thread that is about to want it */
};

__attribute__((noinline)) static void want_lock(pthread_mutex_t *m)
{
	pthread_mutex_lock(m);
	__asm__ volatile("");
}

__attribute__((noinline)) static void release_lock(pthread_mutex_t *m)
{
	pthread_mutex_unlock(m);
	__asm__ volatile("");
}

static void *want(void *arg)
{
	struct wanted *w = arg;

	w->tid = (pid_t)syscall(SYS_gettid);
	want_lock(&w->mutex);
	release_lock(&w->mutex);
	return NULL;
}

static void hold(const char *name, int protocol, struct wanted *w)
{
	pthread_mutexattr_t attr;
	pthread_t thread;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, protocol);
	if (pthread_mutex_init(&w->mutex, &attr))
		die("pthread_mutex_init");
	for (int i = 0; i < ROUNDS; i++) {
		w->tid = 0;
		pthread_mutex_lock(&w->mutex);
		if (pthread_create(&thread, NULL, want, w))
			die("pthread_create");
		until_state(&w->tid, 'S');
		nap(NAP_NS);
		release_lock(&w->mutex);
		pthread_join(thread, NULL);
	}
	printf("%s %d %d 0x%lx %d %d\n", name, (int)getpid(), (int)syscall(SYS_gettid),
	       (unsigned long)(uintptr_t)&w->mutex, ROUNDS, NAP_NS);
}

/* ---- a mutex of the kernel ---- */

struct writing {
	int fd;
	const void *text;
	_Atomic pid_t tid;
};

static void *write_text(void *arg)
{
	struct writing *w = arg;

	w->tid = (pid_t)syscall(SYS_gettid);
	if (write(w->fd, w->text, 1) != 1)
		die("write");
	return NULL;
}

/* The first writer has the pipe's mutex until we give it the page that it is to copy from. */
static pid_t hold_pipe(int fault_fd, int pipe_fd, void *page, size_t page_bytes)
{
	struct writing first = { pipe_fd, page, 0 }, second = { pipe_fd, "x", 0 };
	struct uffdio_zeropage fill = { .range = { (uintptr_t)page, page_bytes } };
	pthread_t threads[2];
	struct uffd_msg fault;

	if (pthread_create(&threads[0], NULL, write_text, &first))
		die("pthread_create");
	if (read(fault_fd, &fault, sizeof(fault)) != sizeof(fault))
		die("userfaultfd");
	if (pthread_create(&threads[1], NULL, write_text, &second))
		die("pthread_create");
	until_state(&second.tid, 'D');
	nap(NAP_NS);
	if (ioctl(fault_fd, UFFDIO_ZEROPAGE, &fill))
		die("UFFDIO_ZEROPAGE");
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return first.tid;
}

static void hold_pipes(void)
{
	const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	char *pages = mmap(NULL, ROUNDS * page_bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .range = { (uintptr_t)pages, ROUNDS * page_bytes },
				       .mode = UFFDIO_REGISTER_MODE_MISSING };
	int fault_fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC), ends[2];
	pid_t tids[ROUNDS];

	if (pages == MAP_FAILED || fault_fd < 0 || ioctl(fault_fd, UFFDIO_API, &api) ||
	    ioctl(fault_fd, UFFDIO_REGISTER, &reg) || pipe(ends))
		die("userfaultfd");
	for (int i = 0; i < ROUNDS; i++)
		tids[i] = hold_pipe(fault_fd, ends[1], pages + (size_t)i * page_bytes, page_bytes);
	printf("kernel %d %d %d", (int)getpid(), ROUNDS, NAP_NS);
	for (int i = 0; i < ROUNDS; i++)
		printf(" %d", (int)tids[i]);
	putchar('\n');
}

int main(void)
{
	static struct wanted plain, inherits;

	nap(300000000); /* our code is known by then */
	hold("mutex", PTHREAD_PRIO_NONE, &plain);
	hold("pi", PTHREAD_PRIO_INHERIT, &inherits);
	hold_pipes();
	return 0;
}
