/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sym/locate/open_in_root.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "analyze/sym/locate/file_opener.h"
#include "format/base/cursor.h"

#define CONFIGFS_MAGIC 0x62656570u /* fs/configfs/configfs_internal.h */
#define RESCTRL_MAGIC  0x7655821u  /* RDTGROUP_SUPER_MAGIC, which older headers lack */

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

/* Which of the opened files may be handed out. */
typedef bool (*accept_fn)(int fd, const struct stat *st);

/* The first bytes are those of a program, a library, or an object file. */
static bool is_code(int fd, const struct stat *st)
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
 * Whether it is a source of the languages that compilers name in debug information, or of Python, whose frames have
 * files and lines, too; other scripts and settings are none of them.
 */
static bool has_source_name(const char *path)
{
	static const char *const endings[] = {
		"c",   "h",   "cc",   "hh",  "cpp",   "hpp",   "cxx",  "hxx", "c++", "h++", "C",
		"H",   "inc", "inl",  "ipp", "tpp",   "tcc",   "txx",  "cu",  "cuh", "m",   "mm",
		"S",   "s",   "asm",  "rs",  "go",    "d",     "zig",  "nim", "f",   "for", "f77",
		"f90", "f95", "f03",  "f08", "F",     "F90",   "pas",  "pp",  "adb", "ads", "ml",
		"mli", "hs",  "java", "kt",  "scala", "swift", "cr",   "v",   "y",   "l",   "re",
		"def", "pyx", "pxd",  "py",  "ispc",  "cl",    "glsl",
	};
	const char *name = strrchr(path, '/'), *dot = name ? strrchr(name, '.') : NULL;

	for (size_t i = 0; dot && i < sizeof(endings) / sizeof(endings[0]); i++)
		if (!strcmp(dot + 1, endings[i]))
			return true;
	return strstr(path, "/usr/include/"); /* <vector> */
}

/* By the name that the file itself has, so that no link leads to another one. */
static bool is_source(int fd, const struct stat *st)
{
	char link[32], path[PATH_MAX + 16], head[4096];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0 || (size_t)n >= sizeof(path) - 1)
		return false;
	path[n] = '\0';
	if (!has_source_name(path) || st->st_size > (off_t)SOURCE_MAX_BYTES)
		return false;
	n = pread(fd, head, sizeof(head), 0);
	return n >= 0 && !memchr(head, '\0', (size_t)n);
}

/*
 * Whether the kernel makes its bytes as they are read: reading has effects there (what was read of
 * /proc/kmsg is gone), and no program lies there.
 */
static bool is_made_by_kernel(int fd)
{
	static const uint32_t magics[] = {
		PROC_SUPER_MAGIC,  SYSFS_MAGIC,         DEBUGFS_MAGIC,  TRACEFS_MAGIC,
		SECURITYFS_MAGIC,  CGROUP_SUPER_MAGIC,  PSTOREFS_MAGIC, EFIVARFS_MAGIC,
		SELINUX_MAGIC,     CGROUP2_SUPER_MAGIC, BINFMTFS_MAGIC, BPF_FS_MAGIC,
		XENFS_SUPER_MAGIC, SMACK_MAGIC,         CONFIGFS_MAGIC, RESCTRL_MAGIC,
	};
	struct statfs fs;

	if (fstatfs(fd, &fs))
		return false; /* a FUSE server may refuse this */
	for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++)
		if ((uint32_t)fs.f_type == magics[i])
			return true;
	return false;
}

/* The file that was looked at, whatever its path leads to now. */
static int open_looked_at(int look, const char *root, const char *path, int nofollow)
{
	const int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	char link[32];
	int fd;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", look);
	fd = open(link, flags);
	if (fd < 0 && errno == ENOENT) /* no /proc is mounted */
		return open_flags(root, path, flags | nofollow);
	return fd < 0 ? -errno : fd;
}

/*
 * Looks before it opens: opening a device may have effects.  Non-blocking, should the file have
 * become a FIFO in between, where there is no /proc.
 */
static int open_here(const char *root, const char *path, bool follow, accept_fn accept,
		     struct stat *st)
{
	int look, fd, err = 0, nofollow = follow ? 0 : O_NOFOLLOW;

	look = open_flags(root, path, O_PATH | nofollow);
	if (look < 0)
		return look;
	if (fstat(look, st) || !S_ISREG(st->st_mode) || is_made_by_kernel(look)) {
		close(look);
		return -ENOENT;
	}
	fd = open_looked_at(look, root, path, nofollow);
	close(look);
	if (fd < 0)
		return fd;
	if (fstat(fd, st) || !S_ISREG(st->st_mode))
		err = -ENOENT;
	else if (!accept(fd, st))
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
			  : open_here(root, path, follow, is_code, st);
}

int roots_open_source(int opener, const char *root, const char *path, struct stat *st)
{
	return opener > 0 ? file_opener_open_source(opener, root, path, st)
			  : open_here(root, path, true, is_source, st);
}

int roots_stat(int opener, const char *root, const char *path, struct stat *st)
{
	return opener > 0 ? file_opener_stat(opener, root, path, st) : stat_here(root, path, st);
}
