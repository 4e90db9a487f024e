/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* metricforms - the forms that a table is written in, one for each enum metric_form */
#ifndef EBPREC_ANALYZE_METRIC_FORMS_H
#define EBPREC_ANALYZE_METRIC_FORMS_H

#include "analyze/metric/top_rows.h"

/* first: as of metricout_put().  -ENOMEM. */
int metrictext_put(const struct metric_shown *s, FILE *to);
int metricjson_put(const struct metric_shown *s, bool first, FILE *to);
int metriccsv_put(const struct metric_shown *s, bool first, FILE *to);

#endif
