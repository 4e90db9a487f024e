/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * file_opener - a process that opens ELF files for one that may not
 *
 * Names come from programs and libraries that may lie anywhere, and a process that reads files of
 * strangers shall not be able to read everything that its user may.  So it opens nothing itself: a
 * process that was started before it entered its sandbox gets a root and a path, opens what
 * roots_open() opens, and nothing else, and passes the descriptor on; files of source code only where that was
 * agreed when it was started.  It reads no more of a file than its first 18 bytes, of source code 4096.  Any number of threads may ask at a time: each question carries the socket for
 * its answer.
 */
#ifndef EBPREC_ANALYZE_SYM_LOCATE_FILE_OPENER_H
#define EBPREC_ANALYZE_SYM_LOCATE_FILE_OPENER_H

#include <stdbool.h>
#include <sys/stat.h>

/*
 * socket: the asking end of a pair of SOCK_SEQPACKET.  As roots_open(), roots_open_source() and
 * roots_stat(); -EPERM: the process does not answer.
 */
int file_opener_open(int socket, const char *root, const char *path, bool follow, struct stat *st);
int file_opener_open_source(int socket, const char *root, const char *path, struct stat *st);
int file_opener_stat(int socket, const char *root, const char *path, struct stat *st);

/*
 * The other end: answers until no asking end is open any more.  with_sources: it opens source code, too; else that is
 * -EACCES.
 */
void file_opener_serve(int socket, bool with_sources);

#endif
