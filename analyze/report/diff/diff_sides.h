/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * diff_sides - what the two recordings of a comparison cost, by the texts of the chosen columns
 *
 * From counted and named stacks to diff.h: by key and block of time, and for files that have another name on the
 * other side (renames.h), or as folded stacks of both sides.
 */
#ifndef EBPREC_ANALYZE_REPORT_DIFF_DIFF_SIDES_H
#define EBPREC_ANALYZE_REPORT_DIFF_DIFF_SIDES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/base/string_table.h"
#include "analyze/report/diff/diff.h"
#include "analyze/report/diff/renames.h"
#include "analyze/report/key/sort_keys.h"
#include "analyze/report/profile/calltree.h"
#include "analyze/report/report.h"

/* The time that is asked for, in blocks. */
struct diff_blocks {
	uint64_t first_ns, quantum_ns; /* the query's quantum_ns */
	const struct filter *filter;
	struct time_span asked;
};

/* filter: borrowed. */
struct diff_blocks diff_blocks_make(const struct report *r, const struct filter *filter);

/* The first fields are the caller's, borrowed until diff_sides_done(); the others begin as 0. */
struct diff_sides {
	const struct sort_keys *keys;
	struct string_table *texts; /* of the columns, DIFF_TEXT_KEY_END between them */
	struct diff_table *table;
	struct renames *renames;
	enum calltree_weight weight;
	bool with_callers; /* a function costs what it called, too */

	uint64_t samples[DIFF_SIDES]; /* folded: stacks */
	uint64_t period_sum[DIFF_SIDES];
	/* Folded: counts of both sides by text. */
	uint64_t (*counts)[DIFF_SIDES];
	size_t count_room;
};

void diff_sides_done(struct diff_sides *d); /* all zero is fine */

/* Amounts of diff.h: the length of the blocks, or a span in the blocks in which it was open. */
void diff_sides_add_seconds(struct diff_sides *d, int side, const struct diff_blocks *b);
void diff_sides_add_spans(struct diff_sides *d, int side, const struct diff_blocks *b,
			  const struct time_span *spans, size_t count);
/* r: with the fields of the keys and GROUP_TIME, in quanta of the blocks.  -ENOMEM, -EOVERFLOW. */
int diff_sides_add_functions(struct diff_sides *d, int side, struct report *r,
			     const struct diff_blocks *blocks);
int diff_sides_add_folded(struct diff_sides *d, int side, struct report *r); /* the same */
struct diff_text_side;
/* The time that the samples of a side stand for, where the event has it; s is all zero.  Behind their adding. */
void diff_sides_find_times(const struct diff_sides *d, int side, const struct report *r,
			   const struct report_query *q, const struct diff_blocks *b,
			   struct diff_text_side *s);
/* A line for each stack: its frames, and the count of each side; by name.  -ENOMEM. */
int diff_sides_write_folded(const struct diff_sides *d, FILE *to);

#endif
