/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* wait_tables - the tables "threads", "pieces", "runs", "waits" and what belongs to them */
#ifndef EBPREC_ANALYZE_PAGE_WAIT_TABLES_H
#define EBPREC_ANALYZE_PAGE_WAIT_TABLES_H

#include <stddef.h>

#include "analyze/page/table/columns.h"
#include "analyze/page/samples.h"
#include "analyze/page/stacks.h"
#include "analyze/page/table/texts.h"
#include "analyze/page/waits.h"

/* A capture's waits, and its samples, which have the tasks and the time. */
struct page_wait_source {
	const struct page_waits *waits;
	const struct page_samples *samples;
};

/* The rows of several captures, one behind the other.  texts have their numbers by then.  -ENOMEM. */
int page_wait_tables_write(const struct page_wait_source *list, size_t count,
			   const struct page_stacks *stacks, const struct page_texts *texts,
			   struct page_columns *p);

#endif
