/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * atomic_file - a file that gets its name at once, and a folder that has one of that name at every moment
 *
 * The file has no name while it is written (O_TMPFILE): a process that is killed leaves nothing behind.
 * Where the file system has no such files it has a name of its own until then.  atomic_file_place()
 * gives it its name; a file that had the name before is replaced in one step, or gets another name.
 * At no moment is the name missing when there was a file of that name: the names are exchanged
 * (RENAME_EXCHANGE), or the older file gets its second name first (a hard link).  A file is on the
 * disk, with its name, only after atomic_file_sync() of file and folder.
 */
#ifndef EBPREC_FORMAT_OS_ATOMIC_FILE_H
#define EBPREC_FORMAT_OS_ATOMIC_FILE_H

#include <stdbool.h>

struct atomic_file {
	int fd, dir_fd; /* owned; dir_fd: of the folder, -1 when there is no file */
	char *base;     /* owned: the name that it shall have */
	char *temp; /* owned: the name that it has meanwhile; NULL: none, or it is in its place */
	int access; /* O_WRONLY or O_RDWR */
	bool in_place;
	bool replaced; /* a file that was in its place has the name `older` of atomic_file_place() */
};

/*
 * Mode 0600, open with this access.  dir_fd: taken, also on failure; base: copied, without a
 * slash.  On success atomic_file_close().
 */
int atomic_file_open(int dir_fd, const char *base, int access, struct atomic_file *out);
/* A file of the same folder that never gets a name; the caller's; negative errno: the file system has none. */
int atomic_file_nameless(const struct atomic_file *f);
/*
 * older: the name that a file that is in its place gets; a file of that name goes.  NULL: the file
 * that is in its place is removed. -EOPNOTSUPP: the file system can neither exchange nor link, and
 * older is to be preserved.  After a failure the folder is unchanged.
 */
int atomic_file_place(struct atomic_file *f, const char *older);
/*
 * Undoes atomic_file_place() with the same `older`: the file that was in its place has its name
 * again, and this one has none.  A file that had the name `older` before is gone.
 */
int atomic_file_take_back(struct atomic_file *f, const char *older);
/* Writes the file's contents to the disk. */
int atomic_file_sync(const struct atomic_file *f);
/* Writes the folder's names to the disk: the file's, and the one that an older file got. */
int atomic_file_sync_folder(const struct atomic_file *f);
/* Removes a file that is not in its place.  Zeroed with fd and dir_fd -1 is fine. */
void atomic_file_close(struct atomic_file *f);

#endif
