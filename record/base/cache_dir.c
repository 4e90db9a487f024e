/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/base/cache_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Makes all folders of an absolute path; those that are there stay as they are. */
static int make_folders(const char *path)
{
	char part[PATH_MAX];
	size_t i, len = strlen(path);

	if (path[0] != '/')
		return -EINVAL;
	if (len >= sizeof(part))
		return -ENAMETOOLONG;
	memcpy(part, path, len + 1);
	for (i = 1; i <= len; i++) {
		if (path[i] != '/' && path[i])
			continue;
		part[i] = 0;
		if (mkdir(part, 0700) && errno != EEXIST)
			return -errno;
		part[i] = path[i];
	}
	return 0;
}

void cache_dir_default(char *path, size_t room_bytes)
{
	const char *asked = getenv("EBPREC_TABLE_CACHE"), *xdg = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	int n = 0;

	*path = 0;
	if (asked)
		n = snprintf(path, room_bytes, "%s", asked);
	else if (!geteuid())
		n = snprintf(path, room_bytes, "/var/cache/ebprec");
	else if (xdg && *xdg)
		n = snprintf(path, room_bytes, "%s/ebprec", xdg);
	else if (home && *home)
		n = snprintf(path, room_bytes, "%s/.cache/ebprec", home);
	if (n < 0 || (size_t)n >= room_bytes)
		*path = 0;
}

int cache_dir_open(const char *path)
{
	struct stat st;
	int err = make_folders(path), fd;

	if (err)
		return err;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = fstat(fd, &st) ? -errno : 0;
	if (!err && (st.st_uid != geteuid() || st.st_mode & (S_IWGRP | S_IWOTH)))
		err = -EPERM;
	if (!err)
		return fd;
	close(fd);
	return err;
}
