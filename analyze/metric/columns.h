/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* columns - what a group of rows has in a column of its view */
#ifndef EBPREC_ANALYZE_METRIC_COLUMNS_H
#define EBPREC_ANALYZE_METRIC_COLUMNS_H

#include "analyze/metric/layouts.h"

/* Whether the group belongs into the view at all. */
bool metric_column_wanted(const struct metric_table *t, const struct metric_view *v,
			  const uint64_t *slots);
/* Whether the table has what the column needs. */
bool metric_column_has(const struct metric_table *t, const struct metric_column *c);
/* The exact value of a column that counts, METRIC_SUM or METRIC_OVER; false: it is none. */
bool metriccolumn_exact(const struct metric_table *t, const struct metric_column *c,
			const uint64_t *slots, __int128 *out);
/* False: what it counts was not seen, and 0 would be no answer. */
bool metric_column_is_known(const struct metric_table *t, const struct metric_column *c,
			    const uint64_t *slots);
/* Not for METRIC_DIM.  slots: of one row or the sums of many, over elapsed_ns. */
double metric_column_value(const struct metric_table *t, const struct metric_column *c,
			   const uint64_t *slots, uint64_t elapsed_ns);

#endif
