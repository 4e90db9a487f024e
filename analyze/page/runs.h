/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * runs - the pieces in which threads ran, by CPU: where one ends, most often the next one on that CPU begins
 *
 * So a page has the moment of a switch once, not with both threads (docs/PAGE.md, "runs").
 */
#ifndef EBPREC_ANALYZE_PAGE_RUNS_H
#define EBPREC_ANALYZE_PAGE_RUNS_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/page/waits.h"

struct page_run {
	uint64_t from_ns, to_ns;
	uint32_t thread; /* number in the list of threads */
	uint16_t cpu;
};

/* By CPU, then time.  *out is owned.  -ENOMEM. */
int page_runs_list(const struct page_waits *w, struct page_run **out, size_t *count);

/* The threads that ran last, the latest first.  All zero: none did. */
#define PAGE_RUNS_RECENT 64

struct page_runs_recent {
	uint32_t threads[PAGE_RUNS_RECENT];
	size_t count;
};

/* The place of the thread among them, or where it is not, their most and the thread; puts it first. */
uint64_t page_runs_place(struct page_runs_recent *recent, uint32_t thread);

/*
 * How long the pieces were of which the runs do not have it, in the order of the pieces.  They have the first piece
 * between two runs of a thread, or before its first one: it is as long as the rest leaves.  visit may be NULL; the result: how many.
 */
size_t page_runs_lengths(const struct page_waits *w, void (*visit)(void *ctx, uint64_t ns),
			 void *ctx);

#endif
