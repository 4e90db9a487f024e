/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * open_in_root - opens files of untrusted paths
 *
 * Paths come from a capture, or from a file that a capture led to.  Only regular files are opened,
 * only for reading, and below a root nothing outside of it: links, also absolute ones, are followed
 * as if the root were "/".  And only ELF files, but no memory images (core files, /proc/kcore), so that
 * a path in a hostile capture leads to nothing that is worth a secret.  Where source code is asked for,
 * only files that bear a name of source code.
 */
#ifndef EBPREC_ANALYZE_SYM_LOCATE_OPEN_IN_ROOT_H
#define EBPREC_ANALYZE_SYM_LOCATE_OPEN_IN_ROOT_H

#include <stdbool.h>
#include <sys/stat.h>

/* Whether root is the machine's own: NULL, "" or "/". */
bool roots_is_host(const char *root);

/*
 * The ELF file at path below root, *st filled.  The fd is the caller's; else negative errno: -ENOENT
 * for what is no regular file, -ENOEXEC for what is no program, library or part of one.  follow: the
 * last part may be a link (those before it always may).  opener: the socket of a process that opens it
 * (file_opener.h); 0: this one does.
 */
int roots_open(int opener, const char *root, const char *path, bool follow, struct stat *st);

/*
 * The same of a file of source code: its own name, where all links lead, ends as those of compiled languages or Python do, or
 * it is a header of the system (below usr/include); at most SOURCE_MAX_BYTES, and no NUL among its first 4096.
 * -ENOEXEC for others.
 */
int roots_open_source(int opener, const char *root, const char *path, struct stat *st);
#define SOURCE_MAX_BYTES (16u << 20)

/* The stat of the file at path, of any type; nothing is opened for that.  errno. */
int roots_stat(int opener, const char *root, const char *path, struct stat *st);

#endif
