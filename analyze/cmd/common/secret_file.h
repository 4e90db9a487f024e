/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* secret_file - the secret of a server, from a file that only its owner may read */
#ifndef EBPREC_ANALYZE_CMD_COMMON_SECRET_FILE_H
#define EBPREC_ANALYZE_CMD_COMMON_SECRET_FILE_H

/* Its first line; *out: owned (free()).  0, or the exit status after an error was printed. */
int secret_file_read(const char *path, char **out);

#endif
