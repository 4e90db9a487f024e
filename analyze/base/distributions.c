/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/base/distributions.h"

#include <math.h>
#include <stdbool.h>

#define ENOUGH         1e-14
#define TINY           1e-300
#define FRACTION_MOST  100000 /* terms; about the root of the larger parameter is needed */
#define NEWTON_MOST    200
#define STIRLING_LEAST 12

/* The continued fraction of the incomplete beta function. */
static double beta_fraction(double x, double a, double b)
{
	double c = 1, d = 1 - (a + b) * x / (a + 1), f;

	d = 1 / (fabs(d) < TINY ? TINY : d);
	f = d;
	for (int m = 1; m < FRACTION_MOST; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double step = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double change;

		d = 1 + even * d;
		c = 1 + even / c;
		d = 1 / (fabs(d) < TINY ? TINY : d);
		c = fabs(c) < TINY ? TINY : c;
		f *= c * d;
		d = 1 + step * d;
		c = 1 + step / c;
		d = 1 / (fabs(d) < TINY ? TINY : d);
		c = fabs(c) < TINY ? TINY : c;
		change = c * d;
		f *= change;
		if (fabs(change - 1) < ENOUGH)
			break;
	}
	return f;
}

/* The rest of the logarithm of the gamma function after Stirling's formula, from STIRLING_LEAST on (DLMF 5.11.1). */
static double stirling_rest(double x)
{
	double y = 1 / (x * x);

	return (1. / 12 -
		y * (1. / 360 -
		     y * (1. / 1260 - y * (1. / 1680 - y * (1. / 1188 - y * 691 / 360360))))) /
	       x;
}

/* The logarithm of the beta function.  With large parameters, subtracting the logarithms of gamma functions would leave few digits. */
static double log_beta(double a, double b)
{
	double large = fmax(a, b), small = fmin(a, b);
	int sign;

	if (large < STIRLING_LEAST)
		return lgamma_r(a, &sign) + lgamma_r(b, &sign) - lgamma_r(a + b, &sign);
	return lgamma_r(small, &sign) + stirling_rest(large) - stirling_rest(large + small) -
	       (large - 0.5) * log1p(small / large) - small * (log(large + small) - 1);
}

/* The logarithm of the density, but for a factor of x and one of 1 - x. */
static double beta_log_term(double x, double a, double b)
{
	return a * log(x) + b * log1p(-x) - log_beta(a, b);
}

/* P(X <= x), or P(X > x) if is_upper: each has its digits where it is the smaller one. */
static double beta_tail(double x, double a, double b, bool is_upper)
{
	bool is_below = x < (a + 1) / (a + b + 2);
	double part;

	if (!(x > 0) || x >= 1)
		return (x >= 1) != is_upper;
	part = exp(beta_log_term(x, a, b)) *
	       (is_below ? beta_fraction(x, a, b) / a : beta_fraction(1 - x, b, a) / b);
	return is_below != is_upper ? part : 1 - part;
}

double beta_cdf(double x, double a, double b)
{
	return beta_tail(x, a, b, false);
}

/* The x whose tail is p. */
static double beta_quantile(double p, double a, double b, bool is_upper)
{
	double low = 0, high = 1, x = a / (a + b);

	for (int i = 0; i < NEWTON_MOST && high - low > ENOUGH * high; i++) {
		double off = beta_tail(x, a, b, is_upper) - p, over = is_upper ? -off : off;
		double density = exp(beta_log_term(x, a, b)) / (x * (1 - x));
		double next;

		if (over > 0)
			high = x;
		else
			low = x;
		next = density > 0 ? x - over / density : -1;
		if (!(next > low && next < high))
			next = low > 0 && high > 16 * low ? sqrt(low * high) : (low + high) / 2;
		if (fabs(next - x) <= ENOUGH * x)
			break;
		x = next;
	}
	return x;
}

double beta_odds(double p, double a, double b)
{
	double x;

	if (!(p > 0))
		return 0;
	if (p >= 1)
		return INFINITY;
	x = beta_quantile(p, a, b, false);
	if (x < 0.5)
		return x / (1 - x);
	x = beta_quantile(p, b, a, true);
	return (1 - x) / x;
}

/* From here on both are the same to 8 digits. */
#define DF_NORMAL 1e8

double student_to_normal_level(double level, double df)
{
	return df > DF_NORMAL ? level : erfc(sqrt(df / beta_odds(level, df / 2, 0.5) / 2));
}

void binomial_odds(double hits, double misses, double level, double *low, double *high)
{
	*low = hits > 0 ? beta_odds(level / 2, hits, misses + 1) : 0;
	*high = misses > 0 ? 1 / beta_odds(level / 2, misses, hits + 1) : INFINITY;
}
