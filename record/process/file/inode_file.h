/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * inode_file - opening a mapped file by its inode, when no process is left that has a path to it
 *
 * A program that runs for a millisecond in a mount namespace of its own is gone when its mapping is
 * read.  But the mapping has device, inode and generation, and that is what a file handle is made
 * of on ext2 to ext4, XFS and F2FS (open_by_handle_at(2); takes CAP_DAC_READ_SEARCH).  Other file
 * systems have other handles, and an overlayfs ends with its namespace.
 */
#ifndef EBPREC_RECORD_PROCESS_FILE_INODE_FILE_H
#define EBPREC_RECORD_PROCESS_FILE_INODE_FILE_H

#include "record/base/mapping.h"

/*
 * A descriptor for reading, the caller's.  *path (owned): one that leads the recorder to it now; NULL when
 * there is none.  -ENOENT: no such file system here, or none that can do it; -ESTALE: deleted; -EPERM.
 */
int inode_file_open(const struct mapping *m, char **path);

/*
 * Pure.  The mount point of the device in the text of a mountinfo, owned, of a type that has such
 * handles; NULL: none.
 */
char *inode_file_mount(const char *mounts, uint32_t dev_major, uint32_t dev_minor);

#endif
