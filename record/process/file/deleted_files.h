/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * deleted_files - copies of programs that no path leads to any more, for the bundle of names
 *
 * A service whose package was upgraded runs its old program and libraries, which are deleted or replaced; a
 * program in memory alone never had a path.  For `record --bundle` the recorder holds the files that it
 * sees mapped open.  When the recording is over, it copies those that were deleted or replaced meanwhile, or before,
 * into a folder where the analyzer finds them by build-id, or by checksum where there is none.
 *
 * An open file keeps its file system from being unmounted.  So files of overlays (containers) and
 * of network file systems are held only if they are deleted when they are first seen.  Files of FUSE are never held: to
 * close one asks its server, which need not answer.
 */
#ifndef EBPREC_RECORD_PROCESS_FILE_DELETED_FILES_H
#define EBPREC_RECORD_PROCESS_FILE_DELETED_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "record/process/file/mapped_files.h"

#define DELETED_FILES_HELD      4096 /* descriptors, and a quarter of those that the process may have */
#define DELETED_FILES_MAX       256          /* copies */
#define DELETED_FILES_MAX_BYTES (1ULL << 30) /* of all copies */

struct deleted_files_held; /* in deleted_files.c */

/* All zero, but for dir. */
struct deleted_files {
	const char *dir; /* borrowed; made for the first copy.  NULL: nothing is held */
	bool is_made;    /* there are copies in it */
	struct deleted_files_held *held;
	size_t held_count, held_room;
	unsigned unheld_count; /* files for which there was no descriptor, or no memory */
	unsigned copy_count;
	unsigned missed_count; /* deleted files without a copy: there was no room, or no way */
	uint64_t copy_bytes;
};

/* Holds the file, if it is one of those. */
void deleted_files_see(struct deleted_files *g, const struct mapped_files_found *f);
/* Copies those that no path leads to, and lets all go. */
void deleted_files_copy(struct deleted_files *g);
/* Removes the copies, and lets all go. */
void deleted_files_done(struct deleted_files *g);

#endif
