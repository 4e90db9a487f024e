/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * metricperf - programs of instruments that perf events run
 *
 * Their section is perf_event, their name says which event, and every how manieth of it:
 * perf_minor_faults_97.  An event of its own is opened for each CPU.
 */
#ifndef EBPREC_RECORD_METRICPERF_H
#define EBPREC_RECORD_METRICPERF_H

#include <bpf/libbpf.h>
#include <stdbool.h>

#include "record/cpulist.h"

/* Embedded by the owner; all zero is an empty one. */
struct metricperf {
	struct bpf_link **links;
	size_t count, capacity;
};

bool metricperf_is(const struct bpf_program *prog);
/* On all CPUs.  -EINVAL: the name means nothing; errno of perf_event_open(). */
int metricperf_attach(struct metricperf *p, const struct bpf_program *prog,
		      const struct cpulist *cpus);
void metricperf_done(struct metricperf *p);

#endif
