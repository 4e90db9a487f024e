/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/metric/containers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void containers_without_names_are_alone(void **state)
{
	struct containers c = { 0 };
	uint64_t first = 0;

	for (uint64_t cgroup = 0; cgroup < 1000; cgroup++) {
		assert_int_equal(containers_first(&c, NULL, NULL, cgroup, &first), 0);
		assert_int_equal(first, cgroup);
	}
	assert_int_equal(containers_first(&c, NULL, NULL, 23, &first), 0);
	assert_int_equal(first, 23);
	assert_int_equal(c.count, 1000);
	containers_done(&c);
	containers_done(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(containers_without_names_are_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
