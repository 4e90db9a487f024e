/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* mapping - a mapping of a process, as the kernel reported it, and what is known of its file */
#ifndef EBPREC_RECORD_BASE_MAPPING_H
#define EBPREC_RECORD_BASE_MAPPING_H

#include <stdbool.h>
#include <stdint.h>

#include "format/base/file_id.h"

struct mapping {
	uint32_t pid, tid; /* pid (uint32_t)-1: the kernel */
	uint64_t start, size_bytes, file_off_bytes;
	struct file_id id;
	uint32_t prot, flags;
	const char *path;

	/* mapped_files_lookup() fills these in. */
	uint64_t stamp;   /* of the file's size and times; 0: not known */
	bool is_stuck;    /* the file system does not answer: not to be opened */
	uint32_t seen_by; /* another process that has the file at that path; 0: not known */
};

#endif
