/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* mark_views - the marks of a capture: as a table, summed up, as a waterfall, as JSON */
#ifndef EBPREC_ANALYZE_REPORT_MARK_VIEWS_H
#define EBPREC_ANALYZE_REPORT_MARK_VIEWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/base/percentiles.h"
#include "analyze/base/string_table.h"
#include "analyze/input/filter.h"
#include "analyze/input/marks.h"
#include "analyze/process/tasks.h"
#include "format/reader/capture.h"

/* All marks of one kind. */
struct mark_views_kind {
	uint32_t group, name;
	bool is_span;
	uint64_t count, unended;
	struct percentiles took; /* spans that ended */
};

/* Embedded by the owner; read freely. */
struct mark_views {
	struct string_table *names; /* borrowed */
	struct marks marks;
	struct tasks tasks;
	bool *wanted;          /* by mark */
	uint32_t *comm;        /* by mark: in the names; TASKS_NONE */
	struct time_span hull; /* of all that is shown; from after to: nothing is */
	struct mark_views_kind *kinds;
	size_t kind_count, kind_capacity;
};

enum mark_views_form {
	MARK_VIEWS_TABLE,
	MARK_VIEWS_SUMMARY,
	MARK_VIEWS_WATERFALL,
	MARK_VIEWS_JSON,
};

/* The marks that pass the filter.  -ENOMEM, -EOVERFLOW.  *out: mark_views_done(). */
int mark_views_make(const struct capture *c, struct string_table *names,
		    const struct filter *filter, struct mark_views *out);
void mark_views_done(struct mark_views *s);
/* -ENOMEM. */
int mark_views_write(const struct mark_views *s, enum mark_views_form form, FILE *to);

#endif
