/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/output/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/output/safe_dir.h"

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* An existing file may be moved to .old; a device or folder at this path is an error. */
static int check_place(int dir_fd, const char *path, struct notes *notes)
{
	const char *base = base_of(path);
	struct stat st;

	if (!*base)
		return note_fail(notes, -EISDIR, "give a file with -o", "cannot write '%s'", path);
	if (fstatat(dir_fd, base, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0
				       : note_fail(notes, -errno, NULL, "cannot write '%s'", path);
	if (S_ISDIR(st.st_mode))
		return note_fail(notes, -EISDIR, "give a file with -o", "cannot write '%s'", path);
	if (!S_ISREG(st.st_mode))
		return note_fail(notes, -EINVAL, "not a regular file, a capture needs one",
				 "cannot write '%s'", path);
	return 0;
}

static bool number(const char *text, unsigned long *out)
{
	char *end;

	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	*out = strtoul(text, &end, 10);
	return !*end && !errno && *out < UINT32_MAX; /* (uid_t)-1 is no user's */
}

bool output_file_invoker(const char *uid_text, const char *gid_text, uid_t *uid, gid_t *gid)
{
	unsigned long user, group;

	if (!number(uid_text, &user) || !number(gid_text, &group))
		return false;
	*uid = (uid_t)user;
	*gid = (gid_t)group;
	return true;
}

/* Without it the user could not read what he recorded. */
static void give(int fd, const char *path, struct notes *notes)
{
	uid_t uid;
	gid_t gid;

	if (geteuid() || !output_file_invoker(getenv("SUDO_UID"), getenv("SUDO_GID"), &uid, &gid))
		return;
	if (fchown(fd, uid, gid))
		note(notes, NOTE_WARNING, "cannot give '%s' to user %u: %s, skipping", path,
		     (unsigned)uid, strerror(errno));
}

int output_file_open(struct output_file *o, const char *path, struct notes *notes)
{
	const char *base;
	int dir_fd, err = safe_dir_open(path, &dir_fd, &base);

	*o = OUTPUT_FILE_NONE;
	if (err == -EACCES)
		return note_fail(notes, err,
				 "a folder is closed to us, or another user's link in a folder "
				 "for all leads there: choose another place with -o",
				 "cannot write '%s'", path);
	if (err)
		return note_fail(notes, err,
				 err == -ENOENT
					 ? "make its folder first, or choose another place with -o"
				 : err == -ENOTDIR ? "choose another place with -o"
						   : NULL,
				 "cannot write '%s'", path);
	err = check_place(dir_fd, path, notes);
	if (err) {
		close(dir_fd);
		return err;
	}
	o->path = strdup(path);
	if (!o->path)
		close(dir_fd);
	err = o->path ? atomic_file_open(dir_fd, base, O_RDWR, &o->file) : -ENOMEM;
	if (err) {
		note_fail(notes, err, "choose another place with -o", "cannot write '%s'", path);
		output_file_close(o);
	}
	return err;
}

/* Where others may write they may also have put another file there. */
static int check_ours(const struct atomic_file *f)
{
	struct stat ours, there;

	if (fstat(f->fd, &ours) || fstatat(f->dir_fd, f->base, &there, AT_SYMLINK_NOFOLLOW))
		return -errno;
	return ours.st_dev == there.st_dev && ours.st_ino == there.st_ino ? 0 : -ESTALE;
}

static char *older_name(const struct output_file *o)
{
	char *name;

	return asprintf(&name, "%s.old", o->file.base) < 0 ? NULL : name;
}

int output_file_place(struct output_file *o, struct notes *notes)
{
	char *old = older_name(o);
	int err;

	if (!old)
		return note_fail(notes, -ENOMEM, NULL, "cannot write '%s'", o->path);
	err = atomic_file_place(&o->file, old);
	free(old);
	if (err == -EOPNOTSUPP)
		return note_fail(notes, err, "remove the older file first",
				 "cannot keep '%s' as '%s.old'", o->path, o->path);
	if (err)
		return note_fail(notes, err, NULL, "cannot write '%s'", o->path);
	err = check_ours(&o->file);
	if (err)
		return note_fail(notes, err, "another user writes in its folder",
				 "cannot write '%s'", o->path);
	give(o->file.fd, o->path, notes);
	return 0;
}

void output_file_take_back(struct output_file *o)
{
	char *old = older_name(o);

	if (old)
		(void)atomic_file_take_back(&o->file, old);
	free(old);
}

int output_file_sync(const struct output_file *o)
{
	int err = atomic_file_sync(&o->file);

	return err ? err : atomic_file_sync_folder(&o->file);
}

int output_file_spill(const struct output_file *o)
{
	int fd = atomic_file_nameless(&o->file);

	return fd < 0 ? -1 : fd;
}

void output_file_close(struct output_file *o)
{
	atomic_file_close(&o->file);
	free(o->path);
	*o = OUTPUT_FILE_NONE;
}
