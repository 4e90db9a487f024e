/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * verify - is there a text in a capture, in any part of it?
 *
 * Looks at all records and objects as they are when decompressed, and at the rest of the file as it
 * is; at all of the file when that is not ours, or damaged.  A control character ends a text.
 */
#ifndef EBPREC_ANALYZE_REWRITE_SCRUB_VERIFY_H
#define EBPREC_ANALYZE_REWRITE_SCRUB_VERIFY_H

#include <regex.h>
#include <stddef.h>
#include <stdint.h>

#include "format/reader/capture.h"
#include "format/reader/source.h"

#define SCRUB_VERIFY_PLACE_BYTES 96

struct scrub_verify_found {
	uint64_t text_count;   /* texts that match; 0: none */
	uint64_t unread_count; /* parts that could not be read, and so not be looked at */
	/* The place of the first. */
	char place[SCRUB_VERIFY_PLACE_BYTES]; /* "a MMAP2 record" */
	size_t pattern;                       /* which */
	char text[120];                       /* with something around */
	size_t text_bytes;
};

/* file: the bytes that c is of.  patterns: compiled.  -ENOMEM. */
int scrubcheck(const struct capture *c, const struct source *file, const regex_t *patterns,
	       size_t pattern_count, struct scrub_verify_found *out);

#endif
