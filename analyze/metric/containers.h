/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* containers - which cgroups are of the same container: one of them stands for all */
#ifndef EBPREC_ANALYZE_METRIC_CONTAINERS_H
#define EBPREC_ANALYZE_METRIC_CONTAINERS_H

#include "analyze/process/container_names.h"
#include "format/base/hash_index.h"
#include "analyze/process/process_model.h"

#define CONTAINERS_HOST "[host]" /* what is in none */

/* Embedded by the owner, all zero is an empty one; containers_done(). */
struct containers {
	const struct container_names *known; /* borrowed; NULL: none */
	struct containers_entry {
		uint64_t cgroup, first; /* first: that was asked for of its container */
		uint32_t name;          /* of names */
	} * entries;
	size_t count, capacity;
	struct hash_index by_cgroup, by_name;
};

/*
 * The first cgroup that was asked for of the container which this one is in; a cgroup without a name is
 * alone.  model may be NULL: no cgroup has one.  -ENOMEM, -EOVERFLOW.
 */
int containers_first(struct containers *c, const struct process_model *model,
		     struct string_table *names, uint64_t cgroup, uint64_t *out);
void containers_done(struct containers *c);

#endif
