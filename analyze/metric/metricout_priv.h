/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* metricout_priv - what the forms of a table share: which groups, in which order, called what */
#ifndef EBPREC_ANALYZE_METRIC_METRICOUT_PRIV_H
#define EBPREC_ANALYZE_METRIC_METRICOUT_PRIV_H

#include "analyze/metric/metricout.h"

struct metricout_ranked {
	double value;
	uint32_t group;
};

/* The groups that are shown, in their order. */
struct metricout_ranking {
	struct metricout_ranked *order; /* owned; NULL: no memory */
	size_t count;
};

struct metricout_ranking metricout_rank(const struct metric_shown *s, const struct metricsum *sum);
uint64_t metricout_elapsed_ns(const struct metricsum *s);
/* Whether a value has no decimals: it was counted. */
bool metricout_is_whole(const struct metric_column *c);
/* The text of a dimension.  Of a row that is an event, pid and tid are the sample's. */
void metricout_put_dim(const struct metric_shown *s, const struct metricsum *sum, size_t group,
		       const char *name, FILE *to);
/* Whether a dimension is shown as the number that it is. */
bool metricout_is_number(const struct metric_table *t, const char *name);
/* The next histogram that is to be shown; NULL: none.  after: NULL: the first. */
const struct metric_field *metricout_histogram(const struct metric_shown *s,
					       const struct metric_table *t,
					       const struct metric_field *after);
/* Whether a group of inner is below that one of outer. */
bool metricout_is_within(const struct metricsum *outer, size_t of, const struct metricsum *inner,
			 size_t group);

/* One for each enum metric_form; first: as of metricout_put().  -ENOMEM. */
int metrictext_put(const struct metric_shown *s, FILE *to);
int metricjson_put(const struct metric_shown *s, bool first, FILE *to);
int metriccsv_put(const struct metric_shown *s, bool first, FILE *to);

#endif
