/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* prometheus - names and values of labels as Prometheus' text format has them */
#ifndef EBPREC_ANALYZE_PUSH_FORMS_PROMETHEUS_H
#define EBPREC_ANALYZE_PUSH_FORMS_PROMETHEUS_H

#include "format/base/outbuf.h"

/* A text as the name of a metric or label, [a-zA-Z_][a-zA-Z0-9_]*; owned, NULL: no memory. */
char *push_prometheus_name(const char *text);
/* A value, without its quotes. */
void push_prometheus_label(struct outbuf *out, const char *text);

#endif
