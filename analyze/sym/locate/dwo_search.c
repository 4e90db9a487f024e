/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/sym/locate/dwo_search.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/sym/locate/open_in_root.h"

#define FIRST_PLACES 3 /* before those in debug folders, which are two each */

static int open_joined(const struct dwo_search *p, const char *root, const char *folder,
		       size_t folder_bytes, const char *name)
{
	struct stat st;
	char *path;
	int fd;

	if (asprintf(&path, "%.*s%s%s", (int)folder_bytes, folder, folder_bytes ? "/" : "", name) <
	    0)
		return -ENOMEM;
	/* A relative path would be searched in the current folder. */
	fd = *path == '/' || !roots_is_host(root)
		     ? roots_open(p->roots->opener, root, path, true, &st)
		     : -ENOENT;
	free(path);
	return fd;
}

/* As the compiler named it. */
static int open_named(const struct dwo_search *p, const char *root, const char *folder,
		      const char *name)
{
	return open_joined(p, root, folder, *name == '/' ? 0 : strnlen(folder, INT16_MAX), name);
}

static int open_beside(const struct dwo_search *p, const char *name)
{
	const char *slash = p->program->path ? strrchr(p->program->path, '/') : NULL;

	if (!slash)
		return -ENOENT;
	return open_joined(p, p->program->root, p->program->path,
			   (size_t)(slash - p->program->path), name);
}

int dwo_search_open(const void *ctx, const char *folder, const char *name, unsigned i)
{
	const struct dwo_search *p = ctx;
	const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
	unsigned dir;

	if (!*base)
		return -ERANGE;
	if (i == 0)
		return open_named(p, p->roots->symfs, folder, name);
	if (i == 1)
		return open_beside(p, base);
	if (i == 2)
		return slash && slash != name && *name != '/' ? open_beside(p, name) : -ENOENT;
	dir = (i - FIRST_PLACES) / 2;
	if (dir >= p->roots->debug_dir_count)
		return -ERANGE;
	return (i - FIRST_PLACES) % 2 ? open_joined(p, p->roots->debug_dirs[dir], "", 0, base)
				      : open_named(p, p->roots->debug_dirs[dir], folder, name);
}

/* The path, or its last part, with .dwp behind it. */
static int open_package(const struct dwo_search *p, const char *root, const char *path, bool base)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	char *name;
	int fd;

	if (!slash)
		return -ENOENT;
	if (asprintf(&name, "%s.dwp", base ? slash + 1 : path) < 0)
		return -ENOMEM;
	fd = open_joined(p, root, "", 0, name);
	free(name);
	return fd;
}

int dwo_search_open_package(const void *ctx, unsigned i)
{
	const struct dwo_search *p = ctx;
	const char *path = p->other && p->other->path ? p->other->path : p->program->path;
	unsigned dir;

	if (i == 0)
		return open_package(p, p->program->root, p->program->path, false);
	if (i == 1)
		return p->other ? open_package(p, p->other->root, p->other->path, false) : -ENOENT;
	dir = (i - 2) / 2;
	if (dir >= p->roots->debug_dir_count)
		return -ERANGE;
	return open_package(p, p->roots->debug_dirs[dir], path, i % 2);
}
