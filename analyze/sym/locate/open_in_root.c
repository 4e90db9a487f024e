/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sym/locate/open_in_root.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

bool roots_is_host(const char *root)
{
	return !root || !*root || !strcmp(root, "/");
}

static int open_below(const char *root, const char *path, int flags)
{
	struct open_how how = { .flags = (uint64_t)flags, .resolve = RESOLVE_IN_ROOT };
	int fd, dir;

	dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
	if (fd < 0)
		fd = -errno;
	close(dir);
	return fd;
}

static int open_flags(const char *root, const char *path, int flags)
{
	int fd;

	flags |= O_CLOEXEC;
	if (!roots_is_host(root))
		return open_below(root, path, flags);
	fd = open(path, flags);
	return fd < 0 ? -errno : fd;
}

/*
 * Looks before it opens: opening a device may have effects.  Non-blocking, should the file have
 * become a FIFO in between.
 */
int roots_open(const char *root, const char *path, bool follow, struct stat *st)
{
	int look, fd, nofollow = follow ? 0 : O_NOFOLLOW;

	look = open_flags(root, path, O_PATH | nofollow);
	if (look < 0)
		return look;
	if (fstat(look, st) || !S_ISREG(st->st_mode)) {
		close(look);
		return -ENOENT;
	}
	close(look);
	fd = open_flags(root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | nofollow);
	if (fd >= 0 && (fstat(fd, st) || !S_ISREG(st->st_mode))) {
		close(fd);
		return -ENOENT;
	}
	return fd;
}

int roots_stat(const char *root, const char *path, struct stat *st)
{
	int err, look = open_flags(root, path, O_PATH | O_NOFOLLOW);

	if (look < 0)
		return look;
	err = fstat(look, st) ? -errno : 0;
	close(look);
	return err;
}
