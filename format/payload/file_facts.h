/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * filefacts - what was known of a mapped file while it was there
 *
 * The recorder writes one entry for each file; the analyzer, later and elsewhere, finds the file by
 * them, or knows that what it found is another one.  The bytes are FORMAT.md 5.2.
 */
#ifndef EBPREC_FORMAT_PAYLOAD_FILE_FACTS_H
#define EBPREC_FORMAT_PAYLOAD_FILE_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/base/buildid.h"
#include "format/base/cursor.h"

#define FILEFACTS_SEGMENTS_MAX 8
#define FILEFACTS_TEXT_MAX     4096 /* longer texts are cut */
#define FILEFACTS_MAX_BYTES    (128 + FILEFACTS_SEGMENTS_MAX * 24 + 3 * (2 + FILEFACTS_TEXT_MAX))

struct filefacts_segment {                     /* executable PT_LOAD */
	uint64_t vaddr, off_bytes, size_bytes; /* in the file */
};

/*
 * What tells a file without a build-id from another one of its size and time.  Not all of a large file is
 * read: when a program is built anew, nearly all of it moves.
 * loaded: the first 64 KiB of each PT_LOAD segment that is not writable: headers, tables of symbols, code.
 * spread: 16 blocks of 4 KiB that lie evenly in the file, and its last 64 KiB.
 */
struct filefacts_sum {
	uint32_t loaded_crc, spread_crc;
	bool has_loaded,
		has_spread; /* of what is only in a process's memory, loaded alone is known */
};

struct filefacts_text {
	const char *text; /* not NUL-terminated */
	uint16_t size_bytes;
};

struct filefacts {
	uint32_t dev_major, dev_minor; /* as in the mapping */
	uint64_t inode, inode_generation;
	uint64_t size_bytes, mtime_ns;
	uint64_t mount_namespace; /* of the process that mapped it; inode number, 0: not known */
	struct buildid build_id;
	struct filefacts_sum sum;
	uint32_t segment_count;
	struct filefacts_segment segments[FILEFACTS_SEGMENTS_MAX];
	struct filefacts_text path;   /* as that process sees it */
	struct filefacts_text root;   /* its root, as the recorder sees it; "" for "/" */
	struct filefacts_text cgroup; /* "/system.slice/x.service"; "" when not known */
};

/* Returns the size, at most FILEFACTS_MAX_BYTES. */
size_t filefacts_encode(const struct filefacts *f, uint8_t out[FILEFACTS_MAX_BYTES]);
/*
 * Reads the entry at c and moves behind it.  Texts are borrowed from c.  1; 0: the end; -EBADMSG:
 * broken, and what follows cannot be found.
 */
int filefacts_next(struct cursor *c, struct filefacts *out);

/* The executable segments of an open ELF file.  Returns how many; 0 also when it is none. */
uint32_t filefacts_segments(int fd, struct filefacts_segment out[FILEFACTS_SEGMENTS_MAX]);

/* The checksums of an open ELF file; none when it is no such file, or cannot be read. */
struct filefacts_sum filefacts_sum(int fd);
/* Whether what both know agrees; false also when both know nothing. */
bool filefacts_same_sum(const struct filefacts_sum *a, const struct filefacts_sum *b);

#endif
