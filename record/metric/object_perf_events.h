/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * metricperf - the perf events of an instrument, one on each CPU
 *
 * An event runs a program, or a map of the instrument holds it, by CPU, for programs that read it.  A CPU
 * that goes offline takes its events with it; when it is back they are opened anew by the reopener.
 *
 * Programs may say themselves which event is to run them: their section is perf_event, their name says
 * which, and every how manieth of it: perf_minor_faults_97.
 */
#ifndef EBPREC_RECORD_METRIC_OBJECT_PERF_EVENTS_H
#define EBPREC_RECORD_METRIC_OBJECT_PERF_EVENTS_H

#include <bpf/libbpf.h>
#include <linux/perf_event.h>
#include <stdbool.h>

#include "record/base/cpuset_list.h"
#include "record/events/reopener.h"

#define METRICPERF_EVENTS_MAX 16

struct metricperf_event {
	const struct bpf_program *prog; /* NULL: a map holds it */
	uint64_t cookie;                /* of the program's run */
	int map_fd;
	int kept; /* by the reopener; negative: it does not know it */
};

struct metricperf_link {
	struct bpf_link *link; /* has the event */
	uint32_t cpu;
	uint32_t event;
};

/* Embedded by the owner; all zero is an empty one. */
struct metricperf {
	struct metricperf_event events[METRICPERF_EVENTS_MAX];
	size_t event_count;
	struct metricperf_link *links;
	size_t link_count, link_capacity;
};

/* Where they are opened, and who opens them later; NULL: nobody. */
struct metricperf_where {
	const struct cpulist *cpus;
	struct reopener *reopener;
};

bool metricperf_is(const struct bpf_program *prog);
/* The event that the program names.  -EINVAL: its name means nothing; else as metricperf_run(). */
int metricperf_attach(struct metricperf *p, const struct bpf_program *prog,
		      const struct metricperf_where *where);
/* An event that runs the program on all CPUs.  errno of perf_event_open(); -EOVERFLOW, -ENOMEM. */
int metricperf_run(struct metricperf *p, const struct bpf_program *prog, uint64_t cookie,
		   const struct perf_event_attr *attr, const struct metricperf_where *where);
/* An event that the map holds for all CPUs.  The same. */
int metricperf_hold(struct metricperf *p, int map_fd, const struct perf_event_attr *attr,
		    const struct metricperf_where *where);
/* The CPU is back, and reopener_await() said so.  All that can be is opened; errno of the first that cannot. */
int metricperf_cpu_back(struct metricperf *p, struct reopener *reopener, uint32_t cpu);
/* Ends the runs; what maps hold ends with them. */
void metricperf_done(struct metricperf *p);

#endif
