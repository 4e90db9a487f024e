/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* forms - the forms in which servers take what is pushed (target.h) */
#ifndef EBPREC_ANALYZE_PUSH_FORMS_FORMS_H
#define EBPREC_ANALYZE_PUSH_FORMS_FORMS_H

#include "analyze/push/forms/interval.h"
#include "analyze/push/forms/target.h"

extern const struct push_form push_clickhouse, push_otlp, push_pyroscope, push_influx,
	push_prometheus, push_pushgateway, push_json;

#endif
