/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * outfile - a result file that is there whole or not at all
 *
 * The bytes go into a temporary file beside the result, which takes the result's name only when
 * everything is written.  A failure, or a kill, leaves what was there before.  The file is for its
 * owner's eyes (mode 0600), as perf's and our captures are.
 */
#ifndef EBPREC_ANALYZE_BASE_ATOMIC_FILE_H
#define EBPREC_ANALYZE_BASE_ATOMIC_FILE_H

struct outfile; /* opaque */

/* -EISDIR, -EINVAL for what is there and no regular file; else errno.  path is copied. */
int outfile_open(const char *path, struct outfile **out);
int outfile_fd(const struct outfile *o); /* for reading and writing; borrowed */
/*
 * Gives it to the owner of the file that it will replace, as far as we may: what root changes in
 * the place of a user's capture stays his.  Only for what he could read before.
 */
void outfile_keep_owner(const struct outfile *o);
/* Gives the file its name.  The outfile is freed in any case. */
int outfile_commit(struct outfile *o);
void outfile_abort(struct outfile *o); /* removes it; NULL is fine */

#endif
