/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * Thousands of pairs of recordings that were drawn from a known truth: how often an interval has it
 * inside, and how often something is called real where nothing changed.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analyze/report/diff/diff.h"
#include "tests/unit/random.h"

#define ROWS_MOST 400

/* A program: functions, and how its time goes to them. */
struct program {
	const char *name;
	unsigned rows;
	double samples[DIFF_SIDES]; /* of a recording, on average */
	double flatness;            /* 0: all alike; 1: the next one half of the one before */
	double phases;              /* how far functions drift within a recording; 0: not at all */
	double phase_blocks;        /* how many blocks a drift lasts */
	double bursts; /* samples that come together, in a third of the rows; 0: none */
	enum diff_basis basis;
};

struct counts {
	unsigned tables, alarms, compared, inside, found, rows_inside, rows;
};

static double uniform(uint64_t *seed)
{
	return ((double)(next_random(seed) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(uint64_t *seed)
{
	return sqrt(-2 * log(uniform(seed))) * cos(2 * M_PI * uniform(seed));
}

static unsigned poisson(double mean, uint64_t *seed)
{
	double limit = exp(-mean), product = 1;
	unsigned count = 0;

	if (mean > 60) {
		double about = mean + sqrt(mean) * normal(seed) + 0.5;

		return about > 0 ? (unsigned)about : 0;
	}
	for (product = uniform(seed); product > limit; product *= uniform(seed))
		count++;
	return count;
}

static unsigned burst_of(const struct program *p, unsigned row)
{
	return p->bursts > 0 && row % 3 == 1 ? (unsigned)p->bursts : 1;
}

static void record(struct diff_table *d, int side, const struct program *p, const double *weights,
		   uint64_t *seed)
{
	double drift[ROWS_MOST] = { 0 }, keep, sum_all = 0;

	keep = p->phases > 0 ? exp(-1 / p->phase_blocks) : 0;
	for (unsigned r = 0; r < p->rows; r++) {
		drift[r] = p->phases * normal(seed);
		sum_all += weights[r];
	}
	for (unsigned b = 0; b < DIFF_TABLE_BLOCKS; b++) {
		struct diff_cost total = { 0 };

		for (unsigned r = 0; r < p->rows; r++) {
			unsigned burst = burst_of(p, r), count;
			double mean = p->samples[side] / DIFF_TABLE_BLOCKS * weights[r] / sum_all;
			struct diff_cost cost;

			/* A lognormal factor of mean 1, alike in blocks that are near. */
			mean *= exp(drift[r] - p->phases * p->phases / 2);
			count = burst * poisson(mean / burst, seed);
			drift[r] = keep * drift[r] +
				   sqrt(1 - keep * keep) * p->phases * normal(seed);
			cost = (struct diff_cost){ count, count };
			total.samples += count;
			total.cost += count;
			if (count)
				assert_int_equal(diff_table_add(d, side, r, b, &cost), 0);
		}
		diff_table_add_total(d, side, b, &total);
		diff_table_add_amount(d, side, b, 1);
	}
}

/* The true ratio of a row when row 0 costs so much more. */
static double truth_of(const struct program *p, const double *weights, unsigned row, double growth)
{
	double sum_all = 0;

	for (unsigned r = 0; r < p->rows; r++)
		sum_all += weights[r];
	return (row ? 1 : growth) *
	       (p->basis == DIFF_SHARE ? sum_all / (sum_all + weights[0] * (growth - 1)) : 1);
}

static void judge(const struct program *p, const double *weights, double growth,
		  const struct diff_table_result *result, struct counts *n)
{
	bool alarm = false;

	for (size_t i = 0; i < result->count; i++) {
		const struct diff_table_row *row = &result->rows[i];
		double truth = truth_of(p, weights, row->key, growth);
		bool inside = row->low <= truth && truth <= row->high;

		n->rows++;
		n->rows_inside += inside;
		alarm |= row->result == DIFF_REAL && truth == 1;
		if (row->key)
			continue;
		n->compared++;
		n->inside += inside;
		n->found += row->result == DIFF_REAL;
	}
	n->tables++;
	n->alarms += alarm;
}

static void compare_once(const struct program *p, double growth, uint64_t *seed, struct counts *n)
{
	double weights[ROWS_MOST] = { 0 }, grown[ROWS_MOST] = { 0 }, sum_all = 0;
	struct diff_table_result result;
	struct program after = *p;
	struct diff_table *d;

	for (unsigned r = 0; r < p->rows; r++) {
		grown[r] = weights[r] = pow(1 - p->flatness / 2, r);
		sum_all += weights[r];
	}
	grown[0] *= growth;
	after.samples[DIFF_AFTER] *= (sum_all + grown[0] - weights[0]) / sum_all;
	assert_int_equal(diff_table_new(&d), 0);
	record(d, DIFF_BEFORE, p, weights, seed);
	record(d, DIFF_AFTER, &after, grown, seed);
	assert_int_equal(diff_table_compare(d, p->basis, 0.002, &result), 0);
	judge(p, weights, growth, &result, n);
	diff_table_result_done(&result);
	diff_table_free(d);
}

static const struct program programs[] = {
	{ "independent", 40, { 4000, 4000 }, 0.1, 0, 0, 0, DIFF_SHARE },
	{ "independent, by run", 40, { 4000, 4000 }, 0.1, 0, 0, 0, DIFF_RUN },
	{ "independent, by rate", 40, { 4000, 4000 }, 0.1, 0, 0, 0, DIFF_RATE },
	{ "one function of half", 12, { 2000, 2000 }, 1, 0, 0, 0, DIFF_SHARE },
	{ "other lengths", 40, { 600, 12000 }, 0.1, 0, 0, 0, DIFF_SHARE },
	{ "few samples, many functions", 200, { 500, 500 }, 0.02, 0, 0, 0, DIFF_SHARE },
	{ "few before, many after", 200, { 200, 20000 }, 0.02, 0, 0, 0, DIFF_SHARE },
	{ "bursts of ten", 40, { 4000, 4000 }, 0.1, 0, 0, 10, DIFF_SHARE },
	{ "short phases", 40, { 4000, 4000 }, 0.1, 0.5, 0.5, 0, DIFF_SHARE },
	{ "phases of two blocks", 40, { 4000, 4000 }, 0.1, 0.4, 2, 0, DIFF_SHARE },
	{ "phases of two blocks, by rate", 40, { 4000, 4000 }, 0.1, 0.3, 2, 0, DIFF_RATE },
};

#define PROGRAMS (sizeof(programs) / sizeof(programs[0]))

/* The same numbers in each run, so that what is found below is found always. */
static struct counts compare_often(size_t program, double growth, unsigned tables)
{
	uint64_t seed = 88172645463325252u + 1000 * program + (uint64_t)(growth * 100);
	struct counts n = { 0 };

	for (unsigned t = 0; t < tables; t++)
		compare_once(&programs[program], growth, &seed, &n);
	return n;
}

static void in_tables_without_a_change_one_of_twenty_at_most_has_a_real_row(void **state)
{
	unsigned alarms = 0, tables = 0;

	for (size_t i = 0; i < PROGRAMS; i++) {
		struct counts n = compare_often(i, 1, 100);

		if (n.alarms > 5)
			fail_msg("%s: %u of %u", programs[i].name, n.alarms, n.tables);
		if (n.rows < 20 * n.tables && programs[i].rows >= 40)
			fail_msg("%s: only %u rows in %u tables", programs[i].name, n.rows,
				 n.tables);
		alarms += n.alarms;
		tables += n.tables;
	}
	if (20 * alarms > tables)
		fail_msg("%u of %u", alarms, tables);
}

/* Some of 150 intervals of one program are unlucky; nineteen of twenty of all have the truth inside. */
static void the_true_size_is_inside_of_nineteen_of_twenty_intervals(void **state)
{
	static const double growths[] = { 1, 1.02, 1.05, 1.1, 1.2, 1.5 };
	unsigned all_inside = 0, all = 0;

	for (size_t i = 0; i < PROGRAMS; i++) {
		unsigned inside = 0, compared = 0, rows_inside = 0, rows = 0;

		for (size_t g = 0; g < sizeof(growths) / sizeof(growths[0]); g++) {
			struct counts n = compare_often(i, growths[g], 25);

			inside += n.inside;
			compared += n.compared;
			rows_inside += n.rows_inside;
			rows += n.rows;
		}
		if (100 * inside < 92 * compared || compared < 140)
			fail_msg("%s: the row that grew: %u of %u", programs[i].name, inside,
				 compared);
		if (20 * rows_inside < 19 * rows)
			fail_msg("%s: all rows: %u of %u", programs[i].name, rows_inside, rows);
		all_inside += inside;
		all += compared;
	}
	if (20 * all_inside < 19 * all)
		fail_msg("rows that grew: %u of %u", all_inside, all);
}

/* An interval that is always right by being wide would help no user. */
static void changes_that_samples_can_show_are_found(void **state)
{
	static const struct {
		const char *program;
		double growth;
		unsigned least; /* of 50 */
	} cases[] = {
		{ "independent", 1.5, 30 },          { "independent", 2, 50 },
		{ "independent, by rate", 1.5, 30 }, { "one function of half", 1.2, 15 },
		{ "one function of half", 1.5, 50 }, { "bursts of ten", 2, 45 },
		{ "short phases", 3, 45 },           { "phases of two blocks", 4, 45 },
	};

	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		size_t i = 0;
		struct counts n;

		while (strcmp(programs[i].name, cases[c].program) != 0)
			i++;
		n = compare_often(i, cases[c].growth, 50);
		if (n.found < cases[c].least)
			fail_msg("%s, x%.2f: %u of %u", cases[c].program, cases[c].growth, n.found,
				 n.tables);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_tables_without_a_change_one_of_twenty_at_most_has_a_real_row),
		cmocka_unit_test(the_true_size_is_inside_of_nineteen_of_twenty_intervals),
		cmocka_unit_test(changes_that_samples_can_show_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
