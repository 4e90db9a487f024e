/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * file_facts - facts about a mapped file, read while it existed
 *
 * The recorder writes one entry for each file; the analyzer, later and elsewhere, finds the file by
 * them, or detects that the file it found is another one.  The bytes are FORMAT.md 5.2.
 */
#ifndef EBPREC_FORMAT_PAYLOAD_FILE_FACTS_H
#define EBPREC_FORMAT_PAYLOAD_FILE_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/base/file_id.h"
#include "format/base/cursor.h"

#define FILE_FACTS_SEGMENTS_MAX 8
#define FILE_FACTS_TEXT_MAX     4096 /* longer texts are cut */
#define FILE_FACTS_MAX_BYTES    (128 + FILE_FACTS_SEGMENTS_MAX * 24 + 3 * (2 + FILE_FACTS_TEXT_MAX))

struct file_facts_segment {                    /* executable PT_LOAD */
	uint64_t vaddr, off_bytes, size_bytes; /* in the file */
};

/*
 * Checksums that distinguish a file without a build-id from another one of its size and time.  A
 * large file is not read completely: when a program is built anew, nearly all of it moves. loaded:
 * the first 64 KiB of each PT_LOAD segment that is not writable: headers, tables of symbols, code.
 * spread: 16 blocks of 4 KiB that lie evenly in the file, and its last 64 KiB.
 */
struct file_facts_sum {
	uint32_t loaded_crc, spread_crc;
	bool has_loaded,
		has_spread; /* a file that exists in a process's memory only has just `loaded` */
};

struct file_facts_text {
	const char *text; /* not NUL-terminated */
	uint16_t size_bytes;
};

struct file_facts {
	struct file_id id; /* as in the mapping */
	uint64_t size_bytes, mtime_ns;
	uint64_t mount_namespace; /* of the process that mapped it; inode number, 0: not known */
	struct file_facts_sum sum;
	uint32_t segment_count;
	struct file_facts_segment segments[FILE_FACTS_SEGMENTS_MAX];
	struct file_facts_text path;   /* as that process sees it */
	struct file_facts_text root;   /* its root, as the recorder sees it; "" for "/" */
	struct file_facts_text cgroup; /* "/system.slice/x.service"; "" when not known */
};

/* Returns the size, at most FILE_FACTS_MAX_BYTES. */
size_t file_facts_encode(const struct file_facts *f, uint8_t out[FILE_FACTS_MAX_BYTES]);
/*
 * Reads the entry at c and moves behind it.  Texts are borrowed from c.  1; 0: the end; -EBADMSG:
 * broken, and what follows cannot be found.
 */
int file_facts_next(struct cursor *c, struct file_facts *out);

/* The executable segments of an open ELF file.  Returns how many; 0 also when it is none. */
uint32_t file_facts_segments(int fd, struct file_facts_segment out[FILE_FACTS_SEGMENTS_MAX]);

/* The checksums of an open ELF file; none when it is no such file, or cannot be read. */
struct file_facts_sum file_facts_sum(int fd);
/*
 * The name of a copy of a file without a build-id, below a folder of copies: "/.checksum/..." of its
 * checksums, size and time.  *sum has both.
 */
#define FILE_FACTS_COPY_DIR        "/.checksum"
#define FILE_FACTS_COPY_NAME_BYTES 64
void file_facts_copy_name(const struct file_facts_sum *sum, uint64_t size_bytes, uint64_t mtime_ns,
			  char out[FILE_FACTS_COPY_NAME_BYTES]);
/* Whether the checksums that both have agree; false when there are none. */
bool file_facts_same_sum(const struct file_facts_sum *a, const struct file_facts_sum *b);

#endif
