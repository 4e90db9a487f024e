/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* bundle_sources - the names that a capture carries with it, file by file */
#ifndef EBPREC_ANALYZE_NAMES_BUNDLE_SOURCES_H
#define EBPREC_ANALYZE_NAMES_BUNDLE_SOURCES_H

#include "analyze/sym/bundle_merge.h"
#include "format/reader/capture.h"

/* Embedded by the owner; all zero is an empty one.  Read freely. */
struct bundle_sources {
	struct bundle **list;
	uint64_t *stored_bytes; /* what each takes in the file */
	size_t count, capacity, stored_capacity;
};

/* Reads all; what is broken, or of a later version, is left out and counted.  -ENOMEM. */
int bundle_sources_read(const struct capture *c, struct bundle_sources *out, size_t *broken);
/* The same, one table a file; *out is an empty one.  -ENOMEM, -EOVERFLOW. */
int bundle_sources_merge(const struct capture *c, struct bundle_merge *out, size_t *broken);
void bundle_sources_done(struct bundle_sources *b);

#endif
