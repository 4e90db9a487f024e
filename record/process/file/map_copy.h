/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * map_copy - a mapped file as the memory of its process has it, where no other process may open it
 *
 * A file system that a user mounted with FUSE (fuse-overlayfs, below a user's own podman) answers that
 * user's namespace alone, and root neither.  The mapped parts of a file can be read where its
 * process can: headers, notes and unwind tables are in mappings that are never written.  They are
 * put at their offsets into a file in memory, with holes where nothing is mapped (section headers,
 * mostly).  Its mode allows all users to write: so it is read with the care for files of others,
 * and no cache stores results from it.  Its size and times are not the file's.
 */
#ifndef EBPREC_RECORD_PROCESS_FILE_MAP_COPY_H
#define EBPREC_RECORD_PROCESS_FILE_MAP_COPY_H

#include "record/base/mapping.h"

/*
 * The bytes of each mapping from which build-ids, segments and checksums are read; segments begin
 * inside of a page.
 */
#define MAP_COPY_HEADS ((64ULL << 10) + 4096)
#define MAP_COPY_ALL   (64ULL << 20)

/*
 * A descriptor, the caller's.  most_bytes: the most of each mapping; MAP_COPY_ALL is the most of
 * all mappings together.  -ESTALE: the process is gone, or has not mapped this inode; -ENOEXEC: its
 * begin is no ELF file.
 */
int map_copy_open(const struct mapping *m, uint64_t most_bytes);

#endif
