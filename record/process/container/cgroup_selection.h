/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * cgroup_selection - which cgroups --cgroup, --unit and --container name
 *
 * A cgroup is selected when it, or one above it, is a path, a unit or a container that was named.  * and ? match as in
 * a shell.  A unit without a suffix is a service.  A container is known by its id, of which 12 digits are enough, from its
 * first moment on; by its name when that was read from its engine's files (container_watch.h).
 */
#ifndef EBPREC_RECORD_PROCESS_CONTAINER_CGROUP_SELECTION_H
#define EBPREC_RECORD_PROCESS_CONTAINER_CGROUP_SELECTION_H

#include <stdbool.h>
#include <stddef.h>

#include "record/base/config.h"

struct cgroup_selection_id; /* in cgroup_selection.c */

/* All zero but opts. */
struct cgroup_selection {
	const struct record_opts *opts;  /* borrowed */
	struct cgroup_selection_id *ids; /* of containers whose names were asked for */
	size_t count, room;
};

void cgroup_selection_done(struct cgroup_selection *s);
/* Whether any cgroup was named. */
bool cgroup_selection_is_wanted(const struct cgroup_selection *s);
/* path: below the mount point; "" and "/": the root. */
bool cgroup_selection_takes(const struct cgroup_selection *s, const char *path);
/*
 * The container with this id (of CONTAINER_RECORD_DIGITS) is called so; the name has a length.  1: its cgroups are taken
 * from now on; 0: it was not asked for, or is known; -ENOMEM.
 */
int cgroup_selection_name(struct cgroup_selection *s, const char *id, const char *name,
			  size_t name_bytes);

#endif
