/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* file_id - which file it is that was mapped: all that the kernel and the file itself report about that */
#ifndef EBPREC_FORMAT_BASE_FILE_ID_H
#define EBPREC_FORMAT_BASE_FILE_ID_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/sysmacros.h>
#include <sys/types.h>

#include "format/base/buildid.h"

/* All 0: not known.  A MMAP2 record has either a build-id or the rest. */
struct file_id {
	uint32_t dev_major, dev_minor;
	uint64_t inode, inode_generation;
	struct buildid build_id;
};

static inline uint64_t file_id_device(const struct file_id *f)
{
	return (uint64_t)f->dev_major << 32 | f->dev_minor;
}

/* Whether its device is that of a struct stat. */
static inline bool file_id_is_on(const struct file_id *f, dev_t device)
{
	return f->dev_major == major(device) && f->dev_minor == minor(device);
}

/* Whether device and inode are the same; the generation, which /proc does not have, is not compared. */
static inline bool file_id_same_inode(const struct file_id *a, const struct file_id *b)
{
	return a->inode == b->inode && a->dev_major == b->dev_major && a->dev_minor == b->dev_minor;
}

#endif
