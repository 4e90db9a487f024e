/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * dimensions - what rows of a table can be grouped by, and how that is called
 *
 * One table of dimensions; any field of a table is one, too, shown as it is.
 */
#ifndef EBPREC_ANALYZE_METRIC_DIMENSIONS_H
#define EBPREC_ANALYZE_METRIC_DIMENSIONS_H

#include <stdio.h>

#include "analyze/metric/syscall/names.h"
#include "analyze/metric/rows.h"
#include "analyze/process/process_model.h"

struct metric_dim {
	const char *name, *title;
	const char *fields[4]; /* that make it; all must be there */
	/* Writes the text of fields that are numbers; NULL: the last field as it is. */
	void (*text)(const uint64_t *values, char out[METRIC_NAMES_BYTES]);
	const char *with; /* a field that it decides and that stands behind it; NULL: none */
};

/* A dimension by its name, or one of the table's fields in *own; NULL: the table has neither. */
const struct metric_dim *metric_dimension_find(const struct metric_table *t, const char *name,
					       struct metric_dim *own);
/* The slots of a dimension; returns how many, 0: the table lacks one, or it is of the wrong kind. */
size_t metric_dimension_slots(const struct metric_table *t, const struct metric_dim *d,
			      uint32_t slots[4]);

/* The field behind it, if the table has that; else NULL. */
const char *metric_dimension_with(const struct metric_table *t, const struct metric_dim *d);
/* Its title where people see it, too: the name of a process or of what is at an address; else NULL. */
const char *metric_dimension_shown_with(const struct metric_table *t, const struct metric_dim *d);

/* Whether it is the container of a row's cgroup; a field may have that name as well. */
bool metric_dimension_is_container(const struct metric_dim *d);

/* The sources of texts besides the row. */
struct metric_texts {
	const struct string_table *names;
	const struct process_model *model; /* NULL: cgroups are shown by number */
	const struct container_names *containers;
};

void metric_dimension_put(const struct metric_table *t, const struct metric_dim *d,
			  const uint64_t *slots, const struct metric_texts *texts, FILE *to);
/* The names of those that a table has, into at most max; returns how many. */
size_t metric_dimension_names(const struct metric_table *t, const char **out, size_t max);

#endif
