/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * output_file - the capture's file, which takes its place when the recording has started
 *
 * The file has no name at first (O_TMPFILE), so that a recorded command does not see it; where the file
 * system has no such files it is PATH and a random number.  Its mode is 0600: a capture may hold what others must
 * not see.  It takes the place of PATH only when the recording really starts; an older capture becomes
 * PATH.old.  So a recording that cannot start changes nothing.
 *
 * The file belongs to the user that called sudo.  Links of other users in a folder for all (/tmp)
 * are not followed, and nothing is ever written into a file that existed before.
 */
#ifndef EBPREC_RECORD_OUTPUT_OUTPUT_FILE_H
#define EBPREC_RECORD_OUTPUT_OUTPUT_FILE_H

#include <stdbool.h>
#include <sys/types.h>

#include "format/os/atomic_file.h"
#include "record/base/messages.h"

struct output_file {
	char *path; /* owned */
	struct atomic_file file;
};

#define OUTPUT_FILE_NONE ((struct output_file){ .file = { .fd = -1, .dir_fd = -1 } })

/* On failure note_fail() has the reason. */
int output_file_open(struct output_file *o, const char *path, struct notes *notes);
/* Gives it its name, and an older file ".old" behind it; at no moment is there no file of the name. */
int output_file_place(struct output_file *o, struct notes *notes);
/* Undoes output_file_place(): an older file has its name again. */
void output_file_take_back(struct output_file *o);
/* 0: the content and the names are on the disk; else negative errno. */
int output_file_sync(const struct output_file *o);
/* A file without a name in the same folder, the caller's; -1: its file system has none. */
int output_file_spill(const struct output_file *o);
/* Closes; removes a file that never got into its place.  OUTPUT_FILE_NONE is fine. */
void output_file_close(struct output_file *o);

/* The user and group in these texts, SUDO_UID and SUDO_GID; false: none, or no numbers. */
bool output_file_invoker(const char *uid_text, const char *gid_text, uid_t *uid, gid_t *gid);

#endif
