/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * deleted_files - copies of programs that no path leads to, for who bundles names
 *
 * A service whose package was upgraded runs its old program and libraries, which are deleted; a program in memory alone
 * never had a path.  While a process has such a file mapped it can be read, and afterwards never again.  So
 * for `record --bundle` it is copied, the first time it is seen mapped, into a folder where the analyzer finds
 * it by its build-id.  A file that is deleted later is not kept.
 */
#ifndef EBPREC_RECORD_PROCESS_DELETED_FILES_H
#define EBPREC_RECORD_PROCESS_DELETED_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "format/base/buildid.h"

#define DELETED_FILES_MAX       256          /* files */
#define DELETED_FILES_MAX_BYTES (1ULL << 30) /* of all */

/* All zero, but for dir. */
struct deleted_files {
	const char *dir; /* borrowed; made for the first file.  NULL: none are kept */
	bool is_made;
	struct buildid ids[DELETED_FILES_MAX];
	unsigned count, missed_count; /* missed: there was no room, or no way */
	uint64_t bytes;
};

/* Keeps the file if it is one of those: path as it was mapped, fd open for reading. */
void deleted_files_see(struct deleted_files *g, const char *path, int fd, const struct buildid *id);
/* Removes the copies. */
void deleted_files_done(struct deleted_files *g);

#endif
