/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/output/safe_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <unistd.h>

#define HOPS_MAX  40 /* links on the way, as the kernel has it */
#define DIR_FLAGS (O_PATH | O_DIRECTORY | O_CLOEXEC)

struct walk {
	int fd;     /* where we are */
	char *rest; /* still to go; owned */
	unsigned hops;
};

bool safe_dir_trusts(const struct stat *folder, const struct stat *link, uid_t own)
{
	if (!(folder->st_mode & S_IWOTH) || link->st_uid == own)
		return true;
	/* The owner of a sticky folder may do in it what he likes, anyway. */
	return (folder->st_mode & S_ISVTX) && link->st_uid == folder->st_uid;
}

static int move_to(struct walk *w, int fd)
{
	if (fd < 0)
		return -errno;
	close(w->fd);
	w->fd = fd;
	return 0;
}

/* Puts the link's text before the rest of the way. */
static int follow(struct walk *w, int link)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(link, "", target, sizeof(target) - 1);
	char *rest = NULL;
	int err = 0;

	if (n < 0)
		return -errno;
	target[n] = '\0';
	if (++w->hops > HOPS_MAX)
		return -ELOOP;
	if (target[0] == '/')
		err = move_to(w, open("/", DIR_FLAGS));
	if (!err && asprintf(&rest, "%s/%s", target, w->rest) < 0)
		err = -ENOMEM;
	if (err)
		return err;
	free(w->rest);
	w->rest = rest;
	return 0;
}

static int step(struct walk *w, const char *name)
{
	struct stat folder, st;
	struct statfs fs;
	int fd = openat(w->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	if (fstat(w->fd, &folder) || fstat(fd, &st) || fstatfs(fd, &fs)) {
		err = -errno;
		close(fd);
		return err;
	}
	if (S_ISDIR(st.st_mode))
		return move_to(w, fd);
	if (!S_ISLNK(st.st_mode))
		err = -ENOTDIR;
	else if (!safe_dir_trusts(&folder, &st, geteuid()))
		err = -EACCES;
	else if (fs.f_type == PROC_SUPER_MAGIC) /* its links lead where their text does not */
		err = move_to(w, openat(w->fd, name, DIR_FLAGS));
	else
		err = follow(w, fd);
	close(fd);
	return err;
}

static int walk(struct walk *w)
{
	char name[NAME_MAX + 1], *slash;
	size_t bytes, skip;
	int err = 0;

	while (!err && *w->rest) {
		slash = strchrnul(w->rest, '/');
		bytes = (size_t)(slash - w->rest);
		if (bytes > NAME_MAX)
			return -ENAMETOOLONG;
		memcpy(name, w->rest, bytes);
		name[bytes] = '\0';
		skip = bytes + (*slash == '/');
		memmove(w->rest, w->rest + skip, strlen(w->rest + skip) + 1);
		if (bytes && strcmp(name, "."))
			err = step(w, name);
	}
	return err;
}

int safe_dir_open(const char *path, int *dir_fd, const char **base)
{
	const char *slash = strrchr(path, '/');
	struct walk w = {
		.fd = open(path[0] == '/' ? "/" : ".", DIR_FLAGS),
		.rest = strndup(path, slash ? (size_t)(slash - path) : 0),
	};
	int err = w.fd < 0 ? -errno : w.rest ? walk(&w) : -ENOMEM;

	free(w.rest);
	if (err) {
		if (w.fd >= 0)
			close(w.fd);
		return err;
	}
	*dir_fd = w.fd;
	*base = slash ? slash + 1 : path;
	return 0;
}
