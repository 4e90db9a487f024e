/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/recfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What is there now must be something that may be moved to .old: a file, not a device or folder. */
static int check_place(const char *path, struct notes *notes)
{
	struct stat st;

	if (lstat(path, &st))
		return errno == ENOENT ? 0
				       : note_fail(notes, -errno, NULL, "cannot write '%s'", path);
	if (S_ISDIR(st.st_mode))
		return note_fail(notes, -EISDIR, "give a file with -o", "cannot write '%s'", path);
	if (!S_ISREG(st.st_mode))
		return note_fail(notes, -EINVAL, "not a regular file, a capture needs one",
				 "cannot write '%s'", path);
	return 0;
}

int recfile_open(struct recfile *o, const char *path, struct notes *notes)
{
	int err = check_place(path, notes);

	*o = (struct recfile){ .fd = -1 };
	if (err)
		return err;
	o->path = strdup(path);
	if (!o->path || asprintf(&o->fresh, "%s.new-%d", path, (int)getpid()) < 0) {
		o->fresh = NULL;
		err = note_fail(notes, -ENOMEM, NULL, "cannot write '%s'", path);
	} else {
		o->fd = open(o->fresh, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (o->fd < 0)
			err = note_fail(notes, -errno, "choose another place with -o",
					"cannot write '%s'", path);
	}
	if (err) {
		free(o->fresh); /* not ours to remove */
		o->fresh = NULL;
		recfile_close(o);
	}
	return err;
}

int recfile_place(struct recfile *o, struct notes *notes)
{
	char *old = NULL;
	int err = 0;

	if (asprintf(&old, "%s.old", o->path) < 0)
		return note_fail(notes, -ENOMEM, NULL, "cannot write '%s'", o->path);
	if (rename(o->path, old) && errno != ENOENT)
		err = note_fail(notes, -errno, NULL, "cannot move '%s' to '%s'", o->path, old);
	free(old);
	if (err)
		return err;
	if (rename(o->fresh, o->path))
		return note_fail(notes, -errno, NULL, "cannot write '%s'", o->path);
	free(o->fresh);
	o->fresh = NULL;
	return 0;
}

void recfile_close(struct recfile *o)
{
	if (o->fresh)
		unlink(o->fresh);
	if (o->fd >= 0)
		close(o->fd);
	free(o->fresh);
	free(o->path);
	*o = (struct recfile){ .fd = -1 };
}
