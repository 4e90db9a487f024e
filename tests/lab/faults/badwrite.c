/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * badwrite.so - a disk that fails, for LD_PRELOAD
 *
 * pwrite() fails with errno BADWRITE_ERRNO beyond BADWRITE_AFTER bytes of a file, as a broken or full
 * disk has it: what lies before still can be written again.  After the first failure there is room for
 * 64 KiB more.  BADWRITE_MS: each call takes so long.
 * BADCALL: the one of fsync, linkat, renameat and renameat2 that fails with errno BADWRITE_ERRNO, each time.
 * For machines without device mapper and quotas.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

ssize_t pwrite(int fd, const void *data, size_t size_bytes, off_t at);
ssize_t pwrite64(int fd, const void *data, size_t size_bytes, off64_t at);

static long setting(const char *name)
{
	const char *text = getenv(name);

	return text ? atol(text) : 0;
}

ssize_t pwrite64(int fd, const void *data, size_t size_bytes, off64_t at)
{
	static int failed;
	ssize_t (*real)(int, const void *, size_t, off64_t) = dlsym(RTLD_NEXT, "pwrite64");
	long ms = setting("BADWRITE_MS"), after = setting("BADWRITE_AFTER");
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	if (ms)
		nanosleep(&t, NULL);
	after += failed ? 65536 : 0;
	if (after && at + (off64_t)size_bytes > after) {
		if (at < after && !failed) /* as much as fits, as a disk does */
			return real(fd, data, (size_t)(after - at), at);
		failed = 1;
		errno = (int)setting("BADWRITE_ERRNO");
		return -1;
	}
	return real(fd, data, size_bytes, at);
}

ssize_t pwrite(int fd, const void *data, size_t size_bytes, off_t at)
{
	return pwrite64(fd, data, size_bytes, at);
}

static int is_bad(const char *call)
{
	const char *bad = getenv("BADCALL");

	if (!bad || strcmp(bad, call) != 0)
		return 0;
	errno = (int)setting("BADWRITE_ERRNO");
	return 1;
}

int fsync(int fd)
{
	int (*real)(int) = dlsym(RTLD_NEXT, "fsync");

	return is_bad("fsync") ? -1 : real(fd);
}

int linkat(int from_fd, const char *from, int to_fd, const char *to, int flags)
{
	int (*real)(int, const char *, int, const char *, int) = dlsym(RTLD_NEXT, "linkat");

	return is_bad("linkat") ? -1 : real(from_fd, from, to_fd, to, flags);
}

int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
	int (*real)(int, const char *, int, const char *) = dlsym(RTLD_NEXT, "renameat");

	return is_bad("renameat") ? -1 : real(from_fd, from, to_fd, to);
}

int renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags)
{
	int (*real)(int, const char *, int, const char *, unsigned) = dlsym(RTLD_NEXT, "renameat2");

	return is_bad("renameat2") ? -1 : real(from_fd, from, to_fd, to, flags);
}
