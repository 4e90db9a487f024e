/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/input/event/sample_time.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void a_sample_has_the_time_that_its_event_gives_it(void **state)
{
	static const struct {
		uint32_t type;
		uint64_t config, freq; /* freq 0: a period */
		bool known, of_cpu;
		uint64_t sample_ns, interval_ns;
	} cases[] = {
		/* A clock's period is time, whatever its frequency. */
		{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 0, true, true, 0, 0 },
		{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, 99, true, true, 0, 10101010 },
		{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 1000, true, true, 1000000,
		  1000000 },
		{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0, false, true, 0, 0 },
		{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, 1000, true, false, 1000000,
		  1000000 },
		/* Events that come when they come: a frequency makes no time of them. */
		{ PERF_TYPE_TRACEPOINT, 317, 1000, false, false, 0, 1000000 },
		{ PERF_TYPE_TRACEPOINT, 317, 0, false, false, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct perf_event_attr a = { .type = cases[i].type,
						   .config = cases[i].config,
						   .freq = cases[i].freq != 0,
						   .sample_freq = cases[i].freq };
		uint64_t sample_ns = 7;

		assert_int_equal(sample_time_is_known(&a, &sample_ns), cases[i].known);
		assert_int_equal(sample_ns, cases[i].sample_ns);
		assert_int_equal(sample_time_is_of_cpu(&a), cases[i].of_cpu);
		assert_int_equal(sample_time_interval_ns(&a), cases[i].interval_ns);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sample_has_the_time_that_its_event_gives_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
