/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/base/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct atomic_file {
	int fd;
	char *path, *temp_path;
};

static void atomic_file_free(struct atomic_file *o)
{
	if (o->fd >= 0)
		close(o->fd);
	free(o->path);
	free(o->temp_path);
	free(o);
}

static int check_target(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return errno == ENOENT ? 0 : -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	return S_ISREG(st.st_mode) ? 0 : -EINVAL;
}

int atomic_file_open(const char *path, struct atomic_file **out)
{
	struct atomic_file *o;
	int err = check_target(path);

	if (err)
		return err;
	o = calloc(1, sizeof(*o));
	if (!o)
		return -ENOMEM;
	o->fd = -1;
	o->path = strdup(path);
	if (asprintf(&o->temp_path, "%s.XXXXXX", path) < 0)
		o->temp_path = NULL;
	if (!o->path || !o->temp_path) {
		atomic_file_free(o);
		return -ENOMEM;
	}
	o->fd = mkostemp(o->temp_path, O_CLOEXEC);
	if (o->fd < 0) {
		err = -errno;
		atomic_file_free(o);
		return err;
	}
	*out = o;
	return 0;
}

int atomic_file_fd(const struct atomic_file *o)
{
	return o->fd;
}

void atomic_file_keep_owner(const struct atomic_file *o)
{
	struct stat st;

	if (!lstat(o->path, &st) && S_ISREG(st.st_mode) && st.st_nlink == 1 &&
	    st.st_uid != geteuid())
		(void)!fchown(o->fd, st.st_uid, st.st_gid);
}

int atomic_file_commit(struct atomic_file *o)
{
	int err = 0;

	/* Some file systems tell of a full disk only here. */
	if (close(o->fd))
		err = -errno;
	o->fd = -1;
	if (!err && rename(o->temp_path, o->path))
		err = -errno;
	if (err)
		unlink(o->temp_path);
	atomic_file_free(o);
	return err;
}

void atomic_file_abort(struct atomic_file *o)
{
	if (!o)
		return;
	unlink(o->temp_path);
	atomic_file_free(o);
}
