/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/report/situation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define S 1000000000ull /* ns */

/* Ten seconds of four CPUs. */
#define SOME  .elapsed_ns = 10 * S, .samples = 1000
#define USUAL SOME, .cpus = 4, .is_system_wide = true

static void situation_is_the_first_that_applies(void **state)
{
	static const struct {
		struct situation_facts facts;
		enum situation want;
	} cases[] = {
		{ { USUAL, .run_ns = 36 * S, .top_run_ns = 30 * S }, SITUATION_CPU },
		/* one thread of a large machine */
		{ { SOME, .cpus = 256, .run_ns = 10 * S, .top_run_ns = 9 * S }, SITUATION_CPU },
		/* many processes, none of which has much */
		{ { USUAL, .run_ns = 21 * S, .top_run_ns = 1 * S }, SITUATION_CPU },
		{ { USUAL, .run_ns = 36 * S, .lost_samples = 110 }, SITUATION_CPU },
		{ { USUAL, .run_ns = 36 * S, .lost_samples = 112 }, SITUATION_INCOMPLETE },
		{ { USUAL, .run_ns = 36 * S, .is_damaged = true }, SITUATION_INCOMPLETE },
		{ { USUAL, .run_ns = 36 * S, .wait_ns = 80 * S, .unknown_ns = 10 * S },
		  SITUATION_INCOMPLETE },
		{ { .elapsed_ns = 10 * S }, SITUATION_EMPTY },
		{ { 0 }, SITUATION_EMPTY },
		{ { USUAL, .run_ns = 2 * S, .swap_ns = 2 * S, .disk_ns = 40 * S },
		  SITUATION_SWAPPING },
		{ { USUAL, .run_ns = 2 * S, .swap_ns = S / 2, .disk_ns = 40 * S }, SITUATION_DISK },
		{ { USUAL, .run_ns = 36 * S, .started = 2000 }, SITUATION_FORK_STORM },
		{ { USUAL, .run_ns = 36 * S, .short_run_ns = 20 * S, .started = 300 },
		  SITUATION_FORK_STORM },
		{ { USUAL, .run_ns = 36 * S, .short_run_ns = 2 * S, .started = 300 },
		  SITUATION_CPU },
		/* a few programs of a short recording */
		{ { .elapsed_ns = S / 100,
		    .cpus = 4,
		    .samples = 9,
		    .run_ns = S / 100,
		    .top_run_ns = S / 100,
		    .started = 5 },
		  SITUATION_CPU },
		{ { USUAL, .run_ns = 36 * S, .collecting = 400 }, SITUATION_COLLECTING },
		{ { USUAL, .run_ns = 36 * S, .collecting = 100 }, SITUATION_CPU },
		{ { USUAL, .run_ns = 11 * S, .top_run_ns = 10 * S, .lock_ns = 69 * S },
		  SITUATION_LOCKS },
		{ { USUAL, .run_ns = 36 * S, .lock_ns = 4 * S }, SITUATION_CPU },
		{ { USUAL, .run_ns = 2 * S, .disk_ns = 9 * S }, SITUATION_DISK },
		{ { USUAL, .run_ns = 40 * S, .queue_ns = 120 * S }, SITUATION_OVERLOAD },
		{ { USUAL, .run_ns = 40 * S, .queue_ns = 12 * S }, SITUATION_CPU },
		{ { SOME, .cpus = 4, .run_ns = S / 10, .wait_ns = 10 * S }, SITUATION_WAITING },
		{ { USUAL, .run_ns = S / 10, .wait_ns = 900 * S }, SITUATION_IDLE },
		{ { USUAL, .run_ns = 10 * S, .top_run_ns = S, .wait_ns = 900 * S },
		  SITUATION_PARTLY },
		/* numbers that no recorder writes */
		{ { .elapsed_ns = UINT64_MAX,
		    .cpus = UINT64_MAX,
		    .samples = UINT64_MAX,
		    .lost_samples = 1,
		    .run_ns = UINT64_MAX,
		    .top_run_ns = UINT64_MAX },
		  SITUATION_CPU },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(situation_find(&cases[i].facts), cases[i].want);
		assert_non_null(situation_title(cases[i].want));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(situation_is_the_first_that_applies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
