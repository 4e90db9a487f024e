/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * cache_dir - the folder in which the recorder caches what it can make again
 *
 * Unwind tables and the kernel's symbols lie there, a file each.  Only root, or the user of the
 * recorder, may write into it.
 */
#ifndef EBPREC_RECORD_BASE_CACHE_DIR_H
#define EBPREC_RECORD_BASE_CACHE_DIR_H

#include <stddef.h>

#define CACHE_DIR_TEMP_PREFIX ".new-" /* of files that are being written; removed when they stay */

/*
 * The default folder: $EBPREC_TABLE_CACHE, or for root /var/cache/ebprec, else
 * $XDG_CACHE_HOME/ebprec or ~/.cache/ebprec; "" when there is none of these, or it is too long.
 */
void cache_dir_default(char *path, size_t room_bytes);

/*
 * Opens the folder, which is made when it is not there.  -EPERM: it is not ours, or others may
 * write into it; -EINVAL: no absolute path; else errno.
 */
int cache_dir_open(const char *path);

#endif
