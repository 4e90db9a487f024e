/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* cgroupage: folders take the place of control groups */
#include "record/process/container/cgroup_age.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define SECOND_NS 1000000000ULL

static struct cgroup_age age;
static char folder[] = "/tmp/cgroupage-XXXXXX";

static uint64_t make(const char *name)
{
	char path[128];
	struct stat st;

	snprintf(path, sizeof(path), "%s%s", folder, name);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(stat(path, &st), 0);
	return st.st_ino;
}

static void drop(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s%s", folder, name);
	assert_int_equal(rmdir(path), 0);
}

static bool look(uint64_t from_s, uint64_t now_s)
{
	return cgroup_age_begin(&age, CGROUP_AGE_MANY, from_s * SECOND_NS, now_s * SECOND_NS);
}

static void a_process_gone_before_the_first_sample_may_go(void **state)
{
	uint64_t one, two;

	assert_non_null(mkdtemp(folder));
	one = make("/one");
	two = make("/two");
	age.mount = strdup(folder);
	assert_true(look(90, 100));
	assert_false(cgroup_age_may_go(&age, one, "/one"));
	/* The same name, and another group. */
	assert_false(cgroup_age_may_go(&age, one + two, "/two"));
	drop("/one");
	assert_true(look(110, 120));
	assert_false(cgroup_age_may_go(&age, one, "/one")); /* when it went is not known */
	assert_true(cgroup_age_may_go(&age, one + two, "/two"));
	assert_true(look(121, 131));
	assert_false(
		cgroup_age_may_go(&age, one, "/one")); /* a process may still have been in it */
	assert_true(look(122, 141));
	assert_true(cgroup_age_may_go(&age, one, "/one"));
	assert_false(cgroup_age_may_go(&age, two, "/two"));
	assert_int_equal(age.gone.key_count, 0);
	drop("/two");
	assert_int_equal(rmdir(folder), 0);
	cgroup_age_done(&age);
}

static void processes_are_not_looked_for_too_often_or_where_paths_mean_nothing(void **state)
{
	assert_false(cgroup_age_begin(&age, CGROUP_AGE_MANY - 1, 0, 100 * SECOND_NS));
	age.mount = strdup("/");
	assert_true(look(90, 100));
	assert_false(look(90, 109));
	assert_true(look(90, 110));
	age.mount[0] = '\0';
	assert_false(look(110, 120));
	cgroup_age_done(&age);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_gone_before_the_first_sample_may_go),
		cmocka_unit_test(
			processes_are_not_looked_for_too_often_or_where_paths_mean_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
