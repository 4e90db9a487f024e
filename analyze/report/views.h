/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * views - the answers that `ebprec report` can give
 *
 * One table: a view is asked for by the option of its name and writes its answer to stdout.  The
 * first is the one when none is asked for.
 */
#ifndef EBPREC_ANALYZE_REPORT_VIEWS_H
#define EBPREC_ANALYZE_REPORT_VIEWS_H

#include <stdbool.h>
#include <stdio.h>

#include "analyze/report/annotate/annotate.h"
#include "analyze/report/key/categories.h"
#include "analyze/report/profile/flat_profile.h"
#include "analyze/report/report.h"
#include "analyze/report/key/sort_keys.h"

/* The view annotate asks while names are found.  query: what to look for; found: annotate_done(). */
struct report_annotate {
	struct annotate_query query;
	struct annotate found;
	struct report *report;
};

/* Before report_make(): has *query look for it, with r. */
void report_annotate_begin(struct report_annotate *a, struct report *r, struct report_query *query);

/* The arguments of views. */
struct report_ask {
	struct sort_keys keys; /* none: the view's own */
	enum calltree_weight weight;
	const char *weight_name;
	double min_percent;
	unsigned max_depth;
	bool no_children, by_total, hide_system, fold_recursion, annotations, threads;
	enum flat_form form;
	const char *head;                    /* what stands above a text; "" for nothing */
	const char *around;                  /* callers, callees: the function */
	const struct categories *categories; /* NULL: no key asks for them */
	struct report_annotate *annotate;    /* annotate: began before the report was made */
};

struct report_view {
	const char *name; /* of its option */
	/* -ENOMEM, -ENOENT (no such function), or the errno of the write. */
	int (*write)(struct report *r, const struct report_ask *ask, FILE *to);
	const char *keys; /* when none are asked for; NULL: it has no use for them */
	bool bare;        /* its lines are for programs: no heading above */
};

const struct report_view *report_views(size_t *count);
/* NULL: none of that name. */
const struct report_view *report_view(const char *name);

#endif
