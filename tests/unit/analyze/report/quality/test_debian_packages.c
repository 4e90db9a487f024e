/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "analyze/report/quality/debian_packages.h"

static void put_list(const char *folder, const char *name, const char *text)
{
	char path[256];
	FILE *to;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	to = fopen(path, "w");
	assert_non_null(to);
	fputs(text, to);
	fclose(to);
}

static void remove_list(const char *folder, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	assert_int_equal(0, unlink(path));
}

static void a_file_is_found_by_its_line_under_either_name(void **state)
{
	static const char *const lists[] = { "dash.list",        "libzstd1:amd64.list",
					     "libc6:amd64.list", "libpython3.11-minimal:amd64.list",
					     "empty.list",       "other.md5sums" };
	static const char *const paths[] = { "/usr/bin/dash",         "/usr/lib/x/libzstd.so.1.5.4",
					     "/lib/x/libc.so.6",      "/usr/lib/python3.11",
					     "/usr/lib/x/libzstd.so", "/no/such" };
	static const char *const want[] = { "dash-dbgsym", "libzstd1-dbgsym",
					    "libc6-dbg",   "libpython3.11-minimal-dbgsym",
					    NULL,          NULL };
	char folder[] = "/tmp/ebprec-packages.XXXXXX", *names[6];

	assert_non_null(mkdtemp(folder));
	put_list(folder, lists[0], "/.\n/bin\n/bin/dash\n");
	put_list(folder, lists[1],
		 "/usr/lib/x/libzstd.so.1.5.4.old\n/usr/lib/x/libzstd.so.1.5.4\n");
	put_list(folder, lists[2], "/usr/lib/x/libc.so.6\n/x\n");
	put_list(folder, lists[3], "/a/usr/lib/python3.11\n/usr/lib/python3.11\n");
	put_list(folder, lists[4], "");
	put_list(folder, lists[5], "/no/such\n");
	debian_packages_find(folder, paths, 6, names);
	for (size_t i = 0; i < 6; i++) {
		if (want[i])
			assert_string_equal(want[i], names[i]);
		else
			assert_null(names[i]);
		free(names[i]);
		remove_list(folder, lists[i]);
	}
	assert_int_equal(0, rmdir(folder));
}

static void without_the_folder_no_package_is_known(void **state)
{
	static const char *const path = "/usr/bin/dash";
	char *name;

	debian_packages_find("/no/such", &path, 1, &name);
	assert_null(name);
	debian_packages_find("/no/such", NULL, 0, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_found_by_its_line_under_either_name),
		cmocka_unit_test(without_the_folder_no_package_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
