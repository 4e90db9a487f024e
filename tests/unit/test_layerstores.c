/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/layerstores.h"

struct seen {
	unsigned count, stop_at;
	const char *home;
};

static int note(void *ctx, const char *path)
{
	struct seen *s = ctx;

	/* The machine may have layers of its own. */
	if (strncmp(path, s->home, strlen(s->home)) != 0)
		return 0;
	return ++s->count == s->stop_at ? 7 : 0;
}

static void run(const char *format, const char *home)
{
	char command[400];

	snprintf(command, sizeof(command), format, home);
	assert_int_equal(system(command), 0);
}

static void layerstores_finds_all_layers_with_the_file(void **state)
{
	char home[] = "/tmp/layers-XXXXXX";
	struct seen s = { .home = home };

	assert_non_null(mkdtemp(home));
	setenv("HOME", home, 1);
	assert_int_equal(layerstores_each("/opt/lib x.so", note, &s), 0);
	assert_int_equal(s.count, 0);
	run("s=%s/.local/share/containers/storage/overlay && mkdir -p $s/l $s/a/diff/opt "
	    "$s/b/diff/opt $s/c/diff $s/d && touch \"$s/a/diff/opt/lib x.so\" "
	    "\"$s/b/diff/opt/lib x.so\" $s/e",
	    home);
	assert_int_equal(layerstores_each("/opt/lib x.so", note, &s), 0);
	assert_int_equal(s.count, 2);
	assert_int_equal(layerstores_each("opt/lib x.so", note, &s), 0);
	assert_int_equal(layerstores_each("/opt/../opt/lib x.so", note, &s), 0);
	assert_int_equal(s.count, 2);
	s = (struct seen){ .home = home, .stop_at = 1 };
	assert_int_equal(layerstores_each("/opt/lib x.so", note, &s), 7);
	assert_int_equal(s.count, 1);
	run("rm -rf %s", home);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(layerstores_finds_all_layers_with_the_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
