/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * recover - makes a capture whole that was cut off, or is broken inside
 *
 * A capture needs nothing but its head and its blocks: each block and private record says what it
 * is and carries a checksum.  Planning walks them and keeps every one that is right, also behind a
 * broken place; applying gives the file what a finished one has: table, SAMPLE_TIME, BUILD_ID (from
 * the mappings), directory, trailer, and the state RECOVERED.  Bytes of a broken place in the
 * middle stay where they are, but under the header of a private record, which every reader skips.
 *
 * The plan only reads.  Applied in place, the file is whole again after the one write of the head,
 * and as recoverable as before until then.
 */
#ifndef EBPREC_FORMAT_WRITER_RECOVER_H
#define EBPREC_FORMAT_WRITER_RECOVER_H

#include <stdbool.h>
#include <stdint.h>

#include "format/reader/capture.h"

struct recover_report {
	bool whole;             /* nothing to do */
	bool head_mended;       /* the file header was broken */
	uint64_t kept_bytes;    /* head and data, from the file's start */
	uint64_t lost_bytes;    /* behind that: cut off, or unreadable up to the end */
	uint64_t broken_bytes;  /* in between: set aside */
	uint32_t broken_places; /* how many runs of them */
	uint64_t block_count, sample_count;
	uint64_t first_ns, last_ns; /* of the samples kept; 0: none */
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
 * fd: open for reading and writing, with at least the first kept_bytes of the file: the file itself,
 * or a copy.  Once.  Errno of the write.
 */
int recovery_apply(struct recovery *r, int fd);
void recovery_free(struct recovery *r); /* NULL is fine */

#endif
