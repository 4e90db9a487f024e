/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * samples - which threads ran, and when: the threads of a page and a row a sample
 *
 * A task is a thread under one name in one cgroup: one that calls itself otherwise is another task from then on.
 * Rows are by task, then by time: neighbours are alike, so what is written of them is short.
 */
#ifndef EBPREC_ANALYZE_PAGE_SAMPLES_H
#define EBPREC_ANALYZE_PAGE_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/input/event/time_span.h"
#include "analyze/page/table/columns.h"
#include "analyze/page/stacks.h"
#include "analyze/page/table/texts.h"
#include "analyze/page/waits.h"
#include "analyze/report/profile/calltree.h"
#include "analyze/report/report.h"

/* enum group_fields that the report must have counted apart, with keep_samples. */
#define PAGE_SAMPLES_FIELDS (GROUP_COMM | GROUP_PID | GROUP_TID | GROUP_CGROUP)

struct page_task {
	uint32_t pid, tid, comm_number, cgroup_number;
	uint32_t comm, label, cgroup, container; /* texts */
	uint64_t row_count, sum;                 /* of its rows: how many, and their weights */
};

struct page_row {
	uint64_t when_us; /* since base_us */
	uint32_t stack;   /* number */
	int32_t cpu;
};

/* The most frequent come first. */
struct page_stack {
	uint32_t node;
	uint32_t
		lines; /* the node of the same stack by lines of functions; 0: these are not distinguished */
	uint32_t end; /* why it ends there: a number */
	uint32_t count;
	uint32_t next; /* used while they are made */
};

/* Embedded by the owner; page_samples_done().  Read freely. */
struct page_samples {
	struct page_task *tasks;
	size_t task_count, task_capacity;
	struct page_row *rows;
	size_t row_count;
	uint64_t *weights; /* by row; NULL: 1 each */
	struct page_stack *stacks;
	size_t stack_count, stack_capacity;
	uint32_t *task_of_wait;           /* by group of the waits */
	uint64_t base_us, span_us;        /* of the clock; from the first to the last */
	uint64_t shift_us;                /* where base_us is on the axis of the page */
	uint64_t sum;                     /* of all weights */
	uint32_t first_task, first_stack; /* numbers in the tables, once they are numbered */
};

struct page_samples_ask {
	struct report *report;
	size_t number; /* of the report among those of the stacks */
	enum calltree_weight weight;
	const struct time_span *all; /* of all parts of the page; NULL: there is no other part */
	const struct page_waits *waits;
};

/* Makes *span as long as the samples of r need it; of none it begins at UINT64_MAX and ends at 0. */
void page_samples_extend(const struct report *r, struct time_span *span);
/* -ENOMEM, -EOVERFLOW. */
int page_samples_make(const struct page_samples_ask *ask, const struct page_stacks *stacks,
		      struct page_texts *texts, struct page_samples *out);
void page_samples_done(struct page_samples *s);
/* Numbers tasks and stacks of several captures, those of each behind those of the one before. */
void page_samples_number(struct page_samples *list, size_t count);
/*
 * The tables "tasks", "samples", "samples.stacks" and "samples.cpus" of all that were numbered; texts have their numbers
 * by then.
 */
void page_samples_write(const struct page_samples *list, size_t count,
			const struct page_texts *texts, struct page_columns *p);

#endif
