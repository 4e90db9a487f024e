/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/process/container/cgroup_selection.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define ID    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define SCOPE "/system.slice/docker-" ID ".scope"

#define LIST(value)                             \
	{                                       \
		.values = { value }, .count = 1 \
	}
#define PATH_OF(pattern)                 \
	{                                \
		.cgroups = LIST(pattern) \
	}
#define UNIT(pattern)                  \
	{                              \
		.units = LIST(pattern) \
	}
#define CONTAINER(pattern)                  \
	{                                   \
		.containers = LIST(pattern) \
	}

static void selection_takes_a_cgroup_and_those_below(void **state)
{
	static const struct {
		struct record_opts opts;
		const char *path;
		bool taken;
	} cases[] = {
		{ PATH_OF("/a/b"), "/a/b", true },
		{ PATH_OF("a/b"), "/a/b/c/d", true },
		{ PATH_OF("/a/b"), "/a", false },
		{ PATH_OF("/a/b"), "/a/bc", false },
		{ PATH_OF("/a/*"), "/a/bc/d", true },
		{ PATH_OF("/*"), "/a/b", true },
		{ PATH_OF("/"), "", true },
		{ PATH_OF("/"), "/a/b", true },
		{ PATH_OF("/a"), "", false },
		{ UNIT("nginx"), "/system.slice/nginx.service", true },
		{ UNIT("nginx.service"), "/system.slice/nginx.service/worker", true },
		{ UNIT("php*"), "/system.slice/php-fpm@1.service", true },
		{ UNIT("user-1000.slice"), "/user.slice/user-1000.slice/session-1.scope", true },
		{ UNIT("nginx"), "/system.slice/nginx2.service", false },
		{ UNIT("nginx"), "/nginx.service.d/x", false },
		{ CONTAINER(ID), SCOPE, true },
		{ CONTAINER("0123456789ab"), SCOPE "/payload", true },
		{ CONTAINER("0123456789a"), SCOPE, false }, /* may be a name */
		{ CONTAINER("123456789abc"), SCOPE, false },
		{ CONTAINER(ID "0"), SCOPE, false },
		{ CONTAINER("web"), "/web", false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cgroup_selection s = { .opts = &cases[i].opts };

		if (cgroup_selection_takes(&s, cases[i].path) != cases[i].taken)
			fail_msg("case %zu: '%s' is %staken", i, cases[i].path,
				 cases[i].taken ? "not " : "");
	}
}

static void selection_takes_a_path_of_any_length(void **state)
{
	const struct record_opts opts = PATH_OF("*");
	struct cgroup_selection s = { .opts = &opts };
	char path[8192];

	memset(path, 'a', sizeof(path) - 1);
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	assert_false(cgroup_selection_takes(&s, path));
	path[4000] = '\0';
	assert_true(cgroup_selection_takes(&s, path));
}

static void selection_knows_a_container_by_name_once_it_was_read(void **state)
{
	const struct record_opts opts = CONTAINER("web-*");
	struct cgroup_selection s = { .opts = &opts };

	assert_false(cgroup_selection_takes(&s, SCOPE));
	assert_int_equal(cgroup_selection_name(&s, OTHER, "db-1 and what follows", 4), 0);
	assert_int_equal(cgroup_selection_name(&s, ID, "web-1 and what follows", 5), 1);
	assert_int_equal(cgroup_selection_name(&s, ID, "web-1", 5), 0);
	assert_true(cgroup_selection_takes(&s, SCOPE));
	assert_true(cgroup_selection_takes(&s, SCOPE "/payload"));
	assert_false(cgroup_selection_takes(&s, "/docker-" OTHER ".scope"));
	cgroup_selection_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(selection_takes_a_cgroup_and_those_below),
		cmocka_unit_test(selection_takes_a_path_of_any_length),
		cmocka_unit_test(selection_knows_a_container_by_name_once_it_was_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
