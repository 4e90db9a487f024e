/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/input/event/sample_time.h"

#define NS_PER_SECOND 1000000000ULL

uint64_t sample_time_interval_ns(const struct perf_event_attr *a)
{
	return a->freq && a->sample_freq ? NS_PER_SECOND / a->sample_freq : 0;
}

bool sample_time_is_known(const struct perf_event_attr *a, uint64_t *sample_ns)
{
	*sample_ns = 0;
	if (a->type == PERF_TYPE_SOFTWARE &&
	    (a->config == PERF_COUNT_SW_CPU_CLOCK || a->config == PERF_COUNT_SW_TASK_CLOCK))
		return true;
	if (a->type != PERF_TYPE_TRACEPOINT) /* whose events are as often as they are */
		*sample_ns = sample_time_interval_ns(a);
	return *sample_ns;
}

bool sample_time_is_of_cpu(const struct perf_event_attr *a)
{
	return a->type == PERF_TYPE_SOFTWARE ||
	       (a->type == PERF_TYPE_HARDWARE && (a->config == PERF_COUNT_HW_CPU_CYCLES ||
						  a->config == PERF_COUNT_HW_REF_CPU_CYCLES));
}
