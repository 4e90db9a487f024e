/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/privsep/path_below.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#define LINKS_MAX 40 /* as the kernel has it */

struct walk {
	int root_fd;
	int fds[PATH_BELOW_DEPTH]; /* the way from the root */
	unsigned depth, links;
	char *rest; /* still to go; owned */
};

static int current(const struct walk *w)
{
	return w->depth ? w->fds[w->depth - 1] : w->root_fd;
}

static void go_up(struct walk *w, unsigned depth)
{
	while (w->depth > depth)
		close(w->fds[--w->depth]);
}

static int go_down(struct walk *w, int fd)
{
	if (w->depth == PATH_BELOW_DEPTH) {
		close(fd);
		return -ENAMETOOLONG;
	}
	w->fds[w->depth++] = fd;
	return 0;
}

/* Puts the link's text before the rest of the way. */
static int follow_link(struct walk *w, int link)
{
	char target[PATH_MAX], *rest;
	struct statfs fs;
	ssize_t n;

	if (++w->links > LINKS_MAX || fstatfs(link, &fs) || fs.f_type == PROC_SUPER_MAGIC)
		return -ELOOP;
	n = readlinkat(link, "", target, sizeof(target) - 1);
	if (n <= 0)
		return n ? -errno : -ENOENT;
	target[n] = '\0';
	if (asprintf(&rest, "%s%s%s", target, *w->rest ? "/" : "", w->rest) < 0)
		return -ENOMEM;
	free(w->rest);
	w->rest = rest;
	if (*target == '/')
		go_up(w, 0);
	return 0;
}

/* "." and "..", which only folders have. */
static int stay_or_rise(struct walk *w, const char *name)
{
	struct stat st;

	if (fstat(current(w), &st))
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	if (w->depth && name[1])
		go_up(w, w->depth - 1);
	return 0;
}

static int step(struct walk *w, const char *name, bool follow)
{
	struct stat st;
	int fd, err;

	if (!*name)
		return 0;
	if (!strcmp(name, ".") || !strcmp(name, ".."))
		return stay_or_rise(w, name);
	fd = openat(current(w), name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		err = -errno;
	else if (S_ISLNK(st.st_mode) && (follow || *w->rest))
		err = follow_link(w, fd);
	else
		return go_down(w, fd);
	close(fd);
	return err;
}

/* The next part of what is left, and the slashes behind it. */
static int take_name(struct walk *w, char name[NAME_MAX + 1])
{
	size_t bytes = strcspn(w->rest, "/"), skip = bytes + strspn(w->rest + bytes, "/");

	if (bytes > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(name, w->rest, bytes);
	name[bytes] = '\0';
	memmove(w->rest, w->rest + skip, strlen(w->rest + skip) + 1);
	return 0;
}

int path_below(int root_fd, const char *path, bool follow)
{
	struct walk w = { .root_fd = root_fd, .rest = strdup(path) };
	char name[NAME_MAX + 1];
	int fd = -1, err = !w.rest ? -ENOMEM : !*path ? -ENOENT : 0;

	while (!err && *w.rest) {
		err = take_name(&w, name);
		if (!err)
			err = step(&w, name, follow);
	}
	if (!err) {
		fd = fcntl(current(&w), F_DUPFD_CLOEXEC, 0);
		err = fd < 0 ? -errno : 0;
	}
	go_up(&w, 0);
	free(w.rest);
	return err ? err : fd;
}

int path_below_read(int at, struct stat *st)
{
	char again[40];
	int fd = -EPERM;

	if (!fstat(at, st) && S_ISREG(st->st_mode)) {
		snprintf(again, sizeof(again), "/proc/self/fd/%d", at);
		fd = open(again, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		fd = fd < 0 ? -errno : fd;
	}
	close(at);
	return fd;
}
