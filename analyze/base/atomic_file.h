/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * atomic_file - a result file that is there whole or not at all
 *
 * The bytes go into a temporary file beside the result, which takes the result's name only when
 * everything is written.  A failure, or a kill, leaves what was there before.  The file is for its
 * owner's eyes (mode 0600), as perf's and our captures are.
 */
#ifndef EBPREC_ANALYZE_BASE_ATOMIC_FILE_H
#define EBPREC_ANALYZE_BASE_ATOMIC_FILE_H

struct atomic_file; /* opaque */

/* -EISDIR, -EINVAL for what is there and no regular file; else errno.  path is copied. */
int atomic_file_open(const char *path, struct atomic_file **out);
int atomic_file_fd(const struct atomic_file *o); /* for reading and writing; borrowed */
/*
 * Gives it to the owner of the file that it will replace, as far as we may: what root changes in
 * the place of a user's capture stays his.  Only for what he could read before.
 */
void atomic_file_keep_owner(const struct atomic_file *o);
/* Gives the file its name.  The outfile is freed in any case. */
int atomic_file_commit(struct atomic_file *o);
void atomic_file_abort(struct atomic_file *o); /* removes it; NULL is fine */

#endif
