/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * diff - what changed between two recordings, and what of it is chance
 *
 * Costs are collected by key and by block of time: fifty of each side.  The comparison is of a
 * key's cost by some measure of its side (enum diff_basis), as the ratio of after to before.
 *
 * The interval of a ratio.  Samples that were independent would be counts of Poisson, whose ratio has an
 * exact interval (Clopper and Pearson: after's part of both is binomial).  Samples that are close in time
 * are alike, so a count proves less than that: it is divided by how much more its blocks vary than
 * those of independent samples.  One, two, five and ten blocks are taken together, and those that
 * vary most count, so that phases longer than a block are seen.  A row varies at least as much as
 * rows of half of the cost do, and never less than independent samples.  As a variation is an
 * estimate, the level is Student's, with Satterthwaite's degrees of freedom.
 *
 * The result.  A table has many rows, and one of twenty would be outside of its 95 % interval by chance.
 * A row is real when it is outside at a level divided by the number of rows that could have been (Bonferroni's
 * rule, with Tarone's way of counting: rows of so few samples that nothing could be real of them do not
 * count).  So at most one of twenty tables in which nothing changed has any row that is called
 * real.  One that is outside of its own interval alone is unsure.
 *
 * Nothing here knows how entire recordings differ: another machine, another load, another layout in
 * memory.  A ratio of shares is free of what made all functions slower alike; the others are not.
 */
#ifndef EBPREC_ANALYZE_REPORT_DIFF_DIFF_H
#define EBPREC_ANALYZE_REPORT_DIFF_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DIFF_TABLE_BLOCKS     50 /* of each side */
#define DIFF_TABLE_MIN_BLOCKS 8  /* with fewer that have something, their variation is no measure */

enum { DIFF_BEFORE, DIFF_AFTER, DIFF_SIDES };

enum diff_basis {
	DIFF_SHARE, /* of all that the side cost */
	DIFF_RUN,   /* what the side cost, as it is */
	DIFF_RATE,  /* by the amounts of diff_table_add_amount(): seconds, or spans */
};

enum diff_result {
	DIFF_NOISE,  /* its interval has 1 inside */
	DIFF_UNSURE, /* it has not, but of so many rows one is so by chance */
	DIFF_REAL,
};

struct diff_cost {
	uint64_t samples;
	uint64_t cost;
};

struct diff_table_row {
	uint32_t key; /* the caller's */
	struct diff_cost sum[DIFF_SIDES];
	double share[DIFF_SIDES];
	double value
		[DIFF_SIDES]; /* by the basis, in units of before's cost; DIFF_SHARE: the share */
	double ratio;         /* of the values; INFINITY: it is new */
	double low, high;     /* 95 % interval of the ratio; 0 and INFINITY: nothing is known */
	double visible;       /* the smallest growth that would have been called real, about */
	enum diff_result result;
};

struct diff_table_result {
	struct diff_table_row *rows; /* by the size of their change, largest growth first */
	size_t count;
	size_t tested; /* rows that could have been real, small ones that are left out among them */
	unsigned blocks[DIFF_SIDES]; /* that something was in */
	bool too_short;              /* in too few of them: nothing can be real */
	size_t unconfirmed;          /* rows that diff_table_compare_run() made unsure */
	double visible_percent; /* as visible, of a row of 1 % of all whose samples are independent */
	double varied;          /* of the largest row: how much more than independent samples */
	struct diff_cost total[DIFF_SIDES];
	double amount[DIFF_SIDES];
};

struct diff_table; /* opaque */

int diff_table_new(struct diff_table **out); /* -ENOMEM */
void diff_table_free(struct diff_table *d);  /* NULL is fine */

/* block: below DIFF_TABLE_BLOCKS.  -ENOMEM, -EOVERFLOW. */
int diff_table_add(struct diff_table *d, int side, uint32_t key, unsigned block,
		   const struct diff_cost *cost);
/* Adds to the total of the side's block, which shares are parts of. */
void diff_table_add_total(struct diff_table *d, int side, unsigned block,
			  const struct diff_cost *cost);
void diff_table_add_amount(struct diff_table *d, int side, unsigned block, double amount);
/* A unit of after's cost is worth so many of before's: samples of another frequency.  Else it is 1. */
void diff_table_set_scale(struct diff_table *d, double scale);
/* The keys that have something.  *out is owned.  -ENOMEM. */
int diff_table_keys(const struct diff_table *d, uint32_t **out, size_t *count);
/* Adds what a side has of one key to another one.  -ENOMEM, -EOVERFLOW. */
int diff_table_move(struct diff_table *d, int side, uint32_t from, uint32_t to);

/*
 * min_share: what is less on both sides gets no row.  The same table gives the same rows.
 * *out: diff_table_result_done().  -ENOMEM.
 */
int diff_table_compare(const struct diff_table *d, enum diff_basis basis, double min_share,
		       struct diff_table_result *out);
/*
 * As diff_table_compare(), of two runs of one command: by DIFF_RUN, and where shares do not show the change, too, it is
 * unsure, as times have the speed of the machine in them.
 */
int diff_table_compare_run(const struct diff_table *d, double min_share,
			   struct diff_table_result *out);
/* Rows that are real and grew by more than that part of all that was before: of its share, or of its cost by the basis. */
size_t diff_table_count_grown(const struct diff_table_result *r, enum diff_basis basis,
			      double limit);
void diff_table_result_done(struct diff_table_result *r);

#endif
