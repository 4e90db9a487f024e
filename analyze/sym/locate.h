/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * locate - the file that was mapped, if this machine still has it
 *
 * The I/O half of the resolver.  Paths come from a capture that anyone may have written: only
 * regular files are opened, below symfs nothing outside of it, and a file is handed out only when
 * it is the one that was recorded.  A build-id decides that in both directions; without one, the
 * path is a guess, and of a deleted file even the inode has to agree.
 */
#ifndef EBPREC_ANALYZE_SYM_LOCATE_H
#define EBPREC_ANALYZE_SYM_LOCATE_H

#include <stdbool.h>

#include "analyze/sym/resolve.h"

/* Whether a mapping of this name has no file behind it: "//anon", "[heap]", "/memfd:...". */
bool locate_is_anonymous(const char *path);

/*
 * Opens f for reading; *fd is owned.  NAME_FOUND, or why there is none (then *fd is untouched).
 * symfs: "" or NULL for none.  "[vdso]" gives a copy of this process's own, if it is the same.
 */
enum name_reason locate_open(const char *symfs, const struct resolver_file *f, int *fd);

/* Opens SYMFS/usr/lib/debug/.build-id/ab/cdef.debug; -ENOENT when there is none or another's. */
int locate_debug(const char *symfs, const struct buildid *id, int *fd);

#endif
