/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* chaincut: stretches of one context, against a look at each address */
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "analyze/fold/location/callchain.h"
#include "analyze/process/process_model.h"
#include "format/base/cursor.h"
#include "tests/unit/random.h"

#define FRAMES 40

static const struct callchain_context context = { 7, 9, PERF_RECORD_MISC_USER };

static void check_run(const struct callchain_run *run, const uint64_t *frames, size_t count,
		      bool kernel)
{
	assert_ptr_equal(run->frames, (const uint8_t *)frames);
	assert_int_equal(run->count, count);
	assert_int_equal(run->kind, kernel ? LOCATION_KERNEL : LOCATION_FILE);
	assert_int_equal(run->space, kernel ? 9 : 7);
}

/* The same, address by address. */
static void check_chain(const uint64_t *chain, size_t count)
{
	struct callchain cut;
	size_t run = 0, begin = 0;
	bool kernel = false;

	callchain_do((const uint8_t *)chain, count, &context, &cut);
	for (size_t i = 0; i <= count; i++) {
		if (i < count && chain[i] != PERF_CONTEXT_USER && chain[i] != PERF_CONTEXT_KERNEL)
			continue;
		if (i > begin && run < CALLCHAIN_RUNS)
			check_run(&cut.runs[run++], chain + begin, i - begin, kernel);
		if (i < count)
			kernel = chain[i] == PERF_CONTEXT_KERNEL;
		begin = i + 1;
	}
	assert_int_equal(cut.run_count, run);
	assert_int_equal(cut.deferred + cut.unknown_contexts, 0);
}

static void runs_lie_between_markers(void **state)
{
	uint64_t chain[FRAMES], seed = 11;

	for (int round = 0; round < 20000; round++) {
		size_t count = next_random(&seed) % FRAMES, markers = 1 + next_random(&seed) % 12;

		for (size_t i = 0; i < count; i++) {
			uint64_t r = next_random(&seed);

			chain[i] = r % 40 >= markers ? (r >> 20) % 3 ? r >> 20 : r | 1ULL << 63
				   : r & 64          ? PERF_CONTEXT_USER
						     : PERF_CONTEXT_KERNEL;
			if (r % 40 >= markers && chain[i] >= PERF_CONTEXT_MAX)
				chain[i] = 1;
		}
		check_chain(chain, count);
	}
}

/* Wherever in a chain they are, and however near its end. */
static void every_marker_is_seen_at_every_place(void **state)
{
	uint64_t chain[FRAMES];
	struct callchain cut;

	for (size_t count = 1; count < FRAMES; count++) {
		for (size_t at = 0; at < count; at++) {
			for (size_t i = 0; i < FRAMES; i++)
				chain[i] = 0x1000 + i;
			chain[at] = PERF_CONTEXT_KERNEL;
			check_chain(chain, count);
			chain[at] = (uint64_t)-77; /* of the future */
			callchain_do((const uint8_t *)chain, count, &context, &cut);
			assert_int_equal(cut.unknown_contexts, 1);
			chain[at] = (uint64_t)-640; /* deferred: a cookie follows */
			chain[at + 1 < FRAMES ? at + 1 : at] = (uint64_t)-640;
			callchain_do((const uint8_t *)chain, count, &context, &cut);
			assert_int_equal(cut.deferred, 1);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_lie_between_markers),
		cmocka_unit_test(every_marker_is_seen_at_every_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
