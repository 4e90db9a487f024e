/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * open_mapped - the one way to the bytes of a mapped file
 *
 * In this order: as its process has it (map_file.h), by its inode (inode_file.h), a copy from the process's
 * memory where no other process may open it (map_copy.h), and by its path below the roots of other processes:
 * those of the mount namespace of a program that has ended already may still see its files.
 */
#ifndef EBPREC_RECORD_PROCESS_FILE_OPEN_MAPPED_H
#define EBPREC_RECORD_PROCESS_FILE_OPEN_MAPPED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/base/mapping.h"

struct open_mapped {
	int fd;           /* owned; or negative errno */
	uint32_t by_pid;  /* whose path led to it; 0: none did */
	char *found_path; /* owned, the path at which the recorder found it by its inode; or NULL */
	bool is_copy;     /* parts of it, with holes; its size and times are not the file's */
};

/* others: processes, 0: none.  copy_bytes: as most_bytes of map_copy_open().  May block where a file system does. */
struct open_mapped open_mapped_file(const struct mapping *m, const uint32_t *others,
				    size_t other_count, uint64_t copy_bytes);

#endif
