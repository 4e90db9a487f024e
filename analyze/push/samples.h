/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* samples - the rows, stacks and frames of a report that distinguishes comms, cgroups and intervals */
#ifndef EBPREC_ANALYZE_PUSH_SAMPLES_H
#define EBPREC_ANALYZE_PUSH_SAMPLES_H

#include "analyze/push/forms/interval.h"
#include "analyze/report/report.h"

/* The fields that the report has to distinguish. */
#define PUSH_GROUPS (GROUP_SERVICE | GROUP_TIME)

/*
 * r: made with PUSH_GROUPS and with_sources.  *out: push_samples_done(), before r.  -ENOMEM, -EOVERFLOW.
 */
int push_samples_make(struct report *r, struct push_samples *out);
void push_samples_done(struct push_samples *s);
/* Rows of one interval from the i-th on; how many. */
size_t push_samples_interval(const struct push_samples *s, size_t i);

#endif
