/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * counters - the tables of a page that have what instruments counted, as lines over time
 *
 * A table of the capture has intervals and lines; a line is a column of one of its groups ("CPU 0, user") and has a
 * point in each interval that has a row of the group.  The caller fills it table by table.
 */
#ifndef EBPREC_ANALYZE_PAGE_COUNTERS_COUNTERS_H
#define EBPREC_ANALYZE_PAGE_COUNTERS_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/base/string_table.h"
#include "analyze/page/table/columns.h"
#include "analyze/page/table/texts.h"

struct page_counters_table {
	uint32_t name, title, by; /* names */
	size_t group_count;       /* of the capture: not all need have lines, */
	size_t shown_count;       /* but these */
	size_t interval_count, line_count;
};

struct page_counters_interval {
	uint64_t from_ns, to_ns;
};

struct page_counters_line {
	uint32_t of, group, what, key, unit; /* names; group, what: in words */
	bool in_thousandths;                 /* values are 1,000 times as large as they are */
	size_t point_count, left_out;        /* points; those whose value no page can have */
};

struct page_counters_point {
	size_t interval; /* of its table */
	int64_t value;
};

/* Embedded by the owner; page_counters_done(); all zero is none. */
struct page_counters {
	struct string_table *names; /* owned; of all that is shown, and of nothing else */
	struct page_counters_table *tables;
	struct page_counters_interval *intervals;
	struct page_counters_line *lines;
	struct page_counters_point *points;
	size_t table_count, interval_count, line_count, point_count;
	size_t table_capacity, interval_capacity, line_capacity, point_capacity;
	uint32_t *texts; /* by name, behind page_counters_make() */
};

#define PAGE_COUNTERS_VALUE_MAX \
	(INT64_C(1) << 51) /* numbers of pages are below 2^53, also with their sign */

/* -ENOMEM. */
int page_counters_init(struct page_counters *c);
void page_counters_done(struct page_counters *c);
/* Each of these belongs to the last of the former: table, interval and line, point.  -ENOMEM. */
int page_counters_add_table(struct page_counters *c, const struct page_counters_table *table);
int page_counters_add_interval(struct page_counters *c, uint64_t from_ns, uint64_t to_ns);
int page_counters_add_line(struct page_counters *c, const struct page_counters_line *line);
int page_counters_add_point(struct page_counters *c, size_t interval, int64_t value);

/* Gives its names to texts.  -ENOMEM, -EOVERFLOW. */
int page_counters_make(struct page_counters *c, struct page_texts *texts);
/* The tables "counters", "counters.intervals", "counters.lines" and "counters.points"; texts have their numbers by then. */
void page_counters_write(const struct page_counters *c, uint64_t base_us,
			 const struct page_texts *texts, struct page_columns *columns);

#endif
