/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * cgroup_age - when may the name of a control group be forgotten?
 *
 * The kernel tells of new ones, not of those that are removed, and a machine of containers makes new
 * ones for as long as it runs.  So they are looked for now and then: who was found gone before the first
 * sample that may still be written is in none of these.
 */
#ifndef EBPREC_RECORD_PROCESS_CGROUP_AGE_H
#define EBPREC_RECORD_PROCESS_CGROUP_AGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/base/u64map.h"

#define CGROUP_AGE_MANY 1024 /* so many are kept without a look */

/* A zeroed struct knows nothing yet. */
struct cgroup_age {
	char *mount;        /* owned; "": they cannot be looked for */
	struct u64map gone; /* since which second, by id */
	uint64_t looked_ns;
	uint64_t from_ns, now_ns; /* of this look */
};

void cgroup_age_done(struct cgroup_age *a);
/*
 * Begins a look: what is written from now on is newer than from_ns, 0: nobody knows.  false: none is
 * due, there are too few of them.
 */
bool cgroup_age_begin(struct cgroup_age *a, size_t count, uint64_t from_ns, uint64_t now_ns);
/* Of each: whether it may be forgotten.  arg is the cgroupage. */
bool cgroup_age_may_go(void *arg, uint64_t id, const char *path);

#endif
