/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* slurp - reads small files at once, above all those of /proc and /sys, which report no size */
#ifndef EBPREC_FORMAT_OS_SLURP_H
#define EBPREC_FORMAT_OS_SLURP_H

#include "format/base/outbuf.h"

#define SLURP_MAX_BYTES (256u << 20)

/* Appends the file to *out, then a NUL that does not count.  errno, or -EOVERFLOW above the limit. */
int slurp(const char *path, struct outbuf *out);
/* The same from a file relative to dir_fd. */
int slurp_at(int dir_fd, const char *path, struct outbuf *out);
/*
 * The same with a limit of the caller's.  -EOVERFLOW: the file is longer; *out has more than max_bytes of it, and
 * no NUL.
 */
int slurp_some(int dir_fd, const char *path, size_t max_bytes, struct outbuf *out);
/* The file's text without its last newline, owned; NULL when it cannot be read. */
char *slurp_line(const char *path);

#endif
