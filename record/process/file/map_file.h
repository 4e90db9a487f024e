/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * map_file - opening the file behind a mapping, whatever its path leads to now
 *
 * In the order of trust: the mapped file itself (/proc/PID/map_files, also when deleted or
 * replaced; for the privileged), /proc/PID/exe if it is that, then its path below /proc/PID/root, then, for a process that is gone, below our own
 * root.  It is believed only when it is a regular file with the inode of the mapping, a path only
 * when the device is the same, too.
 */
#ifndef EBPREC_RECORD_PROCESS_FILE_MAP_FILE_H
#define EBPREC_RECORD_PROCESS_FILE_MAP_FILE_H

#include <sys/stat.h>

#include "record/base/mapping.h"

/*
 * A descriptor for reading, the caller's; negative errno.  Never blocks on a strange file, and opens no
 * device: in another root the path may lead to one.
 */
int map_file_open(const struct mapping *m);
/* The same for naming alone (O_PATH): nothing is opened.  Only of the mapped file itself. */
int map_file_name(const struct mapping *m);
/*
 * The mapped file's inode, size and times, without opening it where that can be.  at: of map_file_name(), or
 * negative.  *mount: the id of the mount, which no other mount ever gets (Linux 6.8); 0: not known.  -ESRCH: the
 * process is gone.
 */
int mapfile_stat(const struct mapping *m, int at, struct stat *st, uint64_t *mount);
/* The same as map_file_open(), of a process that is gone, by the path below the root of another one. */
int map_file_open_by(const struct mapping *m, uint32_t pid);

#endif
