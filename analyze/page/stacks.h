/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * stacks - the functions of a page and the tree of its stacks
 *
 * Functions that no stack has are left out: a page of one process names nothing of others.  Frames are in the
 * order in which a table of functions shows rows of equal cost, nodes in that of a walk from the root which takes
 * callees by the order of their frames: the same stacks give the same numbers, however they were counted.
 *
 * Where a report distinguishes the lines of functions (report --lines) each of its stacks is in the tree twice: with frames that are functions,
 * as graphs show them, and with frames that are lines, for the table of functions.
 */
#ifndef EBPREC_ANALYZE_PAGE_STACKS_H
#define EBPREC_ANALYZE_PAGE_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/page/table/columns.h"
#include "analyze/page/table/texts.h"
#include "analyze/report/report.h"

/* Stacks of samples, and of waits, of up to two captures. */
#define PAGE_REPORTS 4

/* Texts are numbers of page_texts_add(). */
struct page_frame {
	uint32_t function; /* of the reports: those of the second behind those of the first */
	uint32_t row_name, row_base; /* what a table of functions shows, while they are made */
	uint32_t name, label, line, reason, object;
	uint32_t row; /* of a table of functions, or of their lines */
	uint8_t flags, kind;
	bool is_function; /* the function, whatever line of it ran */
};

struct page_object {
	uint32_t path, base, build_id, kind;
};

struct page_node {
	uint32_t parent, frame;
};

/* Embedded by the owner; page_stacks_done().  Read freely. */
struct page_stacks {
	struct page_frame *frames;
	size_t frame_count;
	struct page_object *objects;
	size_t object_count, object_capacity;
	struct page_node *nodes; /* node 0 is the root, and has no frame */
	size_t node_count;
	uint32_t *node_of[PAGE_REPORTS]; /* by entry of each report's stacks */
	/* The same of stacks whose frames are lines of functions; NULL: the report does not distinguish lines. */
	uint32_t *lines_of[PAGE_REPORTS];
};

/* The reports whose stacks there are. */
struct page_report {
	struct report *report;
	struct page_renames renames;
};

struct page_reports {
	struct page_report list[PAGE_REPORTS];
	size_t count;
};

/* -ENOMEM, -EOVERFLOW. */
int page_stacks_make(const struct page_reports *reports, struct page_texts *texts,
		     struct page_stacks *out);
void page_stacks_done(struct page_stacks *s);
/* The tables "objects", "frames" and "nodes"; texts have their numbers by then. */
void page_stacks_write(const struct page_stacks *s, const struct page_texts *texts,
		       struct page_columns *p);

#endif
