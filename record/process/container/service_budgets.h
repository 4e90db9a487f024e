/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * service_budgets - which service each cgroup is of, for --samples-per-hour
 *
 * A BPF map from the id of a cgroup to a number of its service, which is made of the unit's name or the container's id.
 * Where a cgroup has neither, or there is no room for it, the program takes the name of the thread.
 */
#ifndef EBPREC_RECORD_PROCESS_CONTAINER_SERVICE_BUDGETS_H
#define EBPREC_RECORD_PROCESS_CONTAINER_SERVICE_BUDGETS_H

#include <stdint.h>

struct service_budgets {
	int map_fd; /* -1: there is none */
};

/* Makes the map, and puts the cgroups into it that there are.  errno. */
int service_budgets_begin(struct service_budgets *b);
void service_budgets_done(struct service_budgets *b);
/* A cgroup was made. */
void service_budgets_cgroup(const struct service_budgets *b, uint64_t id, const char *path);

#endif
