/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/base/cpuset_list.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void cpulist_reads_ranges_and_single_cpus(void **state)
{
	static const struct {
		const char *text;
		size_t count;
		uint32_t ids[8];
	} cases[] = {
		{ "0\n", 1, { 0 } },
		{ "0-3\n", 4, { 0, 1, 2, 3 } },
		{ "0,2,5", 3, { 0, 2, 5 } },
		{ "1-2,7,60000-60001\n", 5, { 1, 2, 7, 60000, 60001 } },
		{ "65535", 1, { 65535 } },
	};
	struct cpuset_list l;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(cpuset_list_parse(cases[i].text, &l), 0);
		assert_int_equal(l.count, cases[i].count);
		assert_memory_equal(l.ids, cases[i].ids, l.count * sizeof(l.ids[0]));
		cpuset_list_done(&l);
	}
}

static void cpulist_refuses_what_is_no_list(void **state)
{
	static const char *const cases[] = {
		"",    "\n",  ",",     "0,",  "-1",  "1-",    "3-1",
		"0,0", "2,1", "0-2,2", "0 1", "0x1", "65536", "99999999999999999999",
		"0\n1"
	};
	struct cpuset_list l = { .count = 42 };
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (cpuset_list_parse(cases[i], &l) != -EBADMSG)
			fail_msg("taken: '%s'", cases[i]);
		assert_int_equal(l.count, 42);
	}
}

static void cpulist_takes_one_more_in_its_place(void **state)
{
	static const uint32_t added[] = { 5, 0, 9, 5, 7, 0 }, want[] = { 0, 5, 7, 9 };
	struct cpuset_list l = { 0 };

	for (size_t i = 0; i < sizeof(added) / sizeof(added[0]); i++)
		assert_int_equal(cpuset_list_add(&l, added[i]), 0);
	assert_int_equal(l.count, 4);
	assert_memory_equal(l.ids, want, sizeof(want));
	cpuset_list_done(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpulist_reads_ranges_and_single_cpus),
		cmocka_unit_test(cpulist_refuses_what_is_no_list),
		cmocka_unit_test(cpulist_takes_one_more_in_its_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
