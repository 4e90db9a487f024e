/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
