/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * record_scan - the records of a capture's data section, one behind the other, and the next one
 * behind a break
 *
 * Reading a damaged capture and recovering one ask the same questions: which record is at this
 * offset, and where does the next valid record start when there is none?  Records of ours are known
 * by magic and checksum, so they are found again behind any break.
 */
#ifndef EBPREC_FORMAT_READER_RECORD_SCAN_H
#define EBPREC_FORMAT_READER_RECORD_SCAN_H

#include <stdbool.h>

#include "format/reader/capture.h"
#include "format/reader/directory.h"
#include "format/reader/source.h"

#define BLOCK_SKIP_OFF   8  /* in a COMPRESSED record: the skippable frame ... */
#define BLOCK_HEADER_OFF 16 /* ... and our block header in it */
#define BLOCK_PREFIX_MIN (BLOCK_HEADER_OFF + EBX_BLOCK_BYTES)

/*
 * Takes a COMPRESSED record of ours apart: block header and the zstd data behind it, borrowed.
 * Does not check the data's checksum.
 */
int block_record_decode(const uint8_t *rec, size_t size_bytes, struct ebx_block *out,
			struct capture_bytes *data, struct parse_err *err);

enum record_scan_found {
	RECORD_SCAN_NOTHING, /* no record of ours, or a broken one */
	RECORD_SCAN_ITEM,    /* a block, a part or a plain record: *item */
	RECORD_SCAN_OTHER,   /* a record to skip */
	RECORD_SCAN_UNKNOWN, /* the same, but of an unknown type */
};

struct record_scan {
	struct window window;
	uint64_t crc_budget_bytes; /* the bytes that searching for a lost chain may still read */
};

/* s is borrowed until record_scan_done(). */
void record_scan_init(struct record_scan *ch, const struct source *s);
void record_scan_done(struct record_scan *ch);

/*
 * Classifies the record at off, if it is complete before end; checks the checksums of headers. item
 * has offset and size unless the result is RECORD_SCAN_NOTHING, which err explains.
 */
enum record_scan_found record_scan_look(struct record_scan *ch, uint64_t off_bytes,
					uint64_t end_bytes, struct directory_item *item,
					struct parse_err *err);

/* Whether the data of this block has the right checksum.  True for a part: record_scan_at() checked
 * it. */
bool record_scan_proves(struct record_scan *ch, const struct directory_item *item);

/* The offset at which to go on behind the break at off: behind the broken record when its size
 * leads to a record of ours or to the end, else the next block or part; else end. */
uint64_t record_scan_step_over(struct record_scan *ch, uint64_t off_bytes, uint64_t end_bytes);

#endif
