/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * distributions - the beta, binomial and Student distributions, as far as intervals need them
 *
 * The incomplete beta function is the continued fraction of DLMF 8.17.22, by Lentz's method; quantiles
 * are found by Newton's steps within a bracket.  Good to ten digits for parameters up to 1e9.
 */
#ifndef EBPREC_ANALYZE_BASE_DISTRIBUTIONS_H
#define EBPREC_ANALYZE_BASE_DISTRIBUTIONS_H

/* The regularized incomplete beta function: P(X <= x) for X ~ Beta(a, b).  a, b: above 0. */
double beta_cdf(double x, double a, double b);
/* The odds x / (1 - x) of the x that P(X <= x) = p is true of: near 1, x itself would have few digits of them. */
double beta_odds(double p, double a, double b);

/*
 * The two-sided level at which a normal variable is as far out as one of Student's with df degrees of
 * freedom at the given level: the level to use where a variance was estimated.
 */
double student_to_normal_level(double level, double df);

/*
 * The exact (Clopper-Pearson) interval of the odds p / (1 - p) of a probability p of which `hits` of
 * hits + misses came; they need not be integers.  level: what may be outside, on both sides together.
 * high is INFINITY without misses.
 */
void binomial_odds(double hits, double misses, double level, double *low, double *high);

#endif
