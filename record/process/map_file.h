/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * map_file - opening the file behind a mapping, whatever its path says now
 *
 * In the order of trust: the mapped file itself (/proc/PID/map_files, also when deleted or
 * replaced; for the privileged), /proc/PID/exe if it is that, then its path below /proc/PID/root, then, for a process that is gone, below our own
 * root.  It is believed only when it is a regular file with the inode of the mapping, a path only
 * when the device is the same, too.
 */
#ifndef EBPREC_RECORD_PROCESS_MAP_FILE_H
#define EBPREC_RECORD_PROCESS_MAP_FILE_H

#include "record/events/side_record.h"

/*
 * A descriptor for reading, the caller's; negative errno.  Never blocks on a strange file, and opens no
 * device: in another root the path may lead to one.
 */
int map_file_open(const struct side_record_map *m);
/* The same, of a process that is gone, by the path below the root of another one. */
int map_file_open_by(const struct side_record_map *m, uint32_t pid);

#endif
