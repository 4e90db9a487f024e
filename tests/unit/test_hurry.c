/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/hurry.h"

static int policy(void)
{
	return sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
}

/* The kernel lets us, by a right or a limit that is there already. */
static bool could(void)
{
	const struct sched_param lowest = { .sched_priority = 1 }, none = { .sched_priority = 0 };

	return !sched_setscheduler(0, SCHED_RR, &lowest) &&
	       !sched_setscheduler(0, SCHED_OTHER, &none);
}

/* 0, or which step went wrong. */
static int steps(void)
{
	struct hurry h = { 0 };
	int nice, status;
	pid_t pid;
	bool may;

	may = could();
	hurry_init(&h);
	if (may && !h.allowed)
		return 5;
	nice = getpriority(PRIO_PROCESS, 0);
	may = h.allowed;
	hurry_set(&h, false);
	if (policy() != SCHED_OTHER || h.count)
		return 1;
	hurry_set(&h, true);
	hurry_set(&h, true);
	may &= h.allowed; /* a cgroup may have no time for real-time threads */
	if (policy() != (may ? SCHED_RR : SCHED_OTHER) || h.count != may || h.now != may)
		return 2;
	pid = fork();
	if (!pid)
		_exit(policy() != SCHED_OTHER); /* not what it starts */
	if (waitpid(pid, &status, 0) != pid || status)
		return 3;
	hurry_set(&h, false);
	if (policy() != SCHED_OTHER || h.now || getpriority(PRIO_PROCESS, 0) != nice)
		return 4;
	return 0;
}

static int in_a_child(bool without_rights)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		if (without_rights && !geteuid() && (setgid(65534) || setuid(65534)))
			_exit(77);
		_exit(steps());
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

static void hurries_where_it_may_and_is_as_before_afterwards(void **state)
{
	(void)state;
	assert_int_equal(in_a_child(false), 0);
}

static void who_may_not_hurry_goes_on(void **state)
{
	(void)state;
	assert_int_equal(in_a_child(true), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hurries_where_it_may_and_is_as_before_afterwards),
		cmocka_unit_test(who_may_not_hurry_goes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
