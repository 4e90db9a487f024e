/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * merge_records - the records of captures that are joined, rewritten by several threads
 *
 * A thread rewrites a capture after the other, each into a writer without a file, and hands over what is compressed in
 * batches; the caller puts the batches into the file in the order of the captures.  Where batches end depends on the
 * captures alone, so the file is the same whatever the number of threads.  A capture has at most BATCHES_AHEAD batches
 * that wait, and there are as many captures under way as threads.
 */
#ifndef EBPREC_ANALYZE_REWRITE_MERGE_RECORDS_H
#define EBPREC_ANALYZE_REWRITE_MERGE_RECORDS_H

#include "analyze/rewrite/rewrite_priv.h"

struct merge_records; /* opaque */

struct merge_records_source {
	size_t count;              /* captures */
	const struct writer *like; /* of the file; borrowed, only its head is read */
	/* Sets all but the writer of *rw, and join for it; in any thread. */
	void (*prepare)(void *ctx, size_t i, struct rewrite *rw, struct rewrite_join *join);
	void *ctx;
};

/* Starts the threads; thread_count 0: as many as there are CPUs.  -ENOMEM, or the errno of a thread. */
int merge_records_begin(const struct merge_records_source *source, unsigned thread_count,
			struct merge_records **out);
/* The records of capture i, which is the next one; adds to *stats.  errno of reading or writing. */
int merge_records_put(struct merge_records *m, size_t i, struct writer *to,
		      struct rewrite_stats *stats);
/* Ends the threads, wherever they are.  NULL is fine. */
void merge_records_end(struct merge_records *m);

#endif
