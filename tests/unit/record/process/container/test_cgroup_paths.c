/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include "record/process/container/cgroup_paths.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void cgroups_finds_the_mount(void **state)
{
	static const struct {
		const char *text, *want; /* NULL: none */
	} cases[] = {
		{ "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n",
		  "/sys/fs/cgroup" },
		{ "1 0 8:1 / / rw - ext4 /dev/sda rw\n"
		  "30 23 0:26 / /sys/fs/cgroup/unified rw shared:4 - cgroup2 none rw\n"
		  "31 23 0:27 / /other rw - cgroup2 none rw\n",
		  "/sys/fs/cgroup/unified" },
		{ "30 23 0:26 / /a\\040b\\134c rw - cgroup2 none rw", "/a b\\c" },
		{ "", NULL },
		{ "30 23 0:26 / /sys/fs/cgroup rw - cgroup cgroup rw\n", NULL },
		{ "30 23 - cgroup2 none rw\n", NULL },
		{ "30 - cgroup2 \n", NULL },
		{ " - cgroup2 \n", NULL },
		{ "30 23 0:26 / /sys/fs/cgroup rw - ext4 cgroup2 rw\n", NULL },
	};
	char out[64];
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (cgroup_paths_mount(cases[i].text, out, sizeof(out)) != (cases[i].want != NULL))
			fail_msg("'%s'", cases[i].text);
		if (cases[i].want)
			assert_string_equal(out, cases[i].want);
	}
	assert_false(cgroup_paths_mount(cases[0].text, out, 5));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cgroups_finds_the_mount),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
