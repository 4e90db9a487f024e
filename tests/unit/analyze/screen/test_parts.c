/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* parts - which file of a recording is read next */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "analyze/screen/parts.h"

static void put_file(const char *folder, const char *name)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
}

static void remove_file(const char *folder, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	assert_int_equal(unlink(path), 0);
}

static void where_files_were_deleted_reading_goes_on_with_the_first_that_is_there(void **state)
{
	static const char *const names[] = { "x.data.12", "x.data.7", "x.data.2", "x.data.80k",
					     "y.data.5" };
	char folder[] = "/tmp/test_parts.XXXXXX", path[64];
	struct parts p = { .path = path, .number = 3, .next_second = 50 };
	struct history h;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/x.data", folder);
	assert_int_equal(history_init(&h, 10, 1 << 20), 0);
	assert_int_equal(parts_poll(&p, &h, 1), -ENOENT);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		put_file(folder, names[i]);
	assert_int_equal(parts_poll(&p, &h, 1), 0);
	assert_int_equal(p.number, 7);
	assert_int_equal(p.next_second, 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		remove_file(folder, names[i]);
	assert_int_equal(rmdir(folder), 0);
	parts_done(&p);
	history_done(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			where_files_were_deleted_reading_goes_on_with_the_first_that_is_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
