/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/process/proc/process_user.h"

static void the_real_user_is_read_from_the_status(void **state)
{
	assert_int_equal(process_user_in("Name:\tx\nUid:\t1000\t0\t0\t0\nGid:\t5\t5\t5\t5\n"),
			 1000);
	assert_int_equal(process_user_in("Name:\tUid:\nUid:\t7\t1\t1\t1\n"), 7);
	assert_int_equal(process_user_in("Name:\tx\n"), PROCESS_USER_NONE);
	assert_int_equal(process_user_in(""), PROCESS_USER_NONE);
}

static void a_process_that_may_not_be_dumped_is_its_users(void **state)
{
	assert_int_equal(process_user((uint32_t)getpid()), getuid());
	assert_int_equal(prctl(PR_SET_DUMPABLE, 0), 0);
	assert_int_equal(process_user((uint32_t)getpid()), getuid());
	assert_int_equal(process_user(UINT32_MAX - 1), PROCESS_USER_NONE);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_real_user_is_read_from_the_status),
		cmocka_unit_test(a_process_that_may_not_be_dumped_is_its_users),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
