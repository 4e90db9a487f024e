/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * failcall.so - one kind of call that fails in ebprec-record, for LD_PRELOAD
 *
 * FAILCALL names the call:
 *	bpf:COMMAND[:NAME]	COMMAND is a number of enum bpf_cmd, NAME the beginning of a map's or program's name
 *	perf_event_open, epoll_ctl, epoll_wait, pthread_create, posix_spawn, eventfd, signalfd,
 *	timerfd_create, nameless	(nameless: openat with O_TMPFILE)
 *	mmap:perf, mmap:bpf	a ring of perf events, a map of BPF
 *	corrupt:perf		fails nothing: where a ring of perf events goes on there is no record
 * FAILCALL_AFTER: so many succeed before; FAILCALL_TIMES: so many fail, 0: all; FAILCALL_ERRNO.
 * FAILCALL_FILE: as long as this file is not there, nothing fails or counts.
 * FAILCALL_DONE: this file is made when a call fails.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { MAP_CREATE = 0, MAP_NAME_AT = 28, BATCH_FD_AT = 36, GET_INFO = 15, INFO_NAME_AT = 24 };
enum { PROG_LOAD = 5, PROG_NAME_AT = 48 };
enum { LOOKUP_BATCH = 24, DELETE_BATCH = 27, RINGS_MAX = 64 };

static long number_of(const char *name)
{
	const char *text = getenv(name);

	return text ? atol(text) : 0;
}

static bool is_wanted(const char *call)
{
	const char *want = getenv("FAILCALL"), *file = getenv("FAILCALL_FILE");

	return want && !strncmp(want, call, strlen(call)) &&
	       !strcmp(program_invocation_short_name, "ebprec-record") &&
	       (!file || syscall(SYS_access, file, F_OK) == 0);
}

static void note_failure(void)
{
	const char *file = getenv("FAILCALL_DONE");
	long fd = file ? syscall(SYS_openat, AT_FDCWD, file,
				 O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)
		       : -1;

	if (fd >= 0)
		syscall(SYS_close, fd);
}

/* This one fails; errno is set. */
static bool fails(const char *call)
{
	static atomic_long calls;
	long n, after = number_of("FAILCALL_AFTER"), times = number_of("FAILCALL_TIMES");

	if (!is_wanted(call))
		return false;
	n = atomic_fetch_add(&calls, 1);
	if (n < after || (times && n >= after + times))
		return false;
	note_failure();
	errno = (int)number_of("FAILCALL_ERRNO");
	return true;
}

/* ---- system calls without a function of their own ---- */

