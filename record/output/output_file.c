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

/* What is there now must be something that may be moved to .old: a file, not a device or folder. */
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
	return !*end && !errno && *out < UINT32_MAX; /* (uid_t)-1 is nobody's */
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

static int make_nameless(const struct output_file *o)
{
	return openat(o->dir_fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

static int make_fresh(struct output_file *o, const char *path)
{
	o->path = strdup(path);
	if (!o->path)
		return -ENOMEM;
	o->fd = make_nameless(o);
	if (o->fd >= 0)
		return 0;
	if (asprintf(&o->fresh, "%s.new-%d", path, (int)getpid()) < 0) {
		o->fresh = NULL;
		return -ENOMEM;
	}
	o->fd = openat(o->dir_fd, base_of(o->fresh),
		       O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return o->fd < 0 ? -errno : 0;
}

int output_file_open(struct output_file *o, const char *path, struct notes *notes)
{
	const char *base;
	int dir_fd, err = safe_dir_open(path, &dir_fd, &base);

	*o = (struct output_file){ .fd = -1, .dir_fd = -1 };
	if (err == -EACCES)
		return note_fail(notes, err,
				 "a folder is closed to us, or somebody else's link in a folder "
				 "for all leads there: choose another place with -o",
				 "cannot write '%s'", path);
	if (err)
		return note_fail(notes, err, NULL, "cannot write '%s'", path);
	err = check_place(dir_fd, path, notes);
	if (err) {
		close(dir_fd);
		return err;
	}
	o->dir_fd = dir_fd;
	err = make_fresh(o, path);
	if (!err)
		return 0;
	note_fail(notes, err, "choose another place with -o", "cannot write '%s'", path);
	free(o->fresh); /* not ours to remove */
	o->fresh = NULL;
	if (!o->path) {
		close(o->dir_fd);
		o->dir_fd = -1;
	}
	output_file_close(o);
	return err;
}

/* Where others may write they may also have put another file there. */
static int check_ours(const struct output_file *o, const char *name)
{
	struct stat ours, there;

	if (fstat(o->fd, &ours) || fstatat(o->dir_fd, name, &there, AT_SYMLINK_NOFOLLOW))
		return -errno;
	return ours.st_dev == there.st_dev && ours.st_ino == there.st_ino ? 0 : -ESTALE;
}

/* Fails with EEXIST when somebody has just put another file there. */
static int link_to(const struct output_file *o, const char *name)
{
	char self[40];

	snprintf(self, sizeof(self), "/proc/self/fd/%d", o->fd);
	return linkat(AT_FDCWD, self, o->dir_fd, name, AT_SYMLINK_FOLLOW);
}

int output_file_place(struct output_file *o, struct notes *notes)
{
	const char *base = base_of(o->path), *fresh = o->fresh ? base_of(o->fresh) : NULL;
	char *old = NULL;
	int err = 0;

	if (asprintf(&old, "%s.old", base) < 0)
		return note_fail(notes, -ENOMEM, NULL, "cannot write '%s'", o->path);
	if (renameat(o->dir_fd, base, o->dir_fd, old) && errno != ENOENT)
		err = note_fail(notes, -errno, NULL, "cannot move '%s' to '%s.old'", o->path,
				o->path);
	free(old);
	if (err)
		return err;
	if (fresh ? renameat(o->dir_fd, fresh, o->dir_fd, base) : link_to(o, base))
		return note_fail(notes, -errno, NULL, "cannot write '%s'", o->path);
	err = check_ours(o, base);
	if (err)
		return note_fail(notes, err, "somebody else writes in its folder",
				 "cannot write '%s'", o->path);
	free(o->fresh);
	o->fresh = NULL;
	o->in_place = true;
	give(o->fd, o->path, notes);
	return 0;
}

int output_file_spill(const struct output_file *o)
{
	return make_nameless(o);
}

void output_file_close(struct output_file *o)
{
	if (o->fresh)
		unlinkat(o->dir_fd, base_of(o->fresh), 0);
	if (o->fd >= 0)
		close(o->fd);
	if (o->path)
		close(o->dir_fd);
	free(o->fresh);
	free(o->path);
	*o = (struct output_file){ .fd = -1, .dir_fd = -1 };
}
