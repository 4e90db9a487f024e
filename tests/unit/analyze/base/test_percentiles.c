/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analyze/base/percentiles.h"
#include "tests/unit/random.h"

/* With so many as are sorted one by one, and as are sorted digit by digit. */
static void they_rise_and_none_is_missing(void **state)
{
	static const size_t counts[] = { 1, 100, 5000 };
	uint64_t random = 88172645463325252ULL, sum, mixed, ns;
	struct percentiles d = { 0 };

	(void)state;
	for (size_t k = 0; k < sizeof(counts) / sizeof(counts[0]); k++) {
		sum = mixed = 0;
		for (size_t i = 0; i < counts[k]; i++) {
			next_random(&random);
			ns = random >> random % 64;
			sum += ns;
			mixed ^= ns * 0x9e3779b97f4a7c15ULL;
			assert_int_equal(percentiles_add(&d, ns), 0);
		}
		percentiles_finish(&d);
		assert_int_equal(d.count, counts[k]);
		for (size_t i = 0; i < d.count; i++) {
			assert_true(!i || d.ns[i - 1] <= d.ns[i]);
			sum -= d.ns[i];
			mixed ^= d.ns[i] * 0x9e3779b97f4a7c15ULL;
		}
		assert_true(!sum && !mixed);
		percentiles_done(&d);
	}
}

static void a_quantile_is_one_of_them(void **state)
{
	struct percentiles d = { 0 };

	(void)state;
	assert_int_equal(percentiles_quantile(&d, 0.5), 0);
	for (uint64_t ns = 1000; ns; ns--)
		assert_int_equal(percentiles_add(&d, ns), 0);
	percentiles_finish(&d);
	assert_int_equal(d.sum_ns, 500500);
	assert_int_equal(percentiles_quantile(&d, 0), 1);
	assert_int_equal(percentiles_quantile(&d, 0.5), 500);
	assert_int_equal(percentiles_quantile(&d, 0.9901), 991);
	assert_int_equal(percentiles_quantile(&d, 1), 1000);
	percentiles_done(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(they_rise_and_none_is_missing),
		cmocka_unit_test(a_quantile_is_one_of_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
