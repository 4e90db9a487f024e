/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "bpf/lib/sample_budget.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define MS_NS 1000000ULL

struct sum {
	uint64_t hits, weight;
	uint32_t taken;
};

struct service {
	struct sample_budget budget;
	__u64 waiting;
};

static uint32_t draw(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*state >> 32);
}

/* Hits every gap_ns of busy_ms out of each period_ms, for an hour from *now_ns on. */
static struct sum run_hour(struct service *s, uint32_t budget, uint64_t *now_ns, uint64_t gap_ns,
			   uint64_t busy_ms, uint64_t period_ms, uint64_t *state)
{
	struct sum sum = { 0 };
	uint64_t end_ns = *now_ns + BUDGET_HOUR_NS;

	for (; *now_ns < end_ns; *now_ns += gap_ns) {
		uint64_t weight;

		if (*now_ns / MS_NS % period_ms >= busy_ms)
			continue;
		weight = budget_take(&s->budget, &s->waiting, budget, 1, *now_ns, draw(state));
		sum.hits++;
		sum.weight += weight;
		sum.taken += weight > 0;
	}
	return sum;
}

static void budget_is_not_exceeded_and_weights_add_up_to_all_hits(void **state)
{
	static const struct {
		uint32_t budget;
		uint64_t gap_ns, busy_ms, period_ms;
	} loads[] = {
		{ 40000, 1 * MS_NS, 1, 1 },           /* 3.6 M hits an hour */
		{ 40000, 52 * MS_NS, 1, 1 },          /* 69 k */
		{ 1000, 10 * MS_NS, 200, 60000 },     /* a burst each minute */
		{ 1000, 10 * MS_NS, 600000, 3600000 } /* ten minutes of an hour */
	};

	for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
		struct service b = { 0 };
		uint64_t now_ns = 5 * BUDGET_MINUTE_NS, random = 7, before = 0;

		for (unsigned hour = 0; hour < 3; hour++) {
			struct sum s = run_hour(&b, loads[i].budget, &now_ns, loads[i].gap_ns,
						loads[i].busy_ms, loads[i].period_ms, &random);

			assert_int_equal(s.weight + b.waiting, s.hits + before);
			before = b.waiting;
			/* An hour of the test is not one of the budget: it may have parts of two. */
			assert_true(s.taken <= loads[i].budget * 21 / 20 + 60);
			if (loads[i].busy_ms == 1)
				assert_true(s.taken >= loads[i].budget * 9 / 10);
		}
	}
}

static void budget_takes_all_of_a_service_below_it(void **state)
{
	struct service b = { 0 };
	uint64_t now_ns = BUDGET_MINUTE_NS, random = 1;
	struct sum s = run_hour(&b, 40000, &now_ns, 100 * MS_NS, 1, 1, &random);

	assert_int_equal(s.taken, s.hits);
	assert_int_equal(s.weight, s.hits);
}

/* Ten kinds of hits in turn: one of one_of would take the same kinds for ever. */
static void budget_meets_no_rhythm(void **state)
{
	struct service b = { 0 };
	uint64_t now_ns = BUDGET_MINUTE_NS, random = 3, kinds[10] = { 0 }, all = 0, weight;

	for (uint64_t i = 0; i < 3600000; i++, now_ns += MS_NS) {
		weight = budget_take(&b.budget, &b.waiting, 36000, 1, now_ns, draw(&random));
		kinds[i % 10] += weight;
		all += weight;
	}
	for (size_t k = 0; k < 10; k++)
		assert_in_range(kinds[k] * 1000 / all, 90, 110);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(budget_is_not_exceeded_and_weights_add_up_to_all_hits),
		cmocka_unit_test(budget_takes_all_of_a_service_below_it),
		cmocka_unit_test(budget_meets_no_rhythm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
