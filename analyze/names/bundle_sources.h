/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* bundles - the names that a capture carries with it, file by file */
#ifndef EBPREC_ANALYZE_NAMES_BUNDLE_SOURCES_H
#define EBPREC_ANALYZE_NAMES_BUNDLE_SOURCES_H

#include "analyze/sym/bundle.h"
#include "format/reader/capture.h"

/* Embedded by the owner; all zero is an empty one.  Read freely. */
struct bundles {
	struct bundle **list;
	uint64_t *stored_bytes; /* what each takes in the file */
	size_t count, capacity, stored_capacity;
};

/* Reads all; what is broken, or of a later version, is left out and counted.  -ENOMEM. */
int bundles_read(const struct capture *c, struct bundles *out, size_t *broken);
void bundles_done(struct bundles *b);

#endif
