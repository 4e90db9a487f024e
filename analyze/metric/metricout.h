/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* metricout - a table of an instrument as text for people, as JSON, or as CSV */
#ifndef EBPREC_ANALYZE_METRIC_METRICOUT_H
#define EBPREC_ANALYZE_METRIC_METRICOUT_H

#include <stdio.h>

#include "analyze/metric/metricsum.h"
#include "analyze/metric/metricview.h"

enum metric_form { METRIC_TEXT_FORM, METRIC_JSON_FORM, METRIC_CSV_FORM };

/* What is shown of one table. */
struct metric_shown {
	const struct metric_view *view;
	const struct metric_dim *by[METRIC_BY_MAX]; /* outer, inner */
	size_t by_count;
	const char *sort;       /* key of a column; NULL: as they come */
	struct metricsum inner; /* by all dimensions */
	struct metricsum outer; /* by the first; not used with one or none */
	struct metric_texts texts;
	unsigned top, top_inner; /* 0: all */
	bool histogram;
	uint64_t start_ns; /* of the recording: what times of rows count from */
};

/* first: of its kind in this output (no comma, a header).  -ENOMEM. */
int metricout_put(const struct metric_shown *s, enum metric_form form, bool first, FILE *to);

#endif
