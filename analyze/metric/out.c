/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/metric/out.h"

#include "analyze/metric/forms.h"

int metric_out_put(const struct metric_shown *s, enum metric_form form, bool first, FILE *to)
{
	if (form == METRIC_JSON_FORM)
		return metric_json_put(s, first, to);
	if (form == METRIC_CSV_FORM)
		return metric_csv_put(s, first, to);
	if (!first)
		putc('\n', to);
	return metric_text_put(s, to);
}
