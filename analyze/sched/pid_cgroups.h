/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * pid_cgroups - in which cgroup a process was, by the samples of CPUs
 *
 * Records of the scheduler have no cgroup.  A process has that of its last sample: of one that moved, all is
 * counted there.  One without any sample is in none that is known.
 */
#ifndef EBPREC_ANALYZE_SCHED_PID_CGROUPS_H
#define EBPREC_ANALYZE_SCHED_PID_CGROUPS_H

#include "format/base/hash_index.h"
#include "format/reader/capture.h"

struct pid_cgroup {
	uint64_t cgroup;
	uint32_t pid;
};

/* Embedded by the owner; all zero knows none. */
struct pid_cgroups {
	struct pid_cgroup *list;
	size_t count, capacity;
	struct hash_index index;
};

/* -ENOMEM. */
int pid_cgroups_read(const struct capture *c, struct pid_cgroups *out);
/* 0: not known. */
uint64_t pid_cgroups_of(const struct pid_cgroups *p, uint32_t pid);
void pid_cgroups_done(struct pid_cgroups *p);

#endif
