/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * diff_text - a comparison of two recordings, for people and as JSON
 *
 * Next to the ratio stand both shares and both costs: as time, where the event has the time of a
 * sample, else as counted.  The first lines have the ratio of all, which files are compared with each other
 * under two names, and why.  Where nothing is real, the text has the smallest change that could have
 * been seen, and how to see a smaller one.
 */
#ifndef EBPREC_ANALYZE_REPORT_DIFF_DIFF_TEXT_H
#define EBPREC_ANALYZE_REPORT_DIFF_DIFF_TEXT_H

#include <stdio.h>

#include "analyze/base/string_table.h"
#include "analyze/report/diff/diff.h"
#include "analyze/report/diff/renames.h"
#include "analyze/report/key/sort_keys.h"

/* Ends each column of a key but the last; no UTF-8 has it, and in a name it is written "\xff". */
#define DIFF_TEXT_KEY_END 0xff

void diff_text_put_column(const char *name, FILE *to);
/* How many bytes the column that text begins with has. */
size_t diff_text_column_bytes(const char *text);

struct diff_text_side {
	double ns_per_cost;   /* 0: the event does not have it */
	double ns_per_sample; /* 0: not known */
	uint64_t elapsed_ns;  /* of the time that was asked for */
	const char *event;    /* NULL: waits; borrowed */
};

struct diff_text {
	enum diff_basis basis;
	bool same_command;  /* that is why it is DIFF_RUN */
	const char *span;   /* DIFF_RATE: what a cost is for one of; NULL: for a second */
	const char *weight; /* "samples", "period", "time_ns" */
	const struct sort_keys *keys;
	const struct string_table *texts; /* by key of a row */
	const struct renames *renames;
	struct diff_text_side sides[DIFF_SIDES];
};

void diff_text_write(const struct diff_text *t, const struct diff_table_result *r, FILE *to);
void diff_text_json(const struct diff_text *t, const struct diff_table_result *r, FILE *to);

#endif
