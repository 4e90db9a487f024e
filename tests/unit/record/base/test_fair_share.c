/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/base/fair_share.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define ALL  1024u
#define ROOT 0u

/* Takes one at a time until there is no more; how many that were. */
static uint64_t take_all(struct fair_share *s, uint32_t pid, uint32_t user)
{
	uint64_t count = 0;
	int err;

	while (!(err = fair_share_take(s, ALL, pid, user, 1)))
		count++;
	assert_int_equal(err, -ENOSPC);
	return count;
}

static void each_process_leaves_as_much_as_it_takes(void **state)
{
	struct fair_share s = { 0 };

	(void)state;
	assert_int_equal(take_all(&s, 1, ROOT), ALL / 2);
	assert_int_equal(take_all(&s, 2, ROOT), ALL / 4);
	assert_int_equal(take_all(&s, 3, ROOT), ALL / 8);
	assert_int_equal(take_all(&s, 1, ROOT), 0);
	fair_share_done(&s);
}

static void all_processes_of_a_user_leave_a_quarter(void **state)
{
	struct fair_share s = { 0 };
	uint64_t count = 0;

	(void)state;
	for (uint32_t pid = 1; pid <= 100; pid++)
		count += take_all(&s, pid, 1000);
	assert_int_equal(count, ALL * 3 / 4);
	/* The user that comes next has a share, and one that is not known, as root, that of its process. */
	assert_int_equal(fair_share_left(&s, ALL, 101, 1001), ALL / 8);
	assert_int_equal(fair_share_left(&s, ALL, 101, UINT32_MAX), ALL / 8);
	assert_int_equal(fair_share_left(&s, ALL, 101, ROOT), ALL / 8);
	assert_int_equal(fair_share_left(&s, ALL, 101, 1000), 0);
	fair_share_done(&s);
}

static void too_much_at_once_takes_nothing(void **state)
{
	struct fair_share s = { 0 };

	(void)state;
	assert_int_equal(fair_share_take(&s, ALL, 1, 1000, ALL / 2 + 1), -ENOSPC);
	assert_int_equal(fair_share_take(&s, ALL, 1, 1000, UINT64_MAX), -ENOSPC);
	assert_int_equal(fair_share_take(&s, 0, 1, 1000, 1), -ENOSPC);
	assert_int_equal(fair_share_left(&s, ALL, 1, 1000), ALL / 2);
	assert_int_equal(fair_share_take(&s, ALL, 1, 1000, ALL / 2), 0);
	assert_int_equal(s.taken, ALL / 2);
	fair_share_done(&s);
}

static void what_is_given_back_can_be_taken_again(void **state)
{
	struct fair_share s = { 0 };

	(void)state;
	assert_int_equal(take_all(&s, 1, 1000), ALL / 2);
	fair_share_give(&s, 1, 1000, ALL / 2);
	assert_int_equal(s.taken, 0);
	assert_int_equal(s.of_process.key_count, 0);
	assert_int_equal(s.of_user.key_count, 0);
	assert_int_equal(take_all(&s, 2, 1000), ALL / 2);
	fair_share_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_process_leaves_as_much_as_it_takes),
		cmocka_unit_test(all_processes_of_a_user_leave_a_quarter),
		cmocka_unit_test(too_much_at_once_takes_nothing),
		cmocka_unit_test(what_is_given_back_can_be_taken_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
