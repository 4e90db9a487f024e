/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* sample_time - the time that a sample of an event stands for */
#ifndef EBPREC_ANALYZE_INPUT_EVENT_SAMPLE_TIME_H
#define EBPREC_ANALYZE_INPUT_EVENT_SAMPLE_TIME_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

/* Between two samples of a CPU, by the event's frequency; 0: it has none. */
uint64_t sample_time_interval_ns(const struct perf_event_attr *a);
/*
 * Whether samples of the event have the time that they stand for.  *sample_ns: each so long, by the frequency; 0: as long as
 * its period.
 */
bool sample_time_is_known(const struct perf_event_attr *a, uint64_t *sample_ns);
/* Whether samples of the event come of CPU time, so that their number is a length of it. */
bool sample_time_is_of_cpu(const struct perf_event_attr *a);

#endif
