/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/process/file/deleted_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/base/vec.h"
#include "format/os/clock.h"

#define DELETED " (deleted)"

/* A file as the analyzer will look for it. */
struct identity {
	struct buildid id;
	struct file_facts_sum sum; /* of one without a build-id */
	uint64_t size_bytes;
	struct timespec accessed, changed;
};

struct deleted_files_held {
	struct identity is;
	char *link; /* owned: where its descriptor led when it was first seen */
	int fd;     /* owned */
	bool was_deleted;
	bool is_copied;
};

/* ---- holding ---- */

static bool is_deleted(const char *path, const struct stat *st)
{
	size_t size = strlen(path), tail = sizeof(DELETED) - 1;

	return !st->st_nlink || (size > tail && !strcmp(path + size - tail, DELETED));
}

/* Whether an open file of such a file system keeps no user from unmounting it. */
static bool stays_mounted(long fs_type)
{
	switch ((unsigned long)fs_type) {
	case OVERLAYFS_SUPER_MAGIC:
	case NFS_SUPER_MAGIC:
	case SMB2_SUPER_MAGIC:
	case CIFS_SUPER_MAGIC:
	case V9FS_MAGIC:
		return false;
	default:
		return true;
	}
}

static bool can_be_named(const struct elf_facts *facts)
{
	return facts->build_id.size_bytes >= 2 ||
	       (!facts->build_id.size_bytes && facts->sum.has_loaded && facts->sum.has_spread);
}

/* Files that are deleted already have room behind those that may be deleted later. */
static bool has_room(const struct deleted_files *g, bool deleted)
{
	struct rlimit limit = { 0 };
	rlim_t most = DELETED_FILES_HELD;

	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur / 4 < most)
		most = limit.rlim_cur / 4;
	return g->held_count < most + (deleted ? DELETED_FILES_MAX : 0);
}

/* The path of a descriptor, as the kernel has it without asking the file system; owned, or NULL. */
static char *link_of(int fd)
{
	char name[32], path[PATH_MAX];
	ssize_t n;

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	n = readlink(name, path, sizeof(path));
	return n > 0 ? strndup(path, (size_t)n) : NULL;
}

static int hold(struct deleted_files *g, const struct mapped_files_found *f, bool deleted)
{
	struct deleted_files_held h = {
		.is = { .id = f->facts->build_id,
			.sum = f->facts->sum,
			.size_bytes = (uint64_t)f->st->st_size,
			.accessed = f->st->st_atim,
			.changed = f->st->st_mtim },
		.was_deleted = deleted,
	};
	int err = has_room(g, deleted) ? vec_reserve(&g->held, &g->held_room, g->held_count + 1)
				       : -EMFILE;

	if (err)
		return err;
	h.fd = fcntl(f->fd, F_DUPFD_CLOEXEC, 0);
	if (h.fd < 0)
		return -errno;
	h.link = link_of(h.fd);
	if (!h.link) {
		close(h.fd);
		return -ENOMEM;
	}
	g->held[g->held_count++] = h;
	return 0;
}

void deleted_files_see(struct deleted_files *g, const struct mapped_files_found *f)
{
	bool deleted;

	if (!g || !g->dir || !S_ISREG(f->st->st_mode) || !can_be_named(f->facts))
		return;
	deleted = is_deleted(f->path, f->st);
	if (mapped_files_is_fuse(f->fs_type))
		g->missed_count += deleted;
	else if ((deleted || stays_mounted(f->fs_type)) && hold(g, f, deleted))
		g->unheld_count++;
}

/* ---- copying ---- */

/* Below the folder, as the analyzer looks for it: the folder of a copy, or the copy. */
static bool place_of(const struct deleted_files *g, const struct identity *is, bool file, char *out)
{
	char hex[BUILDID_HEX_BYTES], name[FILE_FACTS_COPY_NAME_BYTES];
	int n;

	if (is->id.size_bytes) {
		buildid_hex(&is->id, hex);
		n = file ? snprintf(out, PATH_MAX, "%s/.build-id/%.2s/%s", g->dir, hex, hex + 2)
			 : snprintf(out, PATH_MAX, "%s/.build-id/%.2s", g->dir, hex);
	} else {
		file_facts_copy_name(&is->sum, is->size_bytes, clock_timespec_ns(is->changed),
				     name);
		n = snprintf(out, PATH_MAX, "%s%s", g->dir, file ? name : FILE_FACTS_COPY_DIR);
	}
	return n < PATH_MAX;
}

