/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "format/os/seccomp_filter.h"
#include "record/privsep/caps.h"

static void missing_are_those_we_have_not(void **state)
{
	assert_int_equal(caps_missing(0, CAPS_BPF), CAPS_BPF);
	assert_int_equal(caps_missing(RIGHT(CAP_BPF), CAPS_BPF), RIGHT(CAP_PERFMON));
	assert_int_equal(caps_missing(CAPS_BPF, CAPS_BPF), 0);
	assert_int_equal(caps_missing(RIGHT(CAP_CHOWN), RIGHT(CAP_PERFMON)), RIGHT(CAP_PERFMON));
}

static void sys_admin_stands_for_what_was_cut_out_of_it(void **state)
{
	uint64_t admin = RIGHT(CAP_SYS_ADMIN);

	assert_int_equal(caps_missing(admin, CAPS_BPF), 0);
	assert_int_equal(caps_missing(admin, RIGHT(CAP_PERFMON)), 0);
	assert_int_equal(caps_missing(admin, RIGHT(CAP_SYS_PTRACE)), RIGHT(CAP_SYS_PTRACE));
	assert_int_equal(caps_missing(admin, CAPS_READING),
			 RIGHT(CAP_SYS_PTRACE) | RIGHT(CAP_DAC_READ_SEARCH));
}

static void names_are_the_kernels(void **state)
{
	char room[32];

	assert_string_equal(caps_name(CAP_BPF, room, sizeof(room)), "CAP_BPF");
	assert_string_equal(caps_name(CAP_SYS_PTRACE, room, sizeof(room)), "CAP_SYS_PTRACE");
	assert_string_equal(caps_name(63, room, sizeof(room)), "capability 63");
	assert_string_equal(caps_name(5000, room, sizeof(room)), "capability 5000");
}

static void lockdown_mode_is_the_one_in_brackets(void **state)
{
	assert_true(caps_lockdown_is("none integrity [confidentiality]", "confidentiality"));
	assert_true(caps_lockdown_is("[none] integrity confidentiality", "none"));
	assert_false(caps_lockdown_is("[none] integrity confidentiality", "confidentiality"));
	assert_false(caps_lockdown_is("none [integrity] confidentiality", "confidentiality"));
}

static void lockdown_text_may_be_broken(void **state)
{
	static const char *const broken[] = { "",
					      "[",
					      "[]",
					      "none",
					      "confidentiality",
					      "[confidentiality",
					      "[confidential]",
					      "[confidentialityX]" };

	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++)
		assert_false(caps_lockdown_is(broken[i], "confidentiality"));
}

static void needs_follow_from_the_use(void **state)
{
	uint64_t least = CAPS_READING | RIGHT(CAP_SYSLOG);
	const struct {
		struct caps_use use;
		uint64_t want;
	} cases[] = {
		{ { .bpf = false }, least },
		{ { .bpf = true }, least | RIGHT(CAP_BPF) },
		{ { .command = true }, least | RIGHT(CAP_KILL) },
		{ { .writing = true }, least | CAPS_WRITING },
		{ { .realtime = true }, least | RIGHT(CAP_SYS_NICE) },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(caps_needed(&cases[i].use), cases[i].want);
}

static void lists_are_cut_where_there_is_no_room(void **state)
{
	char room[64], tight[12];

	caps_list(RIGHT(CAP_BPF) | RIGHT(CAP_KILL), room, sizeof(room));
	assert_string_equal(room, "CAP_KILL, CAP_BPF");
	caps_list(0, room, sizeof(room));
	assert_string_equal(room, "none");
	caps_list(~0ULL, tight, sizeof(tight));
	assert_int_equal(strlen(tight), sizeof(tight) - 1);
}

/* The rights of a child after dropping, as "CAPABILITIES NO_NEW_PRIVS". */
static void drop_leaves_what_was_asked_for_and_no_more(void **state)
{
	uint64_t had = caps_effective(), keep = RIGHT(CAP_SYS_PTRACE), left;
	int status;
	pid_t child = fork();

	assert_true(child >= 0);
	if (!child) {
		if (caps_drop(keep))
			_exit(1);
		left = caps_effective();
		if (left != (had & keep))
			_exit(2);
		if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
			_exit(3);
		/* Nothing comes back. */
		_exit(caps_drop(~0ULL) || caps_effective() != left ? 4 : 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_equal(caps_effective(), had);
}

static int is_ambient(int cap)
{
	return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, cap, 0, 0);
}

/* As a unit of systemd has it: ambient. */
static bool make_ambient(int cap)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data))
		return false;
	data[0].inheritable |= data[0].permitted;
	return !syscall(SYS_capset, &header, data) &&
	       !prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0);
}

static int status_of(int (*run)(void))
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (!child)
		_exit(run());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int drop_ambient(void)
{
	if (!make_ambient(CAP_CHOWN) || !make_ambient(CAP_SYS_PTRACE))
		return 100;
	if (caps_drop_for_exec(RIGHT(CAP_CHOWN) | RIGHT(CAP_FOWNER)))
		return 1;
	if (caps_effective() != (RIGHT(CAP_CHOWN) | RIGHT(CAP_FOWNER)))
		return 2;
	if (is_ambient(CAP_CHOWN) != 1 || is_ambient(CAP_SYS_PTRACE) || is_ambient(CAP_FOWNER))
		return 3;
	if (prctl(PR_CAPBSET_READ, CAP_SYS_PTRACE) || prctl(PR_CAPBSET_READ, CAP_FOWNER) != 1)
		return 4;
	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? 0 : 5;
}

static void an_executed_program_gets_what_was_retained_and_no_more(void **state)
{
	int status = status_of(drop_ambient);

	if (status == 100)
		skip(); /* needs root */
	assert_int_equal(status, 0);
}

static int drop_where_the_kernel_refuses(void)
{
	static const int calls[] = { SYS_capset };
	struct seccomp_filter f;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return 100;
	seccomp_filter_begin(&f);
	seccomp_filter_calls(&f, calls, 1, SECCOMP_FILTER_FAIL(EPERM));
	if (seccomp_filter_install(&f, SECCOMP_RET_ALLOW, false))
		return 100;
	return caps_drop_for_exec(0) == -EPERM ? 0 : 1;
}

static void rights_that_cannot_be_given_up_are_an_error(void **state)
{
	int status = status_of(drop_where_the_kernel_refuses);

	if (status == 100)
		skip(); /* without seccomp */
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(missing_are_those_we_have_not),
		cmocka_unit_test(sys_admin_stands_for_what_was_cut_out_of_it),
		cmocka_unit_test(names_are_the_kernels),
		cmocka_unit_test(lockdown_mode_is_the_one_in_brackets),
		cmocka_unit_test(lockdown_text_may_be_broken),
		cmocka_unit_test(needs_follow_from_the_use),
		cmocka_unit_test(lists_are_cut_where_there_is_no_room),
		cmocka_unit_test(drop_leaves_what_was_asked_for_and_no_more),
		cmocka_unit_test(an_executed_program_gets_what_was_retained_and_no_more),
		cmocka_unit_test(rights_that_cannot_be_given_up_are_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
