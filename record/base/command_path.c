/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/base/command_path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int check_path(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EACCES;
	return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) ? -errno : 0;
}

int command_path_find(const char *name, char path[PATH_MAX])
{
	const char *dir = getenv("PATH"), *end;
	int err, refused = 0;

	if (strchr(name, '/') || !*name) {
		if (snprintf(path, PATH_MAX, "%s", name) >= PATH_MAX)
			return -ENAMETOOLONG;
		return check_path(path);
	}
	for (dir = dir ? dir : "/bin:/usr/bin";; dir = end + 1) {
		end = strchrnul(dir, ':');
		/* an empty entry is the current folder */
		if (snprintf(path, PATH_MAX, "%.*s%s%s", (int)(end - dir), dir,
			     end > dir ? "/" : "", name) < PATH_MAX) {
			err = check_path(path);
			if (!err)
				return 0;
			if (err == -EACCES)
				refused = err;
		}
		if (!*end)
			return refused ? refused : -ENOENT;
	}
}