/* The first must not be there before: what is in it will be believed. */
static int make_folders(struct deleted_files *g, const struct identity *is)
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
	if (!place_of(g, is, false, path))
		return -ENAMETOOLONG;
	return mkdir(path, 0700) && errno != EEXIST ? -errno : 0;
}

/* With the time of the file, which is part of its identity. */
static int copy(const char *to, int fd, const struct identity *is)
{
	int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	const struct timespec times[2] = { is->accessed, is->changed };
	off_t at = 0;
	ssize_t n = 1;
	int err = 0;

	if (out < 0)
		return -errno;
	while (n > 0 && (uint64_t)at < is->size_bytes)
		n = sendfile(out, fd, &at, is->size_bytes - (uint64_t)at);
	if (n < 0 || (uint64_t)at < is->size_bytes || futimens(out, times))
		err = -EIO;
	if (close(out))
		err = -EIO;
	if (err)
		unlink(to);
	return err;
}

static int make_copy(struct deleted_files *g, const struct deleted_files_held *h)
{
	char path[PATH_MAX];
	int err;

	if (g->copy_count == DELETED_FILES_MAX ||
	    h->is.size_bytes > DELETED_FILES_MAX_BYTES - g->copy_bytes ||
	    !place_of(g, &h->is, true, path))
		return -ENOSPC;
	err = make_folders(g, &h->is);
	return err ? err : copy(path, h->fd, &h->is);
}

/* The same file may have been seen twice, and two files may be copies of one. */
static bool is_copied(const struct deleted_files *g, const struct identity *is)
{
	char path[PATH_MAX];

	return g->is_made && place_of(g, is, true, path) && !access(path, F_OK);
}

/*
 * Deleted, another file was put in its place, or a folder on its path was renamed.  A link also changes when
 * the mount namespace of the process that mapped it ends.
 */
static bool lost_its_path(const struct deleted_files_held *h)
{
	char *now = h->was_deleted ? NULL : link_of(h->fd);
	bool lost = h->was_deleted;
	struct stat st, there;

	if (now && strcmp(now, h->link) != 0)
		lost = stat(h->link, &there) || fstat(h->fd, &st) || st.st_ino != there.st_ino ||
		       st.st_dev != there.st_dev;
	free(now);
	return lost;
}

void deleted_files_copy(struct deleted_files *g)
{
	for (size_t i = 0; i < g->held_count; i++) {
		struct deleted_files_held *h = &g->held[i];

		if (lost_its_path(h) && !is_copied(g, &h->is)) {
			if (make_copy(g, h)) {
				g->missed_count++;
			} else {
				h->is_copied = true;
				g->copy_count++;
				g->copy_bytes += h->is.size_bytes;
			}
		}
		close(h->fd);
		h->fd = -1;
	}
}

/* ---- the end ---- */

static void remove_copies(struct deleted_files *g)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < g->held_count; i++)
		if (g->held[i].is_copied && place_of(g, &g->held[i].is, true, path))
			unlink(path);
	for (size_t i = 0; i < g->held_count; i++)
		if (g->held[i].is_copied && place_of(g, &g->held[i].is, false, path))
			rmdir(path); /* with the last of its files */
	if (!g->is_made)
		return;
	if (snprintf(path, sizeof(path), "%s/.build-id", g->dir) < PATH_MAX)
		rmdir(path);
	rmdir(g->dir);
	g->is_made = false;
}

void deleted_files_done(struct deleted_files *g)
{
	remove_copies(g);
	for (size_t i = 0; i < g->held_count; i++) {
		if (g->held[i].fd >= 0)
			close(g->held[i].fd);
		free(g->held[i].link);
	}
	free(g->held);
	*g = (struct deleted_files){ .dir = g->dir };
}
