/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/names/container_layers.h"

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
	assert_int_equal(container_layers_each("/opt/lib x.so", note, &s), 0);
	assert_int_equal(s.count, 0);
	run("s=%s/.local/share/containers/storage/overlay && mkdir -p $s/l $s/a/diff/opt "
	    "$s/b/diff/opt $s/c/diff $s/d && touch \"$s/a/diff/opt/lib x.so\" "
	    "\"$s/b/diff/opt/lib x.so\" $s/e",
	    home);
	assert_int_equal(container_layers_each("/opt/lib x.so", note, &s), 0);
	assert_int_equal(s.count, 2);
	assert_int_equal(container_layers_each("opt/lib x.so", note, &s), 0);
	assert_int_equal(container_layers_each("/opt/../opt/lib x.so", note, &s), 0);
	assert_int_equal(s.count, 2);
	s = (struct seen){ .home = home, .stop_at = 1 };
	assert_int_equal(container_layers_each("/opt/lib x.so", note, &s), 7);
	assert_int_equal(s.count, 1);
	run("rm -rf %s", home);
}

static void layerstores_looks_in_the_folders_of_storage_conf(void **state)
{
	static const char *const wrong[] = {
		"",
		"graphroot = \\\"relative\\\"",
		"graphroot = \\\"%s/no-end",
		"graphroots = \\\"%s/store\\\"",
		"# graphroot = \\\"%s/store\\\"",
		"graphroot \\\"%s/store\\\"",
	};
	char home[] = "/tmp/layers-XXXXXX", command[600], line[300];
	struct seen s = { .home = home };

	assert_non_null(mkdtemp(home));
	setenv("HOME", home, 1);
	run("s=%s && mkdir -p $s/.config/containers $s/store/overlay/a/diff/opt && "
	    "touch $s/store/overlay/a/diff/opt/x",
	    home);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		snprintf(line, sizeof(line), wrong[i], home);
		snprintf(command, sizeof(command),
			 "echo \"%s\" >%s/.config/containers/storage.conf", line, home);
		assert_int_equal(system(command), 0);
		assert_int_equal(container_layers_each("/opt/x", note, &s), 0);
		assert_int_equal(s.count, 0);
	}
	run("echo \"  graphroot=\\\"%s/store\\\" # here\" >$HOME/.config/containers/storage.conf",
	    home);
	assert_int_equal(container_layers_each("/opt/x", note, &s), 0);
	assert_int_equal(s.count, 1);
	run("rm -rf %s", home);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(layerstores_finds_all_layers_with_the_file),
		cmocka_unit_test(layerstores_looks_in_the_folders_of_storage_conf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
