/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * perf_event - one perf event, opened on every CPU
 *
 * For all that runs there, or for the threads of some processes and whatever they start: the
 * kernel has no events for a process, only for a thread (and, with attr.inherit, its offspring),
 * and those it lets us map only when they belong to one CPU.  So there are threads x CPUs of them.
 */
#ifndef EBPREC_RECORD_EVENTS_PERF_EVENT_H
#define EBPREC_RECORD_EVENTS_PERF_EVENT_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

#include "record/base/cpuset_list.h"

struct perf_event_set_event {
	int fd;
	uint32_t tid;    /* 0: everybody */
	size_t cpu;      /* index in the list */
	uint32_t cpu_id; /* its number */
};

struct perf_event_set {
	struct perf_event_set_event *event; /* owned, with the fds */
	size_t count, room;
};

/* The threads of the events. */
struct perf_event_set_scope {
	const uint32_t *pids; /* borrowed; count 0: of all threads */
	size_t pid_count;
};

/* One event; a descriptor, or negative errno. */
int perf_event_set_open_one(const struct perf_event_attr *attr, uint32_t pid, uint32_t cpu);

/*
 * Opens them; attr->inherit follows from the scope.  A thread that ends meanwhile is left out;
 * -ESRCH when none is left.  On failure the set is empty.
 */
int perf_event_set_open(struct perf_event_set *s, struct perf_event_attr *attr,
			const struct cpuset_list *cpus, const struct perf_event_set_scope *scope);
void perf_event_set_close(struct perf_event_set *s); /* a zeroed struct is fine */
/*
 * For a set of all threads: fd, which is taken, is the event of this CPU from now on, writes into
 * output_fd, and begins.  *id: the kernel's.  Negative errno.
 */
int perf_event_set_replace(struct perf_event_set *s, int fd, uint32_t cpu, int output_fd,
			   uint64_t *id);
/* PERF_EVENT_IOC_ENABLE, PERF_EVENT_IOC_DISABLE. */
int perf_event_set_control(const struct perf_event_set *s, unsigned long request);

/*
 * The hint of note_fail() for an error of perf_event_open(); NULL: none. paranoid:
 * kernel.perf_event_paranoid.  all: it was for all that runs.
 */
const char *perf_event_set_hint(int err, int paranoid, int all);
/* That setting; INT32_MIN: it cannot be read. */
int perf_event_set_paranoid(void);

#endif
