/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* secret_file - the secret of a server, from a file that only its owner may read */
#ifndef EBPREC_ANALYZE_CMD_COMMON_SECRET_FILE_H
#define EBPREC_ANALYZE_CMD_COMMON_SECRET_FILE_H

/*
 * From here on neither a core file nor another process of the same user gets what this process has in memory (prctl(2), PR_SET_DUMPABLE:
 * core files that go to a program have no other limit).  Files in its /proc/self then belong to root.
 */
void secret_keep_in_memory(void);
/*
 * Its first line, after secret_keep_in_memory(); *out: owned (free()).  0, or the exit status after an error was printed.
 */
int secret_file_read(const char *path, char **out);

#endif
