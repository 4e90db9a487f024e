/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * path_below - resolves a path below a root, and never outside of it
 *
 * As openat2() does with RESOLVE_IN_ROOT and RESOLVE_NO_MAGICLINKS: symbolic links, also absolute ones, lead where
 * they would if the root were "/", and ".." ends at it.  The recorder does without that call, as its system call
 * filter cannot see whether it opens something for writing (seccomp_main.h).  Each folder on the
 * way stays open, so that folders which are moved at the same time cannot lead it out.  Limits:
 * PATH_BELOW_DEPTH folders, 40 links; links of procfs are not followed.
 */
#ifndef EBPREC_RECORD_PRIVSEP_PATH_BELOW_H
#define EBPREC_RECORD_PRIVSEP_PATH_BELOW_H

#include <stdbool.h>
#include <sys/stat.h>

#define PATH_BELOW_DEPTH 64

/*
 * An O_PATH descriptor, the caller's, of whatever is there; negative errno: -ELOOP, too many links or one that is not
 * followed; -ENAMETOOLONG, too deep.  follow: also the last part, when it is a link.
 */
int path_below(int root_fd, const char *path, bool follow);

/*
 * Opens for reading, without waiting, what an O_PATH descriptor leads to, if it is a regular file: a device may do anything
 * when it is opened.  at is closed.  The new descriptor, and *st; -EPERM: it is no regular file; else negative errno.
 */
int path_below_read(int at, struct stat *st);

#endif
