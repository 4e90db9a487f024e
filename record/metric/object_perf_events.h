/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * object_perf_events - the perf events of an instrument, one on each CPU
 *
 * An event runs a program, or a map of the instrument holds it, by CPU, for programs that read it.  A CPU
 * that goes offline takes its events with it; when it is back they are opened anew by the reopener.
 *
 * A program may name the event that runs it: its section is perf_event, its name has the event and
 * the period: perf_minor_faults_97.
 */
#ifndef EBPREC_RECORD_METRIC_OBJECT_PERF_EVENTS_H
#define EBPREC_RECORD_METRIC_OBJECT_PERF_EVENTS_H

#include <bpf/libbpf.h>
#include <linux/perf_event.h>
#include <stdbool.h>

#include "record/base/cpuset_list.h"
#include "record/events/reopener.h"

#define OBJECT_PERF_EVENTS_COUNT_MAX 16

struct object_perf_events_event {
	const struct bpf_program *prog; /* NULL: a map holds it */
	uint64_t cookie;                /* of the program's run */
	int map_fd;
	int reopen_id; /* its number for reopener_take(); negative: none */
};

struct object_perf_events_link {
	struct bpf_link *link; /* has the event */
	uint32_t cpu;
	uint32_t event;
};

/* Embedded by the owner; all zero is an empty one. */
struct object_perf_events {
	struct object_perf_events_event events[OBJECT_PERF_EVENTS_COUNT_MAX];
	size_t event_count;
	struct object_perf_events_link *links;
	size_t link_count, link_capacity;
};

/* The CPUs on which they are opened, and the reopener for later; NULL: none. */
struct object_perf_events_where {
	const struct cpuset_list *cpus;
	struct reopener *reopener;
};

bool object_perf_events_is(const struct bpf_program *prog);
/* The event that the program names.  -EINVAL: its name means nothing; else as object_perf_events_run(). */
int object_perf_events_attach(struct object_perf_events *p, const struct bpf_program *prog,
			      const struct object_perf_events_where *where);
/* An event that runs the program on all CPUs.  errno of perf_event_open(); -EOVERFLOW, -ENOMEM. */
int object_perf_events_run(struct object_perf_events *p, const struct bpf_program *prog,
			   uint64_t cookie, const struct perf_event_attr *attr,
			   const struct object_perf_events_where *where);
/* An event that the map holds for all CPUs.  The same. */
int object_perf_events_hold(struct object_perf_events *p, int map_fd,
			    const struct perf_event_attr *attr,
			    const struct object_perf_events_where *where);
/*
 * The CPU is back, as reopener_await() found.  Opens all events that it can; errno of the first
 * that it cannot.
 */
int object_perf_events_cpu_back(struct object_perf_events *p, struct reopener *reopener,
				uint32_t cpu);
/* Ends the runs; what maps hold ends with them. */
void object_perf_events_done(struct object_perf_events *p);

#endif
