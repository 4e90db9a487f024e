/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/process/container/cgroup_paths.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/os/slurp.h"

#define DEPTH_MAX \
	64 /* folders in folders; the kernel's own default limit is far above what exists */

/* A field of mountinfo, with its \040-like escapes undone. */
static bool unescape(const char *field, size_t bytes, char *out, size_t out_bytes)
{
	size_t i, n = 0;

	for (i = 0; i < bytes; i++, n++) {
		if (n + 1 >= out_bytes)
			return false;
		if (field[i] == '\\' && bytes - i >= 4 && strspn(field + i + 1, "01234567") >= 3) {
			out[n] = (char)((field[i + 1] - '0') << 6 | (field[i + 2] - '0') << 3 |
					(field[i + 3] - '0'));
			i += 3;
		} else {
			out[n] = field[i];
		}
	}
	out[n] = '\0';
	return true;
}

bool cgroup_paths_mount(const char *mountinfo, char *out, size_t out_bytes)
{
	const char *line, *end, *dash, *field;
	int i;

	for (line = mountinfo; *line; line = *end ? end + 1 : end) {
		end = strchrnul(line, '\n');
		dash = memmem(line, (size_t)(end - line), " - cgroup2 ", 11);
		/* id parent major:minor root MOUNTPOINT options... - type source superoptions */
		for (i = 0, field = line; dash && field && i < 4; i++) {
			field = memchr(field, ' ', (size_t)(dash - field));
			field = field ? field + 1 : NULL;
		}
		if (!dash || !field)
			continue;
		return unescape(field, strcspn(field, " "), out, out_bytes);
	}
	return false;
}

struct visitor {
	int (*on)(void *arg, uint64_t id, const char *path, int fd);
	void *arg;
};

/* fd is that of a folder, and taken; path is its path below the mount point, "" for the top. */
static int walk(const struct visitor *v, int fd, char path[PATH_MAX], unsigned depth)
{
	size_t length = strlen(path);
	DIR *dir = fdopendir(fd);
	struct dirent *d;
	struct stat st;
	int err = 0, child;

	if (!dir) {
		close(fd);
		return 0;
	}
	/* On 64-bit kernels the inode number is the cgroup's id. */
	if (!fstat(fd, &st))
		err = v->on(v->arg, st.st_ino, path, fd);
	while (!err && depth < DEPTH_MAX && (d = readdir(dir))) {
		if (d->d_type != DT_DIR || !strcmp(d->d_name, ".") || !strcmp(d->d_name, ".."))
			continue;
		if (length + strlen(d->d_name) + 2 > PATH_MAX)
			continue;
		child = openat(fd, d->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		if (child < 0)
			continue; /* removed meanwhile */
		snprintf(path + length, PATH_MAX - length, "/%s", d->d_name);
		err = walk(v, child, path, depth + 1);
		path[length] = '\0';
	}
	closedir(dir);
	return err;
}

bool cgroup_paths_find(char out[PATH_MAX])
{
	struct outbuf mounts = { 0 };
	bool found = !slurp("/proc/self/mountinfo", &mounts) && mounts.size_bytes &&
		     cgroup_paths_mount((const char *)mounts.data, out, PATH_MAX);

	outbuf_done(&mounts);
	return found;
}

int cgroup_paths_each(int (*on)(void *arg, uint64_t id, const char *path, int fd), void *arg)
{
	const struct visitor v = { on, arg };
	char mount[PATH_MAX], path[PATH_MAX] = "";
	int fd = -1;

	if (cgroup_paths_find(mount))
		fd = open(mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? 0 : walk(&v, fd, path, 0);
}

struct emission {
	struct sink *to;
	struct container_watch *watch;
};

static int emit_path(void *arg, uint64_t id, const char *path, int fd)
{
	struct emission *e = arg;
	struct side_record r = { .id = sink_side_id(e->to) };
	int err = sink_side(e->to, &r, side_record_cgroup(&r, id, *path ? path : "/"));

	(void)fd;
	container_watch_saw(e->watch, path);
	return err;
}

int cgroup_paths_emit(struct sink *e, struct container_watch *watch)
{
	struct emission to = { e, watch };

	return cgroup_paths_each(emit_path, &to);
}
