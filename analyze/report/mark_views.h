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
#include "analyze/input/event/filter.h"
#include "analyze/input/marks.h"
#include "analyze/process/tasks.h"
#include "format/reader/capture.h"

enum mark_views_sort {
	MARK_VIEWS_BY_TIME,
	MARK_VIEWS_BY_DURATION, /* the longest first; a table has spans only; a summary: the most in all */
	MARK_VIEWS_BY_COUNT, /* of a summary: the most first */
	MARK_VIEWS_BY_NAME,
};

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
	enum mark_views_sort sort;
	struct marks marks;
	uint64_t lost; /* marks that the capture counts as missing */
	struct tasks tasks;
	uint64_t first_ns;     /* times are since then; 0: not known */
	bool *wanted;          /* by mark */
	uint32_t *comm;        /* by mark: in the names; TASKS_NONE */
	struct time_span hull; /* of all that is shown; from after to: nothing is */
	uint32_t *order;       /* of the spans */
	uint32_t *lines;       /* of the table: marks */
	uint32_t *kind_order;  /* of the kinds */
	size_t line_count;
	struct mark_views_kind *kinds;
	size_t kind_count, kind_capacity;
};

enum mark_views_form {
	MARK_VIEWS_TABLE,
	MARK_VIEWS_SUMMARY,
	MARK_VIEWS_WATERFALL,
	MARK_VIEWS_JSON,
};

/* The names of the sorts, in this order. */
extern const char *const mark_views_sorts[];
extern const size_t mark_views_sort_count;

/*
 * The marks that pass the filter.  span: from the first sample of the capture to the last; NULL: not known.
 * -ENOMEM, -EOVERFLOW.  *out: mark_views_done().
 */
int mark_views_make(const struct capture *c, struct string_table *names,
		    const struct time_span *span, const struct filter *filter,
		    enum mark_views_sort sort, struct mark_views *out);
void mark_views_done(struct mark_views *s);
/* -ENOMEM. */
int mark_views_write(const struct mark_views *s, enum mark_views_form form, FILE *to);

#endif
