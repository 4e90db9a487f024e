/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * diff - what changed between two recordings, and what of it is noise
 *
 * Costs are collected by key and by block of time.  Samples close in time are alike, so noise is
 * measured by drawing whole blocks: a thousand recordings are made up of the blocks of each side,
 * drawn with replacement, and the middle 95 % of their changes is the interval of a key.  An
 * interval that has 0 inside is noise.  The random numbers are always the same.
 */
#ifndef EBPREC_ANALYZE_REPORT_DIFF_H
#define EBPREC_ANALYZE_REPORT_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DIFF_TABLE_BLOCKS 50 /* of each side */
#define DIFF_TABLE_DRAWS  1000

enum { DIFF_BEFORE, DIFF_AFTER, DIFF_SIDES };

struct diff_table_row {
	uint32_t key; /* the caller's */
	uint64_t cost[DIFF_SIDES];
	double value[DIFF_SIDES]; /* cost by the divisor: a share, or a rate */
	double low, high;         /* of the change; equal to it when there are too few blocks */
	bool is_noise;
};

struct diff_table; /* opaque */

int diff_table_new(struct diff_table **out); /* -ENOMEM */
void diff_table_free(struct diff_table *d);  /* NULL is fine */

/* block: below DIFF_TABLE_BLOCKS.  -ENOMEM, -EOVERFLOW. */
int diff_table_add(struct diff_table *d, int side, uint32_t key, unsigned block, uint64_t cost);
/* What the side's block has in all: what shares are of. */
void diff_table_add_total(struct diff_table *d, int side, unsigned block, uint64_t cost);

/*
 * seconds: how long each side took, then values are costs a second; NULL: shares of each side's
 * total.  Rows by the size of their change, largest growth first.  *rows is owned (free()).
 * min_value: what is less on both sides is left out.  -ENOMEM.
 */
int diff_table_rows(const struct diff_table *d, const double *seconds, double min_value,
		    struct diff_table_row **rows, size_t *count);

#endif
