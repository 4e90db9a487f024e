/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * file_watch - whether the numbers of a file are still those of the same file, with the same contents
 *
 * Overlays of containers and file systems in memory have a device number that the next one mounted gets when they are
 * gone, and inode numbers without a generation.  To ask a process for each of its files whether it is still the
 * one that was read takes a thread and 0.2 ms.  inotify reports instead what would make it another one: it was
 * written or its attributes were changed, it was removed, or its file system was unmounted (fsnotify_sb_delete() comes
 * before kill_anon_super() frees the device number).  A watched inode stays, so that no other file gets its number.
 *
 * A watch keeps nothing from being unmounted, as an open file would.  Limits: writes to memory that is
 * mapped are reported when the file is closed; changes to the layers of an overlay, behind its back, are not.
 */
#ifndef EBPREC_RECORD_PROCESS_FILE_FILE_WATCH_H
#define EBPREC_RECORD_PROCESS_FILE_FILE_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "record/base/u64map.h"

#define FILE_WATCH_MAX 4096

struct file_watch {
	int fd;             /* of inotify; negative: there is none, and no file is watched */
	struct u64map live; /* watches of files to which nothing happened */
	uint64_t event_count;
};

/* Without inotify it watches nothing. */
void file_watch_init(struct file_watch *w);
void file_watch_done(struct file_watch *w);

/* In any thread, with the descriptor of a file_watch: the file's watch, a number that no other inode ever gets; 0: none. */
int file_watch_begin(int inotify_fd, int fd);
void file_watch_end(int inotify_fd, int watch);

/* Whether one more is wanted. */
bool file_watch_has_room(const struct file_watch *w);
/*
 * Takes a watch that was begun when event_count was so; false: something happened meanwhile, perhaps to its file,
 * and it is ended.
 */
bool file_watch_add(struct file_watch *w, int watch, uint64_t event_count);
/* Nothing happened to the file since its watch was begun.  watch may be 0: false. */
bool file_watch_holds(struct file_watch *w, int watch);

#endif
