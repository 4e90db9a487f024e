/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * rows - the tables that a capture's instruments wrote, row by row
 *
 * The fields of a table are read from the capture itself (format/payload/metric_format.h).  A row
 * is given as numbers, one for each element of each field; a text is the number of a string.
 */
#ifndef EBPREC_ANALYZE_METRIC_ROWS_H
#define EBPREC_ANALYZE_METRIC_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/input/event/event_of.h"
#include "analyze/input/event/filter.h"
#include "analyze/base/string_table.h"
#include "format/reader/capture.h"
#include "format/payload/metric_format.h"

#define METRIC_ROWS_NONE UINT32_MAX
/* No byte of a row is of two elements; the fields that are made here have a slot each, and no byte. */
#define METRIC_ROWS_SLOTS_MAX (METRIC_ROW_MAX - METRIC_ROW_OFF + 3)

struct metric_table {
	struct metric_format fmt;
	const struct capture_attr *attr;   /* borrowed from the capture */
	uint32_t slots[METRIC_FIELDS_MAX]; /* of each field: where its first element is in a row */
	/* The last field of a table of system calls is made here, of their names. */
	bool has_category;
	bool has_symbol, has_function; /* metric_rows_add_symbols() */
	uint32_t slot_count;
	uint64_t *left_bytes; /* what rows of all tables may still take in memory; NULL: no limit */
	bool is_interval;     /* rows are of an interval, not of a moment */
	/* Slots of what many tables have; METRIC_ROWS_NONE: this one has not.  comm is a text, the others
	 * are numbers. */
	uint32_t since, interval, pid, tid, comm;
};

/* Read freely. */
struct metric_rows {
	const struct capture *c; /* borrowed */
	struct event_of events;
	struct metric_table *tables;
	size_t count, capacity;
	uint64_t lost;   /* rows that the capture counts as missing */
	uint64_t broken; /* rows that could not be read */
	/*
	 * Set by a caller that knows what is at an address of a process, and which function a stack is to be known
	 * by (the called before the caller): a text, which need not stay valid, or NULL: no memory.  NULL: all
	 * symbols and functions are "".
	 */
	const char *(*name_address)(void *arg, uint32_t pid, uint64_t time_ns, uint64_t address);
	const char *(*name_stack)(void *arg, uint32_t pid, uint64_t time_ns, const uint64_t *code,
				  size_t count);
	void *name_arg;
	uint64_t left_bytes; /* of the walk */
	uint64_t asked_ids;  /* bits: of METRIC_FIRST_ID and those that follow */
	bool skips_lost; /* set by a caller that does not need that: a walk need not read the side-band */
	/*
	 * From the first to the last interval in the filter's times, with rows of any process; 0:
	 * there are none.
	 */
	uint64_t from_ns, to_ns;
	uint64_t longest_ns; /* of all intervals, of any time */
};

struct metric_row {
	const struct metric_table *table;
	const uint64_t *slots;
	uint64_t time_ns, since_ns; /* since_ns: where the interval began; of a moment: time_ns */
	uint32_t pid, tid;
	int32_t cpu;
};

/*
 * -ENOMEM; a capture without tables has none.  Each id is of one table, the first event's, so that
 * there are METRIC_TABLES_MAX at most.  *out: metric_rows_done().
 */
int metric_rows_open(const struct capture *c, struct metric_rows *out);
void metric_rows_done(struct metric_rows *m);
/*
 * Gives each table that has addresses of processes one field more, the text `symbol`, which is the answer of
 * name_address; and each that has stacks (is_code) the text `function`, of name_stack.  Before any row is read.
 * Whether there is one.
 */
bool metric_rows_add_symbols(struct metric_rows *m);
/* NULL: there is none. */
const struct metric_table *metric_rows_find(const struct metric_rows *m, const char *name);
/*
 * The slot of a field's first element; METRIC_ROWS_NONE: the table has no such field.  A stranger's
 * table may have a text where ours has a number: a caller asks for the kind that it needs, and
 * finds no field of the other kind.
 */
uint32_t metric_rows_slot(const struct metric_table *t, const char *field);
uint32_t metric_rows_number_slot(const struct metric_table *t, const char *field);
uint32_t metric_rows_text_slot(const struct metric_table *t, const char *field);

/*
 * The memory that the rows of a walk may take: a small file may unpack to any number of them.  64 MiB and 256 times
 * the file, or what --unpack-limit allows.
 */
uint64_t metric_rows_limit_bytes(const struct capture *c);

/*
 * Calls row for each row that the filter passes, in the order of the file.  Intervals count by
 * their end.  A negative return of row ends it and is returned.
 */
int metric_rows_walk(struct metric_rows *m, struct string_table *names, const struct filter *filter,
		     int (*row)(void *ctx, const struct metric_row *r), void *ctx);

/* The same for one record that comes from elsewhere, of the capture's events: row, if it is one. */
int metric_rows_record(struct metric_rows *m, struct string_table *names,
		       const struct filter *filter, const struct perf_event_header *record,
		       int (*row)(void *ctx, const struct metric_row *r), void *ctx);

#endif
