/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * thread_runtime - how long each thread ran, as sched:sched_stat_runtime has it
 *
 * `perf sched latency` adds a thread's run time up from the kernel's sched_stat_runtime events, of
 * which there are more than switches.  The kernel has their sum in the thread, and a switch event
 * contains it; so no further tracepoint is attached, and a thread's run time is emitted once a
 * second and not once a switch.  A lost switch costs nothing: the next one has the sum.
 */
#ifndef EBPREC_RECORD_INSTRUMENT_THREAD_RUNTIME_H
#define EBPREC_RECORD_INSTRUMENT_THREAD_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/events.h"

struct thread_runtimes;

struct runtime {
	uint32_t pid, tid;
	uint32_t cpu;     /* where it ran last, */
	uint64_t from_ns; /* and since when: it was alive then */
	uint64_t sum_ns;  /* since the last report */
	char comm[16];    /* no NUL when it has 16 letters */
};

/*
 * For CPUs below cpu_end.  Switches are seen from from_ns on: what threads ran before is not counted.
 * -ENOMEM.
 */
int thread_runtimes_new(uint32_t cpu_end, uint64_t from_ns, struct thread_runtimes **out);
void thread_runtimes_free(struct thread_runtimes *r);
/* Switches of one CPU come in order, those of several as they like.  -EBADMSG: no such CPU; -ENOMEM. */
int thread_runtimes_switch(struct thread_runtimes *r, const struct switch_event *ev);
/* At the end: counts the threads that are on a CPU up to now_ns.  -ENOMEM. */
int thread_runtimes_until(struct thread_runtimes *r, uint64_t now_ns);
/* The run times since the last call; *out is borrowed until the next call.  -ENOMEM. */
int thread_runtimes_take(struct thread_runtimes *r, const struct runtime **out, size_t *count);

#endif
