/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * cgroup_age - when may the name of a control group be forgotten?
 *
 * The kernel reports new cgroups, not removed ones, and a machine of containers makes new ones for
 * as long as it runs.  So their folders are checked now and then: no sample that may still be
 * written is in a cgroup that was found gone before the first of these samples.
 */
#ifndef EBPREC_RECORD_PROCESS_CONTAINER_CGROUP_AGE_H
#define EBPREC_RECORD_PROCESS_CONTAINER_CGROUP_AGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/base/u64map.h"

#define CGROUP_AGE_MANY 1024 /* so many stay unchecked */

/* A zeroed struct knows nothing yet. */
struct cgroup_age {
	char *mount;        /* owned; "": they cannot be looked for */
	struct u64map gone; /* since which second, by id */
	uint64_t looked_ns;
	uint64_t from_ns, now_ns; /* of this look */
};

void cgroup_age_done(struct cgroup_age *a);
/*
 * Begins a check: records that are written from now on are newer than from_ns; 0: not known.
 * false: none is due, there are too few of them.
 */
bool cgroup_age_begin(struct cgroup_age *a, size_t count, uint64_t from_ns, uint64_t now_ns);
/* Whether this cgroup may be forgotten.  arg is the struct cgroup_age. */
bool cgroup_age_may_go(void *arg, uint64_t id, const char *path);

#endif
