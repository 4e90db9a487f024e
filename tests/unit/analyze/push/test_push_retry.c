/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/push/retry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void answers_mean_as_in_http(void **state)
{
	assert_int_equal(push_outcome_of(200), PUSH_TAKEN);
	assert_int_equal(push_outcome_of(204), PUSH_TAKEN);
	assert_int_equal(push_outcome_of(0), PUSH_SERVER_AWAY);
	assert_int_equal(push_outcome_of(429), PUSH_SERVER_AWAY);
	assert_int_equal(push_outcome_of(503), PUSH_SERVER_AWAY);
	assert_int_equal(push_outcome_of(500), PUSH_LATER);
	assert_int_equal(push_outcome_of(413), PUSH_TOO_LARGE);
	assert_int_equal(push_outcome_of(400), PUSH_REFUSED);
	assert_int_equal(push_outcome_of(401), PUSH_MISDIRECTED);
	assert_int_equal(push_outcome_of(302), PUSH_MISDIRECTED);
}

static void waits_double_up_to_the_most_and_obey_the_server_for_an_hour(void **state)
{
	assert_int_equal(push_wait_ms(1, UINT32_MAX, 60000, 0), 1000);
	assert_int_equal(push_wait_ms(1, 0, 60000, 0), 500);
	assert_int_equal(push_wait_ms(4, UINT32_MAX, 60000, 0), 8000);
	assert_int_equal(push_wait_ms(1000000, UINT32_MAX, 60000, 0), 60000);
	assert_int_equal(push_wait_ms(1, 0, 60000, 30), 30000);
	assert_int_equal(push_wait_ms(1, 0, 60000, 1000000), 3600000);
	assert_int_equal(push_wait_ms(9, UINT32_MAX, 50, 0), 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_mean_as_in_http),
		cmocka_unit_test(waits_double_up_to_the_most_and_obey_the_server_for_an_hour),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
