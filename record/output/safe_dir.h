/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * safe_dir - the folder of a file that is to be written, without following strangers' links
 *
 * In a folder that all users may write into, such as /tmp, any user may put a link that leads a
 * program of root elsewhere.  Some kernels refuse to follow these (fs.protected_symlinks), some do
 * not; so the path is resolved here, name by name.  Calls relative to the descriptor no longer
 * depend on the path.
 */
#ifndef EBPREC_RECORD_OUTPUT_SAFE_DIR_H
#define EBPREC_RECORD_OUTPUT_SAFE_DIR_H

#include <stdbool.h>
#include <sys/stat.h>

/*
 * The folder that `path` lies in, for ...at() calls; *dir_fd is the caller's.  *base points to the
 * last name in path, which may be "".  -EACCES: a link of another user in a shared folder; else
 * errno.
 */
int safe_dir_open(const char *path, int *dir_fd, const char **base);

/* Whether a link in this folder may be followed by a process with the user id `own`. */
bool safe_dir_trusts(const struct stat *folder, const struct stat *link, uid_t own);

#endif
