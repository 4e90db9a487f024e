/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * mount_paths - which file system a path leads to, and where else that can be seen
 *
 * From the text of /proc/PID/mountinfo (proc_pid_mountinfo(5)) of one mount namespace.  A path is
 * followed as the kernel does: from the root mount, at each step into the mount that lies on the way
 * first, and of mounts on one point into the last.  Files below another mount are not found.
 */
#ifndef EBPREC_ANALYZE_NAMES_MOUNT_PATHS_H
#define EBPREC_ANALYZE_NAMES_MOUNT_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MOUNT_PATHS_MOUNTS_MAX 65536 /* of a namespace; the kernel's own limit is 100000 */

struct mount {
	uint32_t id, parent;
	uint32_t dev_major, dev_minor;
	const char *root;  /* the folder of the file system that is mounted */
	const char *point; /* where */
	const char *type;  /* "ext4", "overlay", "fuse.fuse-overlayfs" */
	const char *source;
	const char *options; /* of the file system, as they stand there */
};

struct mount_paths; /* opaque; read-only */

/* Copies the text.  Lines that are none are passed over.  -ENOENT: no line; -ENOMEM. */
int mount_paths_parse(const char *text, size_t size_bytes, struct mount_paths **out);
void mount_paths_free(struct mount_paths *m); /* NULL is fine */

/*
 * The mount that an absolute path leads to; *inside (owned, free()) is the path in its file system.
 * NULL: none, or no memory.
 */
const struct mount *mount_paths_find(const struct mount_paths *m, const char *path, char **inside);

/* Called with a path; not 0 ends the walk. */
typedef int (*mount_paths_fn)(void *ctx, const char *path);

/*
 * The paths by which this namespace sees a path in the file system of a device.  Returns the last
 * result of fn, or -ENOMEM.
 */
int mount_paths_seen(const struct mount_paths *m, const struct mount *of, const char *inside,
		     mount_paths_fn fn, void *ctx);

/* It shows layers: the kernel's overlayfs, or a fuse-overlayfs with what was found out of it. */
bool mount_paths_is_overlay(const struct mount *mount);

/*
 * The layers of an overlay mount that may hold a path in it, topmost first, as paths of the process
 * that mounted it.  Nothing for other mounts.  Returns the last result of fn, or -ENOMEM.
 */
int mount_paths_layers(const struct mount *overlay, const char *inside, mount_paths_fn fn,
		       void *ctx);
/*
 * The same for all overlays of the namespace: for a file in nested ones the kernel reports the
 * inner path.
 */
int mount_paths_any_layers(const struct mount_paths *m, const char *inside, mount_paths_fn fn,
			   void *ctx);

#endif
