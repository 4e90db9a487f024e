/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/metric/trial_load.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void count(void *arg)
{
	++*(int *)arg;
}

static void die(void *arg)
{
	raise(*(int *)arg);
}

static void trialload_changes_nothing_here(void **state)
{
	int n = 0;

	assert_int_equal(trialload(count, &n), 0);
	assert_int_equal(n, 0);
}

static void trialload_reports_a_death(void **state)
{
	int signals[] = { SIGSEGV, SIGABRT, SIGKILL, SIGBUS };

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		assert_int_equal(trialload(die, &signals[i]), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trialload_changes_nothing_here),
		cmocka_unit_test(trialload_reports_a_death),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
