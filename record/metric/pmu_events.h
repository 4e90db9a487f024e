/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* pmu_events - the events that the instrument pmu counts, and those that it takes stacks of */
#ifndef EBPREC_RECORD_METRIC_PMU_EVENTS_H
#define EBPREC_RECORD_METRIC_PMU_EVENTS_H

#include "record/metric/bpf_object.h"

/* The default events that this machine lacks; NULL: none. */
const char *pmu_events_lacks(void);
/*
 * The names of the events that the options ask for, before the load: columns and kinds of events get
 * them, and the maps their size.  Nothing for other objects.  note_fail() has the failure.
 */
int pmu_events_name(struct metric_object *o, const struct instrument_ctx *c,
		    struct metric_tables *tabs);
/* After the load: opens the events that count, on all CPUs.  errno; note_fail() has the reason. */
int pmu_events_count(struct metric_object *o, const struct instrument_ctx *c);
/* Those that stacks are taken of, too; a program of metricperf's kind. */
int pmu_events_attach(struct metric_object *o, const struct instrument_ctx *c);

#endif
