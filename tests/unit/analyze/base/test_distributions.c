/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analyze/base/distributions.h"

static void assert_near(double want, double got, double relative)
{
	if (!(fabs(got - want) <= relative * fabs(want)))
		fail_msg("want %.15g, got %.15g", want, got);
}

/* Where the function has a closed form. */
static void beta_cdf_agrees_with_its_closed_forms(void **state)
{
	for (double x = 0.001; x < 1; x += 0.037) {
		assert_near(x, beta_cdf(x, 1, 1), 1e-12);
		assert_near(pow(x, 7.5), beta_cdf(x, 7.5, 1), 1e-11);
		assert_near(1 - pow(1 - x, 4), beta_cdf(x, 1, 4), 1e-11);
		assert_near(2 / M_PI * asin(sqrt(x)), beta_cdf(x, 0.5, 0.5), 1e-11);
	}
	assert_true(beta_cdf(0, 2, 3) == 0 && beta_cdf(-1, 2, 3) == 0);
	assert_true(beta_cdf(1, 2, 3) == 1 && beta_cdf(2, 2, 3) == 1);
}

/* A sum of binomial probabilities is an incomplete beta function. */
static void beta_cdf_is_the_tail_of_the_binomial(void **state)
{
	double tail = 0, p = 0.3, term = pow(1 - p, 40);

	for (int k = 0; k <= 40; k++) {
		if (k)
			assert_near(1 - tail, beta_cdf(p, k, 40 - k + 1), 1e-9);
		tail += term;
		term *= p / (1 - p) * (40 - k) / (k + 1);
		if (1 - tail < 1e-6)
			break;
	}
}

static void quantiles_are_the_inverse(void **state)
{
	static const double shapes[] = { 0.5, 1, 3.25, 40, 1000, 250000 };
	static const double levels[] = { 1e-9, 1e-4, 0.025, 0.5, 0.9, 0.9999 };

	for (size_t a = 0; a < 6; a++)
		for (size_t b = 0; b < 6; b++)
			for (size_t p = 0; p < 6; p++) {
				double odds = beta_odds(levels[p], shapes[a], shapes[b]),
				       x = odds / (1 + odds);

				if (1 - x > 1e-9)
					assert_near(levels[p], beta_cdf(x, shapes[a], shapes[b]),
						    1e-6);
			}
	assert_true(beta_odds(0, 2, 2) == 0 && isinf(beta_odds(1, 2, 2)));
}

/* Values of tables that every textbook of statistics has. */
static void tables_of_textbooks(void **state)
{
	double low, high;

	/* Clopper and Pearson, 95 %: 4 of 10, 0 of 20, 5 of 5. */
	binomial_odds(4, 6, 0.05, &low, &high);
	assert_near(0.1216, low / (1 + low), 1e-3);
	assert_near(0.7376, high / (1 + high), 1e-3);
	binomial_odds(0, 20, 0.05, &low, &high);
	assert_true(low == 0);
	assert_near(1 - pow(0.025, 1.0 / 20), high / (1 + high), 1e-9);
	binomial_odds(5, 0, 0.05, &low, &high);
	assert_near(pow(0.025, 1.0 / 5), low / (1 + low), 1e-9);
	assert_true(isinf(high));
	/* t of 5 % is 2.2622 with 9 degrees of freedom, 2.0096 with 49. */
	assert_near(erfc(2.2622 / M_SQRT2), student_to_normal_level(0.05, 9), 1e-3);
	assert_near(erfc(2.0096 / M_SQRT2), student_to_normal_level(0.05, 49), 1e-3);
	assert_near(0.05, student_to_normal_level(0.05, 1e7), 1e-5);
	assert_near(0.05, student_to_normal_level(0.05, 1e13), 1e-5);
	assert_near(0.05, student_to_normal_level(0.05, 1e30), 1e-5);
}

/*
 * A row of nearly all samples counts as many of them, against hardly any others.  The ends were found by bisection
 * of mpmath's betainc() with 60 digits.
 */
static void odds_of_many_against_few_keep_their_digits(void **state)
{
	static const struct {
		double hits, misses, level, low, high;
	} known[] = {
		{ 1000, 3, 0.05, 113.732175675668, 1619.09721576216 },
		{ 3e6, 0.5, 0.05, 641820.366304424, 6109551145.20545 },
		{ 4e9, 2, 0.05, 553657151.887343, 16514643969.9783 },
		{ 1.5, 0.25, 5e-13, 3.27347823688428e-9, 8.12724331119627e+50 },
		{ 4000, 2, 1e-12, 114.515032236473, 4001498634.42821 },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		double low, high;

		binomial_odds(known[i].hits, known[i].misses, known[i].level, &low, &high);
		assert_near(1, low / known[i].low, 1e-8);
		assert_near(1, high / known[i].high, 1e-8);
		/* The same counts the other way round have the inverse of these odds. */
		binomial_odds(known[i].misses, known[i].hits, known[i].level, &low, &high);
		assert_near(1, low * known[i].high, 1e-8);
		assert_near(1, high * known[i].low, 1e-8);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(beta_cdf_agrees_with_its_closed_forms),
		cmocka_unit_test(beta_cdf_is_the_tail_of_the_binomial),
		cmocka_unit_test(quantiles_are_the_inverse),
		cmocka_unit_test(tables_of_textbooks),
		cmocka_unit_test(odds_of_many_against_few_keep_their_digits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