static long (*real_syscall(void))(long, ...)
{
	return (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
}

/* The name of the map or program that a command is about. */
static void name_of(long command, const char *attr, char name[16])
{
	uint32_t fd;
	char info[96] = { 0 }, ask[120] = { 0 };
	uint64_t info_at = (uint64_t)(uintptr_t)info;
	uint32_t info_bytes = sizeof(info);

	memset(name, 0, 16);
	if (command == MAP_CREATE || command == PROG_LOAD) {
		memcpy(name, attr + (command == MAP_CREATE ? MAP_NAME_AT : PROG_NAME_AT), 15);
		return;
	}
	memcpy(&fd, attr + (command >= LOOKUP_BATCH && command <= DELETE_BATCH ? BATCH_FD_AT : 0),
	       sizeof(fd));
	memcpy(ask, &fd, sizeof(fd));
	memcpy(ask + 4, &info_bytes, sizeof(info_bytes));
	memcpy(ask + 8, &info_at, sizeof(info_at));
	if (!real_syscall()(SYS_bpf, GET_INFO, ask, 16L))
		memcpy(name, info + INFO_NAME_AT, 15);
}

static bool fails_bpf(long command, const char *attr)
{
	const char *want = getenv("FAILCALL"), *of = want ? strrchr(want, ':') : NULL;
	char call[24], name[16];

	snprintf(call, sizeof(call), "bpf:%ld", command);
	if (!want || strncmp(want, call, strlen(call)) != 0 ||
	    (want[strlen(call)] && want[strlen(call)] != ':'))
		return false;
	if (of && of > want + 3) {
		name_of(command, attr, name);
		if (strncmp(name, of + 1, strlen(of + 1)) != 0)
			return false;
	}
	return fails(call);
}

long syscall(long number, ...);

long syscall(long number, ...)
{
	va_list list;
	long a[6];

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if ((number == SYS_bpf && fails_bpf(a[0], (const char *)a[1])) ||
	    (number == SYS_perf_event_open && fails("perf_event_open")))
		return -1;
	return real_syscall()(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* ---- rings ---- */

static struct perf_event_mmap_page *rings[RINGS_MAX];
static size_t ring_count;

static bool is_of(int fd, const char *kind)
{
	char path[40], link[64] = "";

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return readlink(path, link, sizeof(link) - 1) > 0 && strstr(link, kind);
}

void *mmap(void *at, size_t bytes, int prot, int flags, int fd, off_t off)
{
	bool perf = fd >= 0 && is_of(fd, "[perf_event]");
	void *p;

	if ((perf && fails("mmap:perf")) || (fd >= 0 && is_of(fd, "bpf-map") && fails("mmap:bpf")))
		return MAP_FAILED;
	p = (void *)real_syscall()(SYS_mmap, at, bytes, prot, flags, fd, off);
	if (p != MAP_FAILED && perf && ring_count < RINGS_MAX)
		rings[ring_count++] = p;
	return p;
}

void *mmap64(void *at, size_t bytes, int prot, int flags, int fd, off64_t off)
	__attribute__((alias("mmap")));

int munmap(void *at, size_t bytes)
{
	for (size_t i = 0; i < ring_count; i++) {
		if (rings[i] == at)
			rings[i--] = rings[--ring_count];
	}
	return (int)real_syscall()(SYS_munmap, at, bytes);
}

/* Reading goes on amid a record; the records themselves are not for us to write. */
static void corrupt(void)
{
	static long done;
	long times = number_of("FAILCALL_TIMES");

	for (size_t i = 0; i < ring_count && (!times || done < times); i++) {
		struct perf_event_mmap_page *page = rings[i];
		uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);

		if (head == page->data_tail)
			continue;
		page->data_tail += 4;
		done++;
	}
}

/* ---- the rest ---- */

int epoll_wait(int epoll_fd, struct epoll_event *events, int max, int wait_ms)
{
	int (*real)(int, struct epoll_event *, int, int) =
		(int (*)(int, struct epoll_event *, int, int))dlsym(RTLD_NEXT, "epoll_wait");
	int count;

	if (fails("epoll_wait"))
		return -1;
	count = real(epoll_fd, events, max, wait_ms);
	if (is_wanted("corrupt:perf"))
		corrupt();
	return count;
}

int epoll_ctl(int epoll_fd, int op, int fd, struct epoll_event *event)
{
	int (*real)(int, int, int, struct epoll_event *) =
		(int (*)(int, int, int, struct epoll_event *))dlsym(RTLD_NEXT, "epoll_ctl");

	return fails("epoll_ctl") ? -1 : real(epoll_fd, op, fd, event);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
	int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *),
		    void *) = (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *),
				       void *))dlsym(RTLD_NEXT, "pthread_create");

	return fails("pthread_create") ? errno : real(thread, attr, run, arg);
}

int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		const posix_spawnattr_t *attr, char *const argv[], char *const envp[])
{
	int (*real)(pid_t *, const char *, const posix_spawn_file_actions_t *,
		    const posix_spawnattr_t *, char *const[], char *const[]) =
		(int (*)(pid_t *, const char *, const posix_spawn_file_actions_t *,
			 const posix_spawnattr_t *, char *const[],
			 char *const[]))dlsym(RTLD_NEXT, "posix_spawn");

	return fails("posix_spawn") ? errno : real(pid, path, actions, attr, argv, envp);
}

int eventfd(unsigned count, int flags)
{
	return fails("eventfd") ? -1 : (int)real_syscall()(SYS_eventfd2, count, flags);
}

int timerfd_create(int clock, int flags)
{
	return fails("timerfd_create") ? -1 : (int)real_syscall()(SYS_timerfd_create, clock, flags);
}

int signalfd(int fd, const sigset_t *mask, int flags)
{
	return fails("signalfd") ? -1 : (int)real_syscall()(SYS_signalfd4, fd, mask, 8L, flags);
}

int openat(int dir_fd, const char *path, int flags, ...)
{
	va_list list;
	unsigned mode;

	va_start(list, flags);
	mode = va_arg(list, unsigned);
	va_end(list);
	if ((flags & O_TMPFILE) == O_TMPFILE && fails("nameless"))
		return -1;
	return (int)real_syscall()(SYS_openat, dir_fd, path, flags, mode);
}
