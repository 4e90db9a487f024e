/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * layouts - how a table is shown: grouped by what, in which columns, sorted how
 *
 * One table of views; a table of a capture that has none (a user's own) is shown by its fields.
 */
#ifndef EBPREC_ANALYZE_METRIC_LAYOUTS_H
#define EBPREC_ANALYZE_METRIC_LAYOUTS_H

#include "analyze/metric/dimensions.h"

enum metric_op {
	METRIC_END = 0,
	METRIC_SUM,   /* a; b: how many of these are known, and where it is 0, a is not */
	METRIC_AVG,   /* a / b */
	METRIC_PCT,   /* 100 a / b */
	METRIC_SHARE, /* 100 a / (a + b) */
	METRIC_RATE,  /* a per second */
	METRIC_BUSY,  /* 100 a / time, a in ns */
	METRIC_OVER,  /* a - b, or 0 */
	METRIC_PART,  /* 100 (a - b, or 0) / a */
	METRIC_DIM,   /* the text of the dimension called a */
};

enum metric_unit {
	METRIC_PLAIN,
	METRIC_US,
	METRIC_MS,
	METRIC_SEC,
	METRIC_KIB,
	METRIC_TENTH,
	METRIC_RATIO,
	METRIC_MEGA /* millions: MHz of Hz, W of uW */
};

struct metric_column {
	const char *title; /* for people: the seeds'; "": not for them */
	const char *key;   /* JSON and CSV; numbers there are as recorded */
	enum metric_op op;
	const char *a, *b; /* fields, or sums of fields: "read_ios+write_ios" */
	enum metric_unit unit;
};

#define METRIC_COLUMNS_MAX 20
#define METRIC_BY_MAX      3

struct metric_view {
	const char *table;      /* of the capture */
	const char *instrument; /* whose it is: `ebprec metrics INSTRUMENT` shows all of its */
	const char *title;
	const char *
		legend; /* lines for people, of columns whose titles do not explain themselves; NULL: none */
	const char *by[METRIC_BY_MAX]; /* outer and inner dimension; none: each row by itself */
	const char *sort; /* key of a column, largest first, with - smallest; NULL: as they come */
	const char *only; /* groups where this field is not 0; NULL: all */
	const char *last; /* rows that have this `symbol` stand behind all others; NULL: none */
	const char *
		weight; /* events that have stacks: the unit of what each weighs; NULL: they have none */
	struct metric_column columns[METRIC_COLUMNS_MAX];
};

/* The i-th view of the list, whatever its table; NULL: behind the last. */
const struct metric_view *metric_view_at(size_t i);
/* The first of an instrument, or of a table; with_stacks: whose events have stacks.  NULL: none. */
const struct metric_view *metric_view_named(const char *name, bool with_stacks);
/*
 * The view of a table that has what rows are grouped by there, or one made from its fields in *own,
 * whose texts are the table's.
 */
const struct metric_view *metric_view_of(const struct metric_table *t, struct metric_view *own);

#endif
