/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/base/result_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/os/atomic_file.h"

struct result_file {
	struct atomic_file file;
};

static int open_folder(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	int fd;

	if (!folder)
		return -ENOMEM;
	fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		fd = -errno;
	free(folder);
	return fd;
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

static int open_with(const char *path, int access, struct result_file **out)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	struct result_file *o;
	int err = check_target(path), dir_fd;

	if (!err && !*base)
		err = -EISDIR;
	if (err)
		return err;
	dir_fd = open_folder(path);
	if (dir_fd < 0)
		return dir_fd;
	o = calloc(1, sizeof(*o));
	if (!o) {
		close(dir_fd);
		return -ENOMEM;
	}
	err = atomic_file_open(dir_fd, base, access, &o->file);
	if (err)
		free(o);
	else
		*out = o;
	return err;
}

int result_file_open(const char *path, struct result_file **out)
{
	return open_with(path, O_WRONLY, out);
}

int result_file_open_readable(const char *path, struct result_file **out)
{
	return open_with(path, O_RDWR, out);
}

int result_file_fd(const struct result_file *o)
{
	return o->file.fd;
}

void result_file_keep_owner(const struct result_file *o)
{
	struct stat st;

	if (!fstatat(o->file.dir_fd, o->file.base, &st, AT_SYMLINK_NOFOLLOW) &&
	    S_ISREG(st.st_mode) && st.st_nlink == 1 && st.st_uid != geteuid())
		(void)!fchown(o->file.fd, st.st_uid, st.st_gid);
}

static int commit(struct result_file *o, const char *older)
{
	int err = atomic_file_sync(&o->file);

	if (!err)
		err = atomic_file_place(&o->file, older);
	if (!err)
		err = atomic_file_sync_folder(&o->file);
	return err;
}

int result_file_commit(struct result_file *o)
{
	int err = commit(o, NULL);

	result_file_abort(o);
	return err;
}

int result_file_commit_beside(struct result_file *o, bool *replaced)
{
	char *older;
	int err = asprintf(&older, "%s.old", o->file.base) < 0 ? -ENOMEM : 0;

	if (!err) {
		err = commit(o, older);
		free(older);
	}
	if (!err)
		*replaced = o->file.replaced;
	result_file_abort(o);
	return err;
}

void result_file_abort(struct result_file *o)
{
	if (!o)
		return;
	atomic_file_close(&o->file);
	free(o);
}
