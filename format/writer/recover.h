/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * recover - completes a capture that was truncated, or is damaged inside
 *
 * A capture needs nothing but its head and its blocks: each block and private record has its type
 * and a checksum.  Planning walks them and finds every valid one, also behind a broken range;
 * applying adds the parts of a finished file: table, SAMPLE_TIME, BUILD_ID (from the mappings),
 * directory, trailer, and the state RECOVERED.  Bytes of a broken range in the middle stay where
 * they are, but under the header of a private record, which every reader skips.
 *
 * The plan only reads.  Applied in place, the file is complete after the one write of the head, and
 * as recoverable as before until then.
 */
#ifndef EBPREC_FORMAT_WRITER_RECOVER_H
#define EBPREC_FORMAT_WRITER_RECOVER_H

#include <stdbool.h>
#include <stdint.h>

#include "format/reader/capture.h"

struct recover_report {
	bool is_complete;       /* nothing to do */
	bool head_mended;       /* the file header was broken */
	uint64_t valid_bytes;   /* head and data, from the file's start */
	uint64_t lost_bytes;    /* behind that: truncated, or unreadable up to the end */
	bool is_truncated;      /* some or all of these are not in the file */
	uint64_t broken_bytes;  /* in between: skipped */
	uint32_t broken_places; /* how many runs of them */
	uint64_t block_count;
	uint64_t sample_count, other_count; /* samples of the CPUs, and all other events */
	uint64_t first_ns, last_ns;         /* of all these; 0: none are left */
};

struct recovery; /* opaque */

/*
 * c: the capture as capture_open() sees it; fd: the same file; both borrowed until recovery_free().
 * -ENOTSUP: not a capture of ours; -ENODATA: cut inside its head; -EBADMSG: its head is broken;
 * -ENOMEM.
 */
int recovery_plan(const struct capture *c, int fd, struct recovery **out, struct parse_err *err);
void recovery_get_report(const struct recovery *r, struct recover_report *out);
/*
 * fd: open for reading and writing, with at least the first valid_bytes of the file: the file itself,
 * or a copy.  Once.  Errno of the write.
 */
int recovery_apply(struct recovery *r, int fd);
void recovery_free(struct recovery *r); /* NULL is fine */

#endif
