/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * points - the tables of a capture's instruments as series in time
 *
 * A point is a row of `ebprec metrics --interval`: what its table is grouped by are tags, what counts are values, each exact.
 * Averages, rates and shares are left out, as a database makes them of these.  So are lists of events.
 */
#ifndef EBPREC_ANALYZE_PUSH_POINTS_H
#define EBPREC_ANALYZE_PUSH_POINTS_H

#include "analyze/base/string_table.h"
#include "analyze/push/forms/interval.h"
#include "format/reader/capture.h"

struct process_model;

/*
 * model: knows the paths of cgroups; NULL: they are shown by number.  to_wall_ns: makes Unix time of the sample clock.
 * labels: of the host, tags of each point whose table has none of that name; NULL: none.
 * *out: push_points_done().  -ENOMEM, -EOVERFLOW.
 */
int push_points_make(const struct capture *c, struct string_table *names,
		     const struct process_model *model, uint64_t to_wall_ns,
		     const struct push_labels *labels, struct push_points *out);
void push_points_done(struct push_points *p);

#endif
