/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* top_rows - what is shown of a table: which groups, in which order, called what */
#ifndef EBPREC_ANALYZE_METRIC_TOP_ROWS_H
#define EBPREC_ANALYZE_METRIC_TOP_ROWS_H

#include <stdbool.h>
#include <stdio.h>

#include "analyze/metric/aggregate.h"
#include "analyze/metric/layouts.h"

/* The shown rows of one table. */
struct metric_shown {
	const struct metric_view *view;
	const struct metric_dim *by[METRIC_BY_MAX]; /* outer, inner */
	size_t by_count;
	const char *sort;              /* key of a column; NULL: as they come */
	struct metric_aggregate inner; /* by all dimensions */
	struct metric_aggregate outer; /* by the first; not used with one or none */
	struct metric_texts texts;
	unsigned top, top_inner; /* 0: all */
	bool histogram;
	bool with_legend;  /* text: the view's, above the rows */
	uint64_t start_ns; /* of the recording: what times of rows count from */
};

struct metric_rank_entry {
	double value;
	uint32_t group;
	bool is_last; /* the view has it behind all others */
};

/* The groups that are shown, in their order. */
struct metric_rank {
	struct metric_rank_entry *order; /* owned; NULL: no memory */
	size_t count;
	size_t *first; /* owned; by outer group, the first of its entries, and one more; or NULL */
};

struct metric_rank metric_rank_of(const struct metric_shown *s, const struct metric_aggregate *sum);
/* The inner groups, those of each outer group side by side.  order is NULL: no memory. */
struct metric_rank metricrank_of_inner(const struct metric_shown *s);
void metricrank_done(struct metric_rank *r);
uint64_t metric_rank_elapsed_ns(const struct metric_aggregate *s);
/* Whether a value has no decimals: it was counted. */
bool metric_rank_is_integer(const struct metric_column *c);
/* The text of a dimension.  For a row that is an event, pid and tid are the sample's. */
void metric_rank_put_dim(const struct metric_shown *s, const struct metric_aggregate *sum,
			 size_t group, const char *name, FILE *to);
/* Whether a dimension is shown as the number that it is. */
bool metric_rank_is_number(const struct metric_table *t, const char *name);
/* The next histogram that is to be shown; NULL: none.  after: NULL: the first. */
const struct metric_field *metric_rank_histogram(const struct metric_shown *s,
						 const struct metric_table *t,
						 const struct metric_field *after);

#endif
