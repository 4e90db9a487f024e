/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sym/locate/open_in_root.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "analyze/sym/locate/file_opener.h"
#include "format/base/cursor.h"

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

/* The first bytes are those of a program, a library, or an object file. */
static bool is_code(int fd)
{
	uint8_t head[EI_NIDENT + sizeof(uint16_t)];
	uint16_t type;

	if (pread(fd, head, sizeof(head), 0) != sizeof(head) || memcmp(head, ELFMAG, SELFMAG) != 0)
		return false;
	type = head[EI_DATA] == ELFDATA2MSB ? (uint16_t)(head[EI_NIDENT] << 8 | head[EI_NIDENT + 1])
					    : le16_load(head + EI_NIDENT);
	return type == ET_EXEC || type == ET_DYN || type == ET_REL;
}

/*
 * Looks before it opens: opening a device may have effects.  Non-blocking, should the file have
 * become a FIFO in between.
 */
static int open_here(const char *root, const char *path, bool follow, struct stat *st)
{
	int look, fd, err = 0, nofollow = follow ? 0 : O_NOFOLLOW;

	look = open_flags(root, path, O_PATH | nofollow);
	if (look < 0)
		return look;
	if (fstat(look, st) || !S_ISREG(st->st_mode)) {
		close(look);
		return -ENOENT;
	}
	close(look);
	fd = open_flags(root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | nofollow);
	if (fd < 0)
		return fd;
	if (fstat(fd, st) || !S_ISREG(st->st_mode))
		err = -ENOENT;
	else if (!is_code(fd))
		err = -ENOEXEC;
	if (err)
		close(fd);
	return err ? err : fd;
}

static int stat_here(const char *root, const char *path, struct stat *st)
{
	int err, look = open_flags(root, path, O_PATH | O_NOFOLLOW);

	if (look < 0)
		return look;
	err = fstat(look, st) ? -errno : 0;
	close(look);
	return err;
}

int roots_open(int opener, const char *root, const char *path, bool follow, struct stat *st)
{
	return opener > 0 ? file_opener_open(opener, root, path, follow, st)
			  : open_here(root, path, follow, st);
}

int roots_stat(int opener, const char *root, const char *path, struct stat *st)
{
	return opener > 0 ? file_opener_stat(opener, root, path, st) : stat_here(root, path, st);
}
