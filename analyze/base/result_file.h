/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * result_file - a result file that is complete and on the disk, or not there at all
 *
 * The bytes go into a file that has no name yet (format/os/atomic_file.h).  It takes the name of the
 * result, in the place of a file that has it, only when all of it is on the disk.  A failure, a kill or
 * a power cut leaves what was there before.  The file is for its owner's eyes (mode 0600), as perf's and
 * our captures are.
 */
#ifndef EBPREC_ANALYZE_BASE_RESULT_FILE_H
#define EBPREC_ANALYZE_BASE_RESULT_FILE_H

#include <stdbool.h>

struct result_file; /* opaque */

/* -EISDIR, -EINVAL for what is there and no regular file; else errno.  path is copied. */
int result_file_open(const char *path, struct result_file **out);
/*
 * The same, for a caller that reads its file again: in the sandbox, the folder must be readable
 * (sandbox_policy.h).
 */
int result_file_open_readable(const char *path, struct result_file **out);
int result_file_fd(const struct result_file *o); /* borrowed */
/*
 * Gives it to the owner of the file that it will replace, as far as we may: what root changes in
 * the place of a user's capture stays his.  Only for what he could read before.
 */
void result_file_keep_owner(const struct result_file *o);
/* Puts the bytes on the disk, and then the name.  The file is closed and freed in any case. */
int result_file_commit(struct result_file *o);
/*
 * The same; a file that is in its place is FILE.old then (*replaced), as `ebprec record` does it.
 * -EOPNOTSUPP: the file system cannot give it that name.
 */
int result_file_commit_beside(struct result_file *o, bool *replaced);
void result_file_abort(struct result_file *o); /* removes it; NULL is fine */

#endif
