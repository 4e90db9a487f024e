/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* processes - the processes of a page: when each began and ended, whose child it was, and its command line */
#ifndef EBPREC_ANALYZE_PAGE_PROCESSES_H
#define EBPREC_ANALYZE_PAGE_PROCESSES_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/page/table/columns.h"
#include "analyze/page/samples.h"
#include "analyze/page/table/texts.h"
#include "analyze/process/tasks.h"
#include "analyze/report/report.h"

struct page_process {
	const struct tasks_life *life;
	uint32_t comm, command; /* texts */
	uint32_t threads;
	uint32_t exit; /* as wait() has it, and 1; 0: not known */
};

/* Embedded by the owner; page_processes_done(); all zero is none.  Read freely. */
struct page_processes {
	struct tasks tasks;
	struct page_process *list; /* by pid, then by time */
	size_t count;
};

/* The processes whose threads the samples and waits of a page are of: samples is without rows yet.  -ENOMEM, -EOVERFLOW. */
int page_processes_make(const struct report *r, const struct page_samples *samples,
			struct page_texts *texts, struct page_processes *out);
void page_processes_done(struct page_processes *p);
/* The table "processes"; texts have their numbers by then. */
void page_processes_write(const struct page_processes *p, uint64_t base_us,
			  const struct page_texts *texts, struct page_columns *columns);

#endif
