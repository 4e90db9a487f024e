/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/base/distributions.h"

#include <math.h>

#define ENOUGH        1e-14
#define TINY          1e-300
#define FRACTION_MOST 100000 /* terms; about the root of the larger parameter is needed */
#define NEWTON_MOST   200

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

/* The logarithm of the density, but for a factor of x and one of 1 - x. */
static double beta_log_term(double x, double a, double b)
{
	int sign;

	return lgamma_r(a + b, &sign) - lgamma_r(a, &sign) - lgamma_r(b, &sign) + a * log(x) +
	       b * log1p(-x);
}

double beta_cdf(double x, double a, double b)
{
	if (!(x > 0))
		return 0;
	if (x >= 1)
		return 1;
	if (x < (a + 1) / (a + b + 2))
		return exp(beta_log_term(x, a, b)) * beta_fraction(x, a, b) / a;
	return 1 - exp(beta_log_term(x, a, b)) * beta_fraction(1 - x, b, a) / b;
}

double beta_quantile(double p, double a, double b)
{
	double low = 0, high = 1, x = a / (a + b);

	if (!(p > 0))
		return 0;
	if (p >= 1)
		return 1;
	for (int i = 0; i < NEWTON_MOST && high - low > ENOUGH * high; i++) {
		double over = beta_cdf(x, a, b) - p;
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

/* From here on both are the same to 8 digits, and 1 - x has too few. */
#define DF_NORMAL 1e8

double student_to_normal_level(double level, double df)
{
	double x;

	if (df > DF_NORMAL)
		return level;
	x = beta_quantile(level, df / 2, 0.5);
	return x > 0 ? erfc(sqrt(df * (1 - x) / x / 2)) : 0;
}

void binomial_interval(double hits, double misses, double level, double *low, double *high)
{
	*low = hits > 0 ? beta_quantile(level / 2, hits, misses + 1) : 0;
	*high = misses > 0 ? beta_quantile(1 - level / 2, hits + 1, misses) : 1;
}
