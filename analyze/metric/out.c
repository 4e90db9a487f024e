/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/metric/out.h"

#include "analyze/metric/forms.h"

int metric_out_put(const struct metric_shown *s, enum metric_form form, bool first,
		   struct json_writer *j)
{
	if (form == METRIC_JSON_FORM)
		return metric_json_put(s, j);
	if (form == METRIC_CSV_FORM)
		return metric_csv_put(s, first, j->to);
	if (!first)
		putc('\n', j->to);
	return metric_text_put(s, j->to);
}
