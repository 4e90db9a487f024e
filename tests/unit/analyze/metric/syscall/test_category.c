/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "analyze/metric/syscall/category.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/metric/syscall/names.h"
#include "format/base/call_abi.h"

static void syscallcat_is_by_name(void **state)
{
	static const struct {
		const char *name, *category;
	} cases[] = {
		{ "openat", "file_io" },
		{ "mmap", "memory" },
		{ "clone3", "process" },
		{ "recvmmsg", "network" },
		{ "clock_nanosleep", "time" },
		{ "futex", "ipc" },
		{ "setresuid", "security" },
		{ "rt_sigprocmask", "signal" },
		{ "mount", "system" },
		{ "restart_syscall", "other" },
		/* Categories that denet has elsewhere. */
		{ "epoll_create", "file_io" },
		{ "splice", "file_io" },
		{ "getrandom", "system" },
		{ "select", "file_io" },
		{ "epoll_wait", "file_io" },
		{ "statfs", "file_io" },
		{ "unshare", "process" },
		{ "timerfd_settime", "time" },
		{ "sched_setaffinity", "process" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(syscall_category_of(cases[i].name), cases[i].category);
}

static void syscallcat_of_32_bits_is_that_of_64(void **state)
{
	assert_string_equal(syscall_category_of("clock_gettime64"), "time");
	assert_string_equal(syscall_category_of("recvmmsg_time64"), "network");
	assert_string_equal(syscall_category_of("getuid32"), "security");
	assert_string_equal(syscall_category_of("fadvise64_64"), "file_io");
	assert_string_equal(syscall_category_of("socketcall"), "network");
	assert_string_equal(syscall_category_of("pread64"), "file_io");
}

static void syscallcat_of_no_call_is_other(void **state)
{
	static const char *const names[] = {
		"",
		"32",
		"64",
		" ",
		"rea",
		"readd",
		"pen at",
		"open openat",
		"_time64",
		"syscall_9999",
		"a name that is far longer than that of any system call"
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_string_equal(syscall_category_of(names[i]), "other");
}

/* Every call that has a name here has been thought of. */
static void syscallcat_knows_every_name(void **state)
{
	static const char *const others[] = {
		"restart_syscall", "afs_syscall", "tuxcall", "vserver",
		"break",           "gtty",        "stty",    "mpx"
	};
	unsigned unknown = 0;
	const char *name;
	bool is_other;

	for (uint32_t nr = 0; nr < CALL_ABIS * 512; nr++) {
		name = metric_names_call(nr % 512, nr / 512);
		if (!name || strcmp(syscall_category_of(name), "other") != 0)
			continue;
		is_other = false;
		for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
			is_other |= !strcmp(name, others[i]);
		if (!is_other)
			fprintf(stderr, "no category: %s\n", name);
		unknown += !is_other;
	}
	assert_int_equal(unknown, 0);
}

static void syscallcat_lists_ten(void **state)
{
	size_t count = 0;

	while (syscall_category_at(count))
		count++;
	assert_int_equal(count, 10);
	assert_string_equal(syscall_category_at(0), "file_io");
	assert_string_equal(syscall_category_at(9), "other");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(syscallcat_is_by_name),
		cmocka_unit_test(syscallcat_of_32_bits_is_that_of_64),
		cmocka_unit_test(syscallcat_of_no_call_is_other),
		cmocka_unit_test(syscallcat_knows_every_name),
		cmocka_unit_test(syscallcat_lists_ten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
