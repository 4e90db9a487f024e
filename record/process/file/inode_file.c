/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/process/file/inode_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "format/base/outbuf.h"
#include "format/os/slurp.h"

/* The handle types of the kernel's exportfs.h, for file systems without types of their own. */
#define HANDLE_INO32_GEN 1    /* u32 inode, u32 generation */
#define HANDLE_INO64_GEN 0x81 /* XFS: u64 inode, u32 generation */

static bool has_handles(const char *type, size_t type_bytes)
{
	static const char *const types[] = { "ext4", "xfs", "ext3", "ext2", "f2fs" };

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strlen(types[i]) == type_bytes && !memcmp(types[i], type, type_bytes))
			return true;
	return false;
}

/* \040 and the like. */
static char *decoded(const char *field, size_t field_bytes)
{
	char *out = strndup(field, field_bytes), *to = out;

	for (const char *s = out; s && *s; s++) {
		if (*s == '\\' && strspn(s + 1, "01234567") >= 3) {
			*to++ = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
			s += 3;
		} else {
			*to++ = *s;
		}
	}
	if (out)
		*to = '\0';
	return out;
}

/* "36 35 98:0 /root /point rw,noatime master:1 - ext3 /dev/root rw" */
char *inode_file_mount(const char *mounts, uint32_t dev_major, uint32_t dev_minor)
{
	const char *line, *end, *type, *point;
	unsigned a, b;
	int at;

	for (line = mounts; *line; line = *end ? end + 1 : end) {
		end = strchrnul(line, '\n');
		at = 0;
		if (sscanf(line, "%*u %*u %u:%u %*s %n", &a, &b, &at) != 2 || a != dev_major ||
		    b != dev_minor || !at || line + at >= end || line[at] != '/')
			continue;
		type = memmem(line, (size_t)(end - line), " - ", 3);
		point = line + at;
		if (type && has_handles(type + 3, strcspn(type + 3, " \n")))
			return decoded(point, strcspn(point, " \n"));
	}
	return NULL;
}

/* Opens a folder of that file system, to identify it. */
static int open_mount(const struct mapping *m)
{
	struct outbuf mounts = { 0 };
	char *point = NULL;
	struct stat st;
	int fd = -ENOENT;

	if (!slurp("/proc/self/mountinfo", &mounts) && mounts.size_bytes)
		point = inode_file_mount((const char *)mounts.data, m->id.dev_major,
					 m->id.dev_minor);
	outbuf_done(&mounts);
	if (point) {
		fd = open(point, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		fd = fd < 0 ? -errno : fd;
	}
	free(point);
	/* Something else may lie over it. */
	if (fd >= 0 && (fstat(fd, &st) || !file_id_is_on(&m->id, st.st_dev))) {
		close(fd);
		fd = -ENOENT;
	}
	return fd;
}

static int open_handle(int mount, const struct mapping *m)
{
	struct {
		struct file_handle head;
		uint8_t bytes[12];
	} handle = { .head.handle_bytes = 8, .head.handle_type = HANDLE_INO32_GEN };
	uint32_t inode = (uint32_t)m->id.inode, generation = (uint32_t)m->id.inode_generation;
	uint8_t *to = handle.bytes;
	int fd;

	if (m->id.inode > UINT32_MAX) {
		handle.head.handle_bytes = 12;
		handle.head.handle_type = HANDLE_INO64_GEN;
		memcpy(to, &m->id.inode, 8);
		to += 8;
	} else {
		memcpy(to, &inode, 4);
		to += 4;
	}
	memcpy(to, &generation, 4);
	fd = open_by_handle_at(mount, &handle.head, O_PATH | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Where the file is for us, if it still is. */
static char *path_of(const char *link, const struct stat *st)
{
	char path[4096];
	ssize_t n = readlink(link, path, sizeof(path) - 1);
	struct stat there;

	if (n <= 0 || path[0] != '/')
		return NULL;
	path[n] = '\0';
	if (lstat(path, &there) || there.st_ino != st->st_ino || there.st_dev != st->st_dev)
		return NULL;
	return strdup(path);
}

int inode_file_open(const struct mapping *m, char **path)
{
	int mount, at, fd = -ESTALE;
	struct stat st;
	char link[40];

	/* Those without a device of their own have other handles; without a generation it may be any file. */
	if (!m->id.dev_major || !m->id.inode || !m->id.inode_generation ||
	    m->id.inode_generation > UINT32_MAX)
		return -ENOENT;
	mount = open_mount(m);
	if (mount < 0)
		return mount;
	at = open_handle(mount, m);
	close(mount);
	if (at < 0)
		return at;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", at);
	if (!fstat(at, &st) && S_ISREG(st.st_mode) && st.st_ino == m->id.inode) {
		fd = open(link, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
		fd = fd < 0 ? -errno : fd;
	}
	if (fd >= 0)
		*path = path_of(link, &st);
	close(at);
	return fd;
}
