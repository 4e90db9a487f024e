/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* locate - the file that was mapped, if this machine still has it */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "analyze/sym/locate.h"

#define VDSO_NAME      "[vdso]"
#define VDSO_MAX_BYTES 65536
#define DELETED        " (deleted)"
#define DEBUG_FOLDER   "/usr/lib/debug/.build-id/"

bool locate_is_anonymous(const char *path)
{
	static const char *const prefixes[] = { "//anon",         "/dev/zero", "/memfd:",
						"/anon_hugepage", "/SYSV",     "/dev/shm/memfd:" };
	size_t i;

	if (path[0] != '/')
		return strcmp(path, VDSO_NAME) != 0;
	for (i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (!strncmp(path, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

/* ---- opening ---- */

/* Below symfs, as if symfs were the root: symbolic links cannot lead out of it. */
static int open_below(const char *symfs, const char *path, int flags)
{
	struct open_how how = { .flags = (uint64_t)flags, .resolve = RESOLVE_IN_ROOT };
	int fd, dir;

	dir = open(symfs, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
	if (fd < 0)
		fd = -errno;
	close(dir);
	return fd;
}

static int open_flags(const char *symfs, const char *path, int flags)
{
	int fd;

	flags |= O_CLOEXEC;
	if (symfs && *symfs)
		return open_below(symfs, path, flags);
	fd = open(path, flags);
	return fd < 0 ? -errno : fd;
}

/*
 * Looks before it opens: opening a device may have effects.  Non-blocking, should the file have
 * become a FIFO in between.
 */
static int open_regular(const char *symfs, const char *path, bool follow, struct stat *st)
{
	int look, fd, nofollow = follow ? 0 : O_NOFOLLOW;

	look = open_flags(symfs, path, O_PATH | nofollow);
	if (look < 0)
		return look;
	if (fstat(look, st) || !S_ISREG(st->st_mode)) {
		close(look);
		return -ENOENT;
	}
	close(look);
	fd = open_flags(symfs, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | nofollow);
	if (fd >= 0 && (fstat(fd, st) || !S_ISREG(st->st_mode))) {
		close(fd);
		return -ENOENT;
	}
	return fd;
}

/* ---- identity ---- */

/* perf.data pads ids to 20 bytes without saying so: zeroes behind the shorter one are no difference. */
static bool same_id(const struct buildid *a, const struct buildid *b)
{
	const struct buildid *longer = a->size_bytes > b->size_bytes ? a : b;
	uint8_t shared = a->size_bytes + b->size_bytes - longer->size_bytes;
	size_t i;

	for (i = shared; i < longer->size_bytes; i++)
		if (longer->bytes[i])
			return false;
	return shared && !memcmp(a->bytes, b->bytes, shared);
}

/* Whether the open file is the recorded one. */
static enum name_reason check_id(int fd, const struct buildid *wanted)
{
	struct buildid id;
	int err;

	err = buildid_from_fd(fd, &id);
	if (err == -EBADMSG)
		return NAME_BAD_ELF;
	return !err && same_id(&id, wanted) ? NAME_FOUND : NAME_BUILD_ID_DIFFERS;
}

static enum name_reason reason_of(int err)
{
	return err == -EACCES || err == -EPERM ? NAME_NO_PERMISSION : NAME_FILE_GONE;
}

/* deleted: the path had the kernel's mark, so what is there now is probably another file. */
static enum name_reason open_checked(const char *symfs, const struct resolver_file *f,
				     const char *path, bool deleted, int *out)
{
	bool has_id = f->build_id.size_bytes;
	enum name_reason reason = NAME_FOUND;
	struct stat st;
	int fd;

	/* The kernel's paths have no links; without an id, one that is there now is suspect. */
	fd = open_regular(symfs, path, has_id || (symfs && *symfs), &st);
	if (fd < 0)
		return reason_of(fd);
	if (has_id)
		reason = check_id(fd, &f->build_id);
	else if (deleted && (!f->inode || st.st_ino != f->inode))
		reason = NAME_FILE_GONE;
	if (reason != NAME_FOUND) {
		close(fd);
		return reason;
	}
	*out = fd;
	return NAME_FOUND;
}

/* ---- vdso ---- */

/* A copy of the image the kernel mapped into this process, as a file. */
static int vdso_open(void)
{
	const Elf64_Ehdr *e = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);
	size_t size_bytes;
	int fd;

	if (!e || memcmp(e->e_ident, ELFMAG, SELFMAG) != 0 || e->e_ident[EI_CLASS] != ELFCLASS64)
		return -ENOENT;
	size_bytes = e->e_shoff + (size_t)e->e_shnum * e->e_shentsize; /* they come last */
	if (size_bytes > VDSO_MAX_BYTES)
		return -ENOENT;
	fd = memfd_create("vdso", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, e, size_bytes) != (ssize_t)size_bytes) {
		close(fd);
		return -EIO;
	}
	return fd;
}

static enum name_reason vdso_checked(const struct buildid *wanted, int *out)
{
	enum name_reason reason = NAME_FOUND;
	int fd;

	fd = vdso_open();
	if (fd < 0)
		return NAME_FILE_GONE;
	if (wanted->size_bytes)
		reason = check_id(fd, wanted);
	if (reason != NAME_FOUND) {
		close(fd);
		return reason;
	}
	*out = fd;
	return NAME_FOUND;
}

/* ---- all of it ---- */

enum name_reason locate_open(const char *symfs, const struct resolver_file *f, int *fd)
{
	size_t path_bytes = strlen(f->path), mark_bytes = strlen(DELETED);
	enum name_reason reason;
	char *path;

	if (locate_is_anonymous(f->path))
		return NAME_ANONYMOUS;
	if (!strcmp(f->path, VDSO_NAME))
		return vdso_checked(&f->build_id, fd);
	reason = open_checked(symfs, f, f->path, false, fd);
	if (reason == NAME_FOUND || path_bytes <= mark_bytes ||
	    strcmp(f->path + path_bytes - mark_bytes, DELETED) != 0)
		return reason;
	path = strndup(f->path, path_bytes - mark_bytes);
	if (!path)
		return NAME_FILE_GONE;
	reason = open_checked(symfs, f, path, true, fd);
	free(path);
	return reason;
}

int locate_debug(const char *symfs, const struct buildid *id, int *fd)
{
	char hex[BUILDID_HEX_BYTES], path[sizeof(DEBUG_FOLDER) + BUILDID_HEX_BYTES + 8];
	struct resolver_file f = { .path = path, .build_id = *id };

	if (id->size_bytes < 2)
		return -ENOENT;
	buildid_hex(id, hex);
	snprintf(path, sizeof(path), DEBUG_FOLDER "%.2s/%s.debug", hex, hex + 2);
	return open_checked(symfs, &f, path, false, fd) == NAME_FOUND ? 0 : -ENOENT;
}
