/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/process/file/map_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "record/privsep/path_below.h"

#ifndef STATX_MNT_ID_UNIQUE /* Linux 6.8: <linux/stat.h> */
#define STATX_MNT_ID_UNIQUE 0x4000U
#endif

#define OPEN_FLAGS (O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)

/*
 * fd, or closes it: the process's id or address may be another process's by now, and so the path.
 * The device is no proof where a file system has many (btrfs shows another one in maps than in
 * stat), so it is not compared for the mapping itself.
 */
static int checked(const struct mapping *m, int fd, bool same_device)
{
	struct stat st;

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_ino == m->id.inode &&
	    (!same_device || file_id_is_on(&m->id, st.st_dev)))
		return fd;
	close(fd);
	return -ESTALE;
}

static void path_of_mapped(const struct mapping *m, char path[96])
{
	snprintf(path, 96, "/proc/%u/map_files/%llx-%llx", m->pid, (unsigned long long)m->start,
		 (unsigned long long)m->start + (unsigned long long)m->size_bytes);
}

static int open_mapped(const struct mapping *m)
{
	char path[96];
	struct stat st;

	path_of_mapped(m, path);
	/* A device may do anything when it is opened. */
	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return -ENOENT;
	return checked(m, open(path, OPEN_FLAGS), false);
}

/* The program itself: its owner may open it also where its path leads through others' folders. */
static int open_program(const struct mapping *m)
{
	char path[48];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%u/exe", m->pid);
	if (stat(path, &st) || !S_ISREG(st.st_mode) || st.st_ino != m->id.inode)
		return -ENOENT;
	return checked(m, open(path, OPEN_FLAGS), true);
}

/* Symbolic links stay inside the root.  A device may do anything when it is opened, so that comes last. */
static int open_below(const char *root, const struct mapping *m)
{
	char found[32];
	int dir, at, fd;

	dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	at = path_below(dir, m->path, true);
	close(dir);
	at = at < 0 ? at : checked(m, at, true);
	if (at < 0)
		return at;
	snprintf(found, sizeof(found), "/proc/self/fd/%d", at);
	fd = checked(m, open(found, OPEN_FLAGS), true);
	close(at);
	return fd;
}

int map_file_open_by(const struct mapping *m, uint32_t pid)
{
	char root[48];

	snprintf(root, sizeof(root), "/proc/%u/root", pid);
	return open_below(root, m);
}

int map_file_open(const struct mapping *m)
{
	int fd = open_mapped(m);

	if (fd < 0)
		fd = open_program(m);
	if (fd < 0)
		fd = map_file_open_by(m, m->pid);
	return fd >= 0 ? fd : open_below("/", m);
}

int map_file_name(const struct mapping *m)
{
	char path[96];
	int fd;

	path_of_mapped(m, path);
	fd = open(path, O_PATH | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Not asking the file system anew: what the kernel knows is enough, and a server need not answer. */
static int stat_mapped(const struct mapping *m, int at, struct stat *st, uint64_t *mount)
{
	const unsigned mask = STATX_BASIC_STATS | STATX_MNT_ID_UNIQUE;
	char path[96] = "";
	struct statx x;

	if (at < 0)
		path_of_mapped(m, path);
	if (statx(at < 0 ? AT_FDCWD : at, path, AT_STATX_DONT_SYNC | (at < 0 ? 0 : AT_EMPTY_PATH),
		  mask, &x))
		return -errno;
	if (!S_ISREG(x.stx_mode) || x.stx_ino != m->id.inode)
		return -ESTALE;
	*st = (struct stat){
		.st_ino = x.stx_ino,
		.st_size = (off_t)x.stx_size,
		.st_mtim = { x.stx_mtime.tv_sec, x.stx_mtime.tv_nsec },
		.st_ctim = { x.stx_ctime.tv_sec, x.stx_ctime.tv_nsec },
	};
	*mount = x.stx_mask & STATX_MNT_ID_UNIQUE ? x.stx_mnt_id : 0;
	return 0;
}

int mapfile_stat(const struct mapping *m, int at, struct stat *st, uint64_t *mount)
{
	char path[48];
	int fd, err;

	*mount = 0;
	if (!stat_mapped(m, at, st, mount))
		return 0;
	snprintf(path, sizeof(path), "/proc/%u", m->pid);
	if (access(path, F_OK))
		return -ESRCH;
	fd = map_file_open(m);
	if (fd < 0)
		return fd;
	err = fstat(fd, st) ? -errno : 0;
	close(fd);
	return err;
}
