/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* fixture - where the files are that were built beside the tests */
#ifndef EBPREC_TESTS_FIXTURE_H
#define EBPREC_TESTS_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { FIXTURE_PATH = 8192 };

/* The path of a fixture, or with "" of the folder; name may hold folders.  Needs cmocka's asserts. */
static inline void fixture_path(const char *name, char out[FIXTURE_PATH])
{
	char exe[4096], *tests;
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	assert_true(n > 0);
	exe[n] = '\0';
	tests = strstr(exe, "/tests/unit/");
	assert_non_null(tests);
	*tests = '\0';
	assert_in_range(snprintf(out, FIXTURE_PATH, "%s/tests/lib/fixtures/%s", exe, name), 1,
			FIXTURE_PATH - 1);
}

#endif
