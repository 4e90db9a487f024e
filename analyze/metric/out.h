/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* out - a table of an instrument as text for people, as JSON, or as CSV */
#ifndef EBPREC_ANALYZE_METRIC_OUT_H
#define EBPREC_ANALYZE_METRIC_OUT_H

#include "analyze/metric/top_rows.h"
#include "format/text/json_writer.h"

enum metric_form { METRIC_TEXT_FORM, METRIC_JSON_FORM, METRIC_CSV_FORM };

/*
 * first: of its kind in this output (a header).  j: of METRIC_JSON_FORM, in an array; the other
 * forms write to its stream.  -ENOMEM.
 */
int metric_out_put(const struct metric_shown *s, enum metric_form form, bool first,
		   struct json_writer *j);

/* Two of the forms, as metric_out_put() has them; in json.c. */
int metric_json_put(const struct metric_shown *s, struct json_writer *j);
int metric_csv_put(const struct metric_shown *s, bool first, FILE *to);

#endif
