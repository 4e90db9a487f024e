/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/process/deleted_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#define DELETED " (deleted)"

/* Below the folder, as the analyzer looks for it: the folder of an id, or its file. */
static bool place_of(const struct deleted_files *g, const struct buildid *id, bool file, char *out)
{
	char hex[BUILDID_HEX_BYTES];
	int n;

	buildid_hex(id, hex);
	n = file ? snprintf(out, PATH_MAX, "%s/.build-id/%.2s/%s", g->dir, hex, hex + 2)
		 : snprintf(out, PATH_MAX, "%s/.build-id/%.2s", g->dir, hex);
	return n < PATH_MAX;
}

static bool is_gone(const char *path, const struct stat *st)
{
	size_t size = strlen(path), tail = sizeof(DELETED) - 1;

	return !st->st_nlink || (size > tail && !strcmp(path + size - tail, DELETED));
}

static bool is_kept(const struct deleted_files *g, const struct buildid *id)
{
	for (unsigned i = 0; i < g->count; i++)
		if (g->ids[i].size_bytes == id->size_bytes &&
		    !memcmp(g->ids[i].bytes, id->bytes, id->size_bytes))
			return true;
	return false;
}

/* The first must not be there before: what is in it will be believed. */
static int make_folders(struct deleted_files *g, const struct buildid *id)
{
	char path[PATH_MAX];

	if (!g->is_made) {
		if (mkdir(g->dir, 0700))
			return -errno;
		g->is_made = true;
		if (snprintf(path, sizeof(path), "%s/.build-id", g->dir) >= PATH_MAX ||
		    mkdir(path, 0700))
			return -ENAMETOOLONG;
	}
	if (!place_of(g, id, false, path))
		return -ENAMETOOLONG;
	return mkdir(path, 0700) && errno != EEXIST ? -errno : 0;
}

static int copy(const char *to, int fd, uint64_t size_bytes)
{
	int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	off_t at = 0;
	ssize_t n = 1;

	if (out < 0)
		return -errno;
	while (n > 0 && (uint64_t)at < size_bytes)
		n = sendfile(out, fd, &at, size_bytes - (uint64_t)at);
	if (close(out) || n < 0 || (uint64_t)at < size_bytes) {
		unlink(to);
		return -EIO;
	}
	return 0;
}

static int keep(struct deleted_files *g, int fd, const struct buildid *id, uint64_t size_bytes)
{
	char path[PATH_MAX];
	int err;

	if (g->count == DELETED_FILES_MAX || size_bytes > DELETED_FILES_MAX_BYTES - g->bytes ||
	    !place_of(g, id, true, path))
		return -ENOSPC;
	err = make_folders(g, id);
	return err ? err : copy(path, fd, size_bytes);
}

void deleted_files_see(struct deleted_files *g, const char *path, int fd, const struct buildid *id)
{
	struct stat st;

	if (!g || !g->dir || id->size_bytes < 2 || fstat(fd, &st) || !S_ISREG(st.st_mode) ||
	    !is_gone(path, &st) || is_kept(g, id))
		return;
	if (keep(g, fd, id, (uint64_t)st.st_size)) {
		g->missed_count++;
		return;
	}
	g->ids[g->count++] = *id;
	g->bytes += (uint64_t)st.st_size;
}

void deleted_files_done(struct deleted_files *g)
{
	char path[PATH_MAX];

	for (unsigned i = 0; i < g->count; i++)
		if (place_of(g, &g->ids[i], true, path))
			unlink(path);
	for (unsigned i = 0; i < g->count; i++)
		if (place_of(g, &g->ids[i], false, path))
			rmdir(path); /* with the last of its files */
	if (!g->is_made)
		return;
	if (snprintf(path, sizeof(path), "%s/.build-id", g->dir) < PATH_MAX)
		rmdir(path);
	rmdir(g->dir);
	g->is_made = false;
	g->count = 0;
}
