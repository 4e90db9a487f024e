/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* cgroup_paths - CGROUP records (id -> path) for the control groups there are at the start */
#ifndef EBPREC_RECORD_PROCESS_CONTAINER_CGROUP_PATHS_H
#define EBPREC_RECORD_PROCESS_CONTAINER_CGROUP_PATHS_H

#include <stdbool.h>

#include "record/process/container/container_watch.h"
#include "record/output/sink.h"

/*
 * Reports each to `watch`, too.  Does nothing where no cgroup2 file system is mounted.  errno of
 * the writer.
 */
int cgroup_paths_emit(struct sink *e, struct container_watch *watch);

/* Pure.  The mount point of the first cgroup2 file system in the text of /proc/self/mountinfo. */
bool cgroup_paths_mount(const char *mountinfo, char *out, size_t out_bytes);

#endif
