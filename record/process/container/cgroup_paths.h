/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* cgroup_paths - the control groups that there are, and CGROUP records (id -> path) for them */
#ifndef EBPREC_RECORD_PROCESS_CONTAINER_CGROUP_PATHS_H
#define EBPREC_RECORD_PROCESS_CONTAINER_CGROUP_PATHS_H

#include <limits.h>
#include <stdbool.h>

#include "record/process/container/container_watch.h"
#include "record/output/sink.h"

/*
 * Calls on() for each, parents first, until it returns an error, which is returned: its id, its path below the mount point
 * ("" for the root), its folder (borrowed).  0 where no cgroup2 file system is mounted.
 */
int cgroup_paths_each(int (*on)(void *arg, uint64_t id, const char *path, int fd), void *arg);

/*
 * Reports each to `watch`, too.  Does nothing where no cgroup2 file system is mounted.  errno of
 * the writer.
 */
int cgroup_paths_emit(struct sink *e, struct container_watch *watch);

/* The mount point of the first cgroup2 file system. */
bool cgroup_paths_find(char out[PATH_MAX]);
/* Pure.  The mount point of the first cgroup2 file system in the text of /proc/self/mountinfo. */
bool cgroup_paths_mount(const char *mountinfo, char *out, size_t out_bytes);

#endif
