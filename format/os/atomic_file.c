/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "format/os/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define NAME_TRIES 100

/* A name beside base that no other file is likely to have; owned, NULL: no memory. */
static char *make_name(const char *base)
{
	uint64_t number = 0;
	char *name;

	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) < 0)
		number = (uint64_t)getpid();
	return asprintf(&name, "%s.%012llx", base, (unsigned long long)(number & 0xffffffffffff)) <
			       0
		       ? NULL
		       : name;
}

int atomic_file_nameless(const struct atomic_file *f)
{
	int fd = openat(f->dir_fd, ".", O_TMPFILE | f->access | O_CLOEXEC, 0600);

	return fd < 0 ? -errno : fd;
}

static int open_named(struct atomic_file *f)
{
	for (unsigned i = 0; i < NAME_TRIES; i++) {
		f->temp = make_name(f->base);
		if (!f->temp)
			return -ENOMEM;
		f->fd = openat(f->dir_fd, f->temp,
			       f->access | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (f->fd >= 0)
			return 0;
		free(f->temp); /* not ours to remove */
		f->temp = NULL;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

int atomic_file_open(int dir_fd, const char *base, int access, struct atomic_file *out)
{
	struct atomic_file f = {
		.fd = -1, .dir_fd = dir_fd, .base = strdup(base), .access = access
	};
	int err = f.base ? 0 : -ENOMEM;

	if (!err) {
		f.fd = atomic_file_nameless(&f);
		/* File systems report a missing O_TMPFILE by different errnos; a real error comes
		 * again at the next open. */
		if (f.fd < 0)
			err = open_named(&f);
	}
	if (err) {
		f.fd = -1;
		atomic_file_close(&f);
		return err;
	}
	*out = f;
	return 0;
}

/* -EEXIST: there is a file of that name. */
static int link_to(const struct atomic_file *f, const char *name)
{
	char self[40];

	snprintf(self, sizeof(self), "/proc/self/fd/%d", f->fd);
	if (!linkat(AT_FDCWD, self, f->dir_fd, name, AT_SYMLINK_FOLLOW))
		return 0;
	/* Works without /proc: from Linux 6.10 on for the file's creator, before with
	 * CAP_DAC_READ_SEARCH. */
	if (errno == ENOENT && !linkat(f->fd, "", f->dir_fd, name, AT_EMPTY_PATH))
		return 0;
	return -errno;
}

/* A nameless file gets its name, or, where there is a file of it, another one beside it. */
static int give_name(struct atomic_file *f)
{
	int err = link_to(f, f->base);

	f->in_place = !err;
	for (unsigned i = 0; err == -EEXIST && i < NAME_TRIES; i++) {
		f->temp = make_name(f->base);
		if (!f->temp)
			return -ENOMEM;
		err = link_to(f, f->temp);
		if (!err)
			return 0;
		free(f->temp);
		f->temp = NULL;
	}
	return err;
}

static int rename_within(const struct atomic_file *f, const char *from, const char *to)
{
	return renameat(f->dir_fd, from, f->dir_fd, to) ? -errno : 0;
}

/* Nothing is renamed when both are names of one file; then it has one name too many. */
static int rename_older(const struct atomic_file *f, const char *from, const char *to)
{
	int err = rename_within(f, from, to);

	if (!err)
		unlinkat(f->dir_fd, from, 0);
	return err;
}

static void forget_temp(struct atomic_file *f)
{
	free(f->temp);
	f->temp = NULL;
	f->in_place = true;
}

/* Where the file system cannot exchange two names, the older file gets its second name first. */
static int keep_by_link(struct atomic_file *f, const char *older)
{
	char *name = make_name(older);
	int err = name ? 0 : -ENOMEM;

	if (!err && linkat(f->dir_fd, f->base, f->dir_fd, name, 0))
		err = errno == EPERM || errno == ENOSYS || errno == EINVAL ? -EOPNOTSUPP : -errno;
	if (!err) {
		err = rename_older(f, name, older);
		if (err)
			unlinkat(f->dir_fd, name, 0);
	}
	free(name);
	f->replaced = !err;
	if (!err || err == -ENOENT) /* there is none */
		err = rename_within(f, f->temp, f->base);
	if (!err)
		forget_temp(f);
	return err;
}

/* The file has the name temp, and there may be a file of its own name. */
static int place_named(struct atomic_file *f, const char *older)
{
	int err;

	if (older && !renameat2(f->dir_fd, f->temp, f->dir_fd, f->base, RENAME_EXCHANGE)) {
		err = rename_older(f, f->temp, older); /* temp is the older one by now */
		if (!err) {
			f->replaced = true;
			forget_temp(f);
			return 0;
		}
		/* The older file gets its name back. */
		(void)renameat2(f->dir_fd, f->temp, f->dir_fd, f->base, RENAME_EXCHANGE);
		return err;
	}
	if (older && (errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP))
		return keep_by_link(f, older);
	if (older && errno != ENOENT)
		return -errno;
	err = rename_within(f, f->temp, f->base);
	if (!err)
		forget_temp(f);
	return err;
}

int atomic_file_place(struct atomic_file *f, const char *older)
{
	int err = f->temp ? 0 : give_name(f);

	if (err || f->in_place)
		return err;
	return place_named(f, older);
}

int atomic_file_take_back(struct atomic_file *f, const char *older)
{
	int err = 0;

	if (!f->in_place)
		return 0;
	if (f->replaced)
		err = rename_within(f, older, f->base);
	else if (unlinkat(f->dir_fd, f->base, 0))
		err = -errno;
	if (!err)
		f->replaced = f->in_place = false;
	return err;
}

int atomic_file_sync(const struct atomic_file *f)
{
	return fsync(f->fd) ? -errno : 0;
}

int atomic_file_sync_folder(const struct atomic_file *f)
{
	/* f->dir_fd may be a mere path (O_PATH). */
	int err = 0, fd = openat(f->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0) /* without read permission of the folder it cannot be opened for fsync() */
		return errno == EACCES ? 0 : -errno;
	if (fsync(fd) && errno != EINVAL) /* its file system has nothing to do */
		err = -errno;
	close(fd);
	return err;
}

void atomic_file_close(struct atomic_file *f)
{
	if (f->temp)
		unlinkat(f->dir_fd, f->temp, 0);
	if (f->fd >= 0)
		close(f->fd);
	if (f->dir_fd >= 0)
		close(f->dir_fd);
	free(f->base);
	free(f->temp);
	*f = (struct atomic_file){ .fd = -1, .dir_fd = -1 };
}
