/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * bundle_merge - one table of names for each file
 *
 * Each event of a capture is looked up for itself, and captures that were merged bring what each had:
 * then a file has several tables.  The names of a file are those of all of them.
 */
#ifndef EBPREC_ANALYZE_SYM_BUNDLE_MERGE_H
#define EBPREC_ANALYZE_SYM_BUNDLE_MERGE_H

#include "analyze/sym/bundle.h"
#include "analyze/sym/symfile_cache.h"

struct bundle_merge_file {
	struct bundle *bundle; /* owned */
	uint64_t stored_bytes; /* what its tables take in the file they came from, together */
};

/* Embedded by the owner; all zero is an empty one.  Read freely: ids.count files. */
struct bundle_merge {
	struct symfile_cache ids;
	struct bundle_merge_file *files; /* in the order in which the first table of each came */
	size_t room;
};

/* b is taken, on failure, too.  -ENOMEM, -EOVERFLOW. */
int bundle_merge_add(struct bundle_merge *j, struct bundle *b, uint64_t stored_bytes);
void bundle_merge_done(struct bundle_merge *j);

#endif
