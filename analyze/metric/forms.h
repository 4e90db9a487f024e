/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* forms - the forms that a table is written in, one for each enum metric_form */
#ifndef EBPREC_ANALYZE_METRIC_FORMS_H
#define EBPREC_ANALYZE_METRIC_FORMS_H

#include "analyze/metric/top_rows.h"

struct json_writer;

/* first: as of metric_out_put(); j: in an array.  -ENOMEM. */
int metric_text_put(const struct metric_shown *s, FILE *to);
int metric_json_put(const struct metric_shown *s, struct json_writer *j);
int metric_csv_put(const struct metric_shown *s, bool first, FILE *to);

#endif
